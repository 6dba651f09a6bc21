// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A filter in memory that grows. Any number of threads may add to one of kind=concurrent and look
 * up at once; of other kinds many may look up, or one may add.
 */
public final class MemFilter extends NativeObject {
  private static final MethodHandle NEW =
      Native.function("memfilter_new", JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle LOAD =
      Native.function("memfilter_load", JAVA_INT, ADDRESS, SIZE, ADDRESS, ADDRESS);
  private static final MethodHandle ADD =
      Native.function("memfilter_add", JAVA_INT, Native.withKey(HANDLE, ADDRESS, ADDRESS));
  private static final MethodHandle MAY_CONTAIN =
      Native.quickFunction("memfilter_may_contain", JAVA_BOOLEAN, Native.withKey(HANDLE));
  private static final MethodHandle SAVE =
      Native.function("memfilter_save", JAVA_INT, HANDLE, ADDRESS, ADDRESS);
  private static final MethodHandle FREE = Native.function("memfilter_free", null, HANDLE);

  /**
   * Makes an empty filter.
   *
   * @param options those of rowbloom_memfilter_new in rowbloom/c.h
   */
  public MemFilter(String options) {
    this(Native.make(NEW, options));
  }

  private MemFilter(long handle) {
    super(FREE, handle);
  }

  /**
   * Loads a saved filter of any kind.
   *
   * @param saved what {@link #save} returned
   * @return the filter
   */
  public static MemFilter load(byte[] saved) {
    return new MemFilter(Native.make(LOAD, saved, (long) saved.length));
  }

  /**
   * Adds a key. If it throws, the filter does not have the key.
   *
   * @param key a row or a cell
   * @return false if the key may have been there already
   */
  public boolean add(Key key) {
    Native.Scratch scratch = Native.Scratch.get();
    long mark = scratch.used;
    int before = scratch.begin(this);
    try {
      MemorySegment row = scratch.copy(key.row);
      MemorySegment qualifier = scratch.copy(key.qualifier);
      MemorySegment added = scratch.take(1);
      MemorySegment error = scratch.take(Native.ERROR_BYTES);
      scratch.thrown = null;
      int code =
          (int)
              ADD.invokeExact(
                  handle, row, key.rowSize(), qualifier, key.qualifierSize, added, error);
      if (code != 0) throw Native.failure(error, scratch);
      return added.get(JAVA_BYTE, 0) != 0;
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.used = mark;
      scratch.end(before);
    }
  }

  /**
   * Asks for a key.
   *
   * @param key a row or a cell
   * @return false if the key was certainly not added
   */
  public boolean mayContain(Key key) {
    return Key.ask(MAY_CONTAIN, this, key);
  }

  /**
   * Saves the filter.
   *
   * @return bytes for {@link #load}
   */
  public byte[] save() {
    return Native.fill(SAVE, this, Native.BUFFER);
  }
}
