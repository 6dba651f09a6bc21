// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.lang.invoke.MethodHandle;

/**
 * Remembers which files were found not to have a key: a key that is absent and asked again and
 * again then costs one read. Any number of threads may use it.
 */
public final class Memo extends NativeObject {
  private static final MethodHandle NEW =
      Native.function("memo_new", JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);
  private static final MethodHandle DENIES =
      Native.quickFunction(
          "memo_denies", JAVA_BOOLEAN, HANDLE, JAVA_LONG, ADDRESS, SIZE, ADDRESS, SIZE);
  private static final MethodHandle REMEMBER =
      Native.quickFunction(
          "memo_remember", null, HANDLE, JAVA_LONG, ADDRESS, SIZE, ADDRESS, SIZE);
  private static final MethodHandle ERASE_FILE =
      Native.function("memo_erase_file", null, HANDLE, JAVA_LONG);
  private static final MethodHandle FREE = Native.function("memo_free", null, HANDLE);

  /**
   * Makes an empty memo.
   *
   * @param capacityBytes bounds the memory of all entries
   */
  public Memo(long capacityBytes) {
    super(FREE, Native.make(NEW, capacity(capacityBytes)));
  }

  /**
   * Asks whether a file was found not to have a key.
   *
   * @param fileId the file
   * @param key a row or a cell
   * @return true if it was
   */
  public boolean denies(long fileId, Key key) {
    return with(
        h ->
            (boolean)
                DENIES.invokeExact(
                    h, fileId, key.row, key.rowSize(), key.qualifier, key.qualifierSize));
  }

  /**
   * Remembers that a file does not have a key. Call it only if the file has no cell of the key, not
   * even a tombstone or one of another time: otherwise rows are lost.
   *
   * @param fileId the file; no second one may ever have this number
   * @param key a row or a cell
   */
  public void remember(long fileId, Key key) {
    with(
        h -> {
          REMEMBER.invokeExact(
              h, fileId, key.row, key.rowSize(), key.qualifier, key.qualifierSize);
          return null;
        });
  }

  /**
   * Forgets a file.
   *
   * @param fileId the file
   */
  public void eraseFile(long fileId) {
    with(
        h -> {
          ERASE_FILE.invokeExact(h, fileId);
          return null;
        });
  }
}
