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
