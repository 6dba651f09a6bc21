// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import java.lang.invoke.MethodHandle;

/** An object of the library's. */
abstract class NativeObject implements AutoCloseable {
  private final MethodHandle free;

  /** 0 once it is closed. */
  long handle;

  NativeObject(MethodHandle free, long handle) {
    this.free = free;
    this.handle = handle;
  }

  /** 0 for null, which is not what a closed object is. */
  static long handleOf(NativeObject object) {
    if (object != null && object.handle == 0) {
      String name = object.getClass().getSimpleName();
      throw new RowbloomException(Code.INVALID_ARGUMENT, "the " + name + " is closed", null);
    }
    return object == null ? 0 : object.handle;
  }

  /** C's numbers have no sign, so it would be a huge one. */
  static long capacity(long bytes) {
    if (bytes < 0) {
      throw new RowbloomException(Code.INVALID_ARGUMENT, "a capacity of " + bytes + " bytes", null);
    }
    return bytes;
  }

  /**
   * Frees it, once no thread uses it. Afterwards its calls throw and its lookups answer "maybe".
   * Closing it again does nothing.
   */
  @Override
  public void close() {
    if (handle != 0) Native.free(free, handle);
    handle = 0;
  }
}
