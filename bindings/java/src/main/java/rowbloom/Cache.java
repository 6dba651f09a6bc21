// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;

/** Keeps the filter chunks that readers share. Any number of threads may use it. */
public final class Cache extends NativeObject {
  private static final MethodHandle NEW =
      Native.function("cache_new", JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS);
  private static final MethodHandle SET_CAPACITY =
      Native.function("cache_set_capacity", null, HANDLE, JAVA_LONG);
  private static final MethodHandle ERASE_FILE =
      Native.function("cache_erase_file", null, HANDLE, JAVA_LONG);
  private static final MethodHandle USAGE =
      Native.function("cache_usage", JAVA_INT, HANDLE, ADDRESS, ADDRESS);
  private static final MethodHandle NUMBERS =
      Native.function("cache_numbers", SIZE, HANDLE, ADDRESS, SIZE);
  private static final MethodHandle FREE = Native.function("cache_free", null, HANDLE);

  /**
   * What a cache holds and did; FilterCache::Usage of rowbloom/filter_cache.h says what each is.
   *
   * @param capacityBytes the bound
   * @param usageBytes chunks and indexes
   * @param pinnedBytes of them, chunks that are never evicted
   * @param retiredBytes freed when no thread reads them
   * @param indexBytesOutside above 0: the cache is too small for its readers
   * @param residentBytes what the process has in memory for it
   * @param chunkBytes a part of the usage
   * @param indexBytes the other part
   * @param entries chunks
   * @param hits lookups of a chunk that was there
   * @param misses lookups of one that was not
   * @param inserts chunks that came
   * @param evictions chunks that went
   * @param shrinks chunks that gave up precision instead
   * @param rejections chunks that found no room
   */
  public record Usage(
      long capacityBytes,
      long usageBytes,
      long pinnedBytes,
      long retiredBytes,
      long indexBytesOutside,
      long residentBytes,
      long chunkBytes,
      long indexBytes,
      long entries,
      long hits,
      long misses,
      long inserts,
      long evictions,
      long shrinks,
      long rejections) {}

  /**
   * Makes a cache.
   *
   * @param capacityBytes bounds the memory of chunks and open readers
   */
  public Cache(long capacityBytes) {
    super(FREE, Native.make(NEW, capacity(capacityBytes)));
  }

  /**
   * Changes the bound.
   *
   * @param bytes as for the constructor
   */
  public void setCapacity(long bytes) {
    capacity(bytes);
    with(
        h -> {
          SET_CAPACITY.invokeExact(h, bytes);
          return null;
        });
  }

  /**
   * Drops the chunks of a file.
   *
   * @param fileId a file_id that the caller chose
   */
  public void eraseFile(long fileId) {
    with(
        h -> {
          ERASE_FILE.invokeExact(h, fileId);
          return null;
        });
  }

  /**
   * The numbers; zeros for a closed cache.
   *
   * @return those of one moment
   */
  public Usage usage() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment n = arena.allocate(JAVA_LONG, 15); // In the order of the record.
      long ignored = with(h -> (long) NUMBERS.invokeExact(h, n, 15L));
      return new Usage(
          n.getAtIndex(JAVA_LONG, 0),
          n.getAtIndex(JAVA_LONG, 1),
          n.getAtIndex(JAVA_LONG, 2),
          n.getAtIndex(JAVA_LONG, 3),
          n.getAtIndex(JAVA_LONG, 4),
          n.getAtIndex(JAVA_LONG, 5),
          n.getAtIndex(JAVA_LONG, 6),
          n.getAtIndex(JAVA_LONG, 7),
          n.getAtIndex(JAVA_LONG, 8),
          n.getAtIndex(JAVA_LONG, 9),
          n.getAtIndex(JAVA_LONG, 10),
          n.getAtIndex(JAVA_LONG, 11),
          n.getAtIndex(JAVA_LONG, 12),
          n.getAtIndex(JAVA_LONG, 13),
          n.getAtIndex(JAVA_LONG, 14));
    }
  }

  /**
   * The same as text.
   *
   * @return one line "name value" for each number
   */
  public String usageText() {
    return new String(Native.fill(USAGE, this, Native.BUFFER), StandardCharsets.UTF_8);
  }
}
