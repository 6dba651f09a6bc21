// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The library. */
public final class Rowbloom {
  private static final MethodHandle VERSION = Native.function("version", ADDRESS);

  private Rowbloom() {}

  /**
   * The version of the library that the program runs with.
   *
   * @return such as "0.1.0"
   */
  public static String version() {
    try {
      MemorySegment version = (MemorySegment) VERSION.invokeExact();
      return version.reinterpret(Long.MAX_VALUE).getString(0);
    } catch (Throwable e) {
      throw Native.unexpected(e);
    }
  }
}
