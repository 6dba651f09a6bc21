// SPDX-License-Identifier: Apache-2.0

package rowbloom;

/** Says what kind of error a {@link RowbloomException} is. The numbers are those of gRPC. */
public enum Code {
  /** An error of which nothing else is known. */
  UNKNOWN(2),
  /** A bad argument or option. */
  INVALID_ARGUMENT(3),
  /** The SST has no filter. */
  NOT_FOUND(5),
  /** There is no memory left, or a limit was reached. */
  RESOURCE_EXHAUSTED(8),
  /** A call out of order, or another secret. */
  FAILED_PRECONDITION(9),
  /** A read outside of a source. */
  OUT_OF_RANGE(11),
  /** A newer format. */
  UNIMPLEMENTED(12),
  /** An error of the library, or of a callback. */
  INTERNAL(13),
  /** What may work later. */
  UNAVAILABLE(14),
  /** Damaged bytes. */
  DATA_LOSS(15);

  private final int number;

  Code(int number) {
    this.number = number;
  }

  /**
   * The number that C has.
   *
   * @return a number above 0
   */
  public int number() {
    return number;
  }

  static Code of(int number) {
    for (Code code : values()) {
      if (code.number == number) return code;
    }
    return UNKNOWN;
  }

  /** The code that C is told of what a callback threw. */
  static Code of(Throwable thrown) {
    return thrown instanceof RowbloomException e ? e.code() : UNKNOWN;
  }
}
