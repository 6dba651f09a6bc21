// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import java.util.Objects;

/** A mistake, damage, or what a callback threw, which is then the cause. */
public final class RowbloomException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** What kind of error it is. */
  private final Code code;

  /**
   * For callbacks, whose code and message are passed on.
   *
   * @param code the kind of error
   * @param message a sentence
   * @param cause may be null
   */
  public RowbloomException(Code code, String message, Throwable cause) {
    super(message, cause);
    this.code = Objects.requireNonNull(code);
  }

  /**
   * Says what kind of error it is.
   *
   * @return never null
   */
  public Code code() {
    return code;
  }

  /** Only the message, for the library's errors are sentences. */
  @Override
  public String toString() {
    return getMessage();
  }
}
