// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.lang.invoke.MethodHandle;

/** Builds filters over bytes of one's own, from keys in any order, in one thread at a time. */
public final class FilterBuilder extends NativeObject {
  private static final MethodHandle NEW =
      Native.function("builder_new", JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle ADD =
      Native.function("builder_add", null, Native.withKey(HANDLE));
  private static final MethodHandle ADD_MANY =
      Native.function("builder_add_many", null, HANDLE, ADDRESS, SIZE);
  private static final MethodHandle FINISH =
      Native.function("builder_finish", JAVA_INT, HANDLE, ADDRESS, ADDRESS);
  private static final MethodHandle FREE = Native.function("builder_free", null, HANDLE);

  /**
   * Makes an empty builder.
   *
   * @param spec "FAMILY", "FAMILY:bits_per_key=B" or "FAMILY:target_fpr=R"
   */
  public FilterBuilder(String spec) {
    super(FREE, Native.make(NEW, spec));
  }

  /**
   * Adds a key. {@link #finish} throws the first mistake.
   *
   * @param key a row or a cell
   */
  public void add(Key key) {
    Key.add(ADD, this, key);
  }

  /**
   * Adds many by one call of C.
   *
   * @param keys as for {@link #add}
   */
  public void addMany(Key... keys) {
    Key.addMany(ADD_MANY, this, keys);
  }

  /**
   * Encodes the keys that were added; the builder is empty again.
   *
   * @return the filter's bytes
   */
  public byte[] finish() {
    return Native.fill(FINISH, this, Native.BUFFER);
  }
}
