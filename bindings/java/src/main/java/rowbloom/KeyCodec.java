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

/**
 * Says how a flat key holds its 1 to 8 segments, row and qualifier for example. Any number of
 * threads may use it.
 */
public final class KeyCodec extends NativeObject {
  private static final MethodHandle NEW =
      Native.function("codec_new", JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle SEGMENT_COUNT =
      Native.function("codec_segment_count", SIZE, HANDLE);
  private static final MethodHandle ENCODE = segmentsTo("codec_encode_segments");
  private static final MethodHandle ENCODE_PREFIX = segmentsTo("codec_encode_prefix");
  private static final MethodHandle DECODE =
      Native.function(
          "codec_decode_segments", JAVA_INT, HANDLE, ADDRESS, SIZE, ADDRESS, SIZE, ADDRESS);
  private static final MethodHandle BOUNDS =
      Native.function(
          "codec_bounds_of_segments", JAVA_INT, HANDLE, ADDRESS, SIZE, ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle KEY_LEVELS =
      Native.function("codec_key_levels", SIZE, HANDLE, ADDRESS, SIZE, ADDRESS, SIZE);
  private static final MethodHandle PREFIX_SIZES =
      Native.function("codec_prefix_sizes", null, HANDLE, ADDRESS, SIZE, ADDRESS, ADDRESS);
  private static final MethodHandle FREE = Native.function("codec_free", null, HANDLE);
  private static final int MAX_SEGMENTS = 8;

  private static MethodHandle segmentsTo(String name) {
    return Native.function(name, JAVA_INT, HANDLE, ADDRESS, SIZE, ADDRESS, ADDRESS);
  }

  /**
   * Where keys begin and end.
   *
   * @param lower the keys are at or above it
   * @param upper and below it; empty means "to the end"
   */
  public record Bounds(byte[] lower, byte[] upper) {}

  /**
   * Makes a codec.
   *
   * @param codec "ordered", "fixed:8" or "delimiter:|", of two segments, or a list such as
   *     "tenant.fixed:4,user.delimiter:/,at.rest"
   */
  public KeyCodec(String codec) {
    super(FREE, Native.make(NEW, codec));
  }

  /**
   * The number of segments.
   *
   * @return 1 to 8; 0 for a closed codec
   */
  public int segmentCount() {
    return with(h -> (int) (long) SEGMENT_COUNT.invokeExact(h));
  }

  /** Segments as C has them, an array of pointers and sizes. */
  private static MemorySegment list(Arena arena, byte[][] segments) {
    MemorySegment list = arena.allocate(16L * segments.length + 1, 8);
    for (int i = 0; i < segments.length; ++i) {
      MemorySegment bytes = arena.allocate(segments[i].length + 1L);
      list.set(ADDRESS, 16L * i, bytes.copyFrom(MemorySegment.ofArray(segments[i])));
      list.set(SIZE, 16L * i + 8, segments[i].length);
    }
    return list;
  }

  /**
   * Encodes a flat key.
   *
   * @param segments the first ones, up to all
   * @return the key
   */
  public byte[] encode(byte[]... segments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = list(arena, segments);
      return Native.fill(ENCODE, this, list, (long) segments.length, Native.BUFFER);
    }
  }

  /**
   * Encodes the prefix by which a block is asked for all keys that begin with these segments.
   *
   * @param segments at least one; the last of them ends a key level
   * @return bytes for {@link Key#prefix(byte[])}
   */
  public byte[] encodePrefix(byte[]... segments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = list(arena, segments);
      return Native.fill(ENCODE_PREFIX, this, list, (long) segments.length, Native.BUFFER);
    }
  }

  /**
   * The inverse of {@link #encode}.
   *
   * @param key a flat key
   * @return all segments
   */
  public byte[][] decode(byte[] key) {
    int count = segmentCount();
    return Native.fillMany(
        count, DECODE, this, key, (long) key.length, Native.BUFFER, (long) count);
  }

  /**
   * The bounds of all keys, and no others, that begin with these segments.
   *
   * @param segments at least one
   * @return the bounds
   */
  public Bounds bounds(byte[]... segments) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = list(arena, segments);
      byte[][] bounds =
          Native.fillMany(
              2, BOUNDS, this, list, (long) segments.length, Native.BUFFER, Native.BUFFER);
      return new Bounds(bounds[0], bounds[1]);
    }
  }

  /**
   * The sizes of the key's prefix of each key level that it holds whole.
   *
   * @param key a flat key
   * @return the shortest first
   */
  public long[] keyLevels(byte[] key) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sizes = arena.allocate(JAVA_LONG, MAX_SEGMENTS);
      MemorySegment bytes = arena.allocate(key.length + 1L).copyFrom(MemorySegment.ofArray(key));
      long count =
          with(
              h ->
                  (long)
                      KEY_LEVELS.invokeExact(
                          h, bytes, (long) key.length, sizes, (long) MAX_SEGMENTS));
      return sizes.asSlice(0, 8 * count).toArray(JAVA_LONG);
    }
  }

  /**
   * The sizes of the key's row prefix and column prefix.
   *
   * @param key a flat key
   * @return two sizes; 0 for what it does not have
   */
  public long[] prefixSizes(byte[] key) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sizes = arena.allocate(JAVA_LONG, 2);
      MemorySegment bytes = arena.allocate(key.length + 1L).copyFrom(MemorySegment.ofArray(key));
      return with(
          h -> {
            PREFIX_SIZES.invokeExact(h, bytes, (long) key.length, sizes, sizes.asSlice(8));
            return sizes.toArray(JAVA_LONG);
          });
    }
  }
}
