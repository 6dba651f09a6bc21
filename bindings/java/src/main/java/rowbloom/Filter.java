// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * Answers from the bytes of a {@link FilterBuilder}, in any number of threads. It has a copy of
 * them, or a view of a native segment.
 */
public final class Filter extends NativeObject {
  private static final MethodHandle OPEN =
      Native.function("filter_open", JAVA_INT, ADDRESS, SIZE, ADDRESS, ADDRESS);
  private static final MethodHandle MAY_CONTAIN =
      Native.quickFunction("filter_may_contain", JAVA_BOOLEAN, Native.withKey(HANDLE));
  private static final MethodHandle VERIFY =
      Native.function("filter_verify", JAVA_INT, ADDRESS, SIZE, ADDRESS);
  private static final MethodHandle FREE = Native.function("filter_free", null, HANDLE);

  private final MemorySegment bytes;

  /**
   * Compares all checksums first.
   *
   * @param bytes a filter
   */
  public Filter(byte[] bytes) {
    this(copy(bytes));
  }

  /**
   * A view of bytes that must not change, nor be freed before the filter is closed: those of a
   * mapped file, for example. It compares all checksums first.
   *
   * @param bytes a filter, in a native segment
   */
  public Filter(MemorySegment bytes) {
    this(verified(bytes), open(bytes));
  }

  private Filter(MemorySegment bytes, long handle) {
    super(FREE, handle);
    this.bytes = bytes;
  }

  /**
   * Checks the structure of the bytes alone, for a caller that has compared checksums of them
   * already. Otherwise damage may answer "no" for a key that was added.
   *
   * @param bytes a filter
   * @return the filter, with a copy of the bytes
   */
  public static Filter openUnverified(byte[] bytes) {
    return openUnverified(copy(bytes));
  }

  /**
   * As {@link #openUnverified(byte[])}, for a view of the bytes.
   *
   * @param bytes as for {@link #Filter(MemorySegment)}
   * @return the filter
   */
  public static Filter openUnverified(MemorySegment bytes) {
    return new Filter(bytes, open(bytes));
  }

  private static MemorySegment copy(byte[] bytes) {
    return Arena.ofAuto().allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
  }

  private static MemorySegment verified(MemorySegment bytes) {
    Native.call(VERIFY, bytes, bytes.byteSize());
    return bytes;
  }

  private static long open(MemorySegment bytes) {
    return Native.make(OPEN, bytes, bytes.byteSize());
  }

  /**
   * Asks for a key.
   *
   * @param key a row or a cell
   * @return false if the key was certainly not added
   */
  public boolean mayContain(Key key) {
    try {
      return Key.ask(MAY_CONTAIN, this, key);
    } finally {
      Reference.reachabilityFence(this); // The arena of a copy goes with it.
    }
  }

  /** Compares all checksums. */
  public void verify() {
    verified(bytes);
  }

  /** Waits for its lookups, which call nothing back: their caller may free the bytes then. */
  @Override
  void freeLater(long taken) {
    while (Native.Scratch.isInUse(taken)) Thread.yield();
    free(taken);
  }
}
