// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static rowbloom.Native.SIZE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;

/**
 * A row, or a cell: a row and a qualifier. A flat key is a row. A cell does not add its row to a
 * filter. The bytes are not copied: they must not change while the key is used. Calls with one key
 * give those of a direct buffer or a native segment to C as they are; other bytes, and lists of
 * keys, are copied. Of a buffer a key has what lies between position and limit.
 */
public final class Key {
  private static final MemorySegment EMPTY = Native.EMPTY;

  final MemorySegment row;
  final MemorySegment qualifier;
  final long qualifierSize;

  private Key(MemorySegment row, MemorySegment qualifier, long qualifierSize) {
    this.row = row;
    this.qualifier = qualifier;
    this.qualifierSize = qualifierSize;
  }

  /** C has NULL for what is not there. */
  private static MemorySegment some(MemorySegment bytes) {
    return bytes.byteSize() == 0 ? EMPTY : bytes;
  }

  /**
   * The key of a row.
   *
   * @param row any bytes
   * @return the key
   */
  public static Key row(byte[] row) {
    return row(MemorySegment.ofArray(row));
  }

  /**
   * The key of a row.
   *
   * @param row any bytes
   * @return the key
   */
  public static Key row(ByteBuffer row) {
    return row(MemorySegment.ofBuffer(row));
  }

  /**
   * The key of a row.
   *
   * @param row any bytes
   * @return the key
   */
  public static Key row(MemorySegment row) {
    return new Key(some(row), MemorySegment.NULL, 0);
  }

  /**
   * The key of a cell.
   *
   * @param row any bytes
   * @param qualifier may be empty
   * @return the key
   */
  public static Key cell(byte[] row, byte[] qualifier) {
    return cell(MemorySegment.ofArray(row), MemorySegment.ofArray(qualifier));
  }

  /**
   * The key of a cell.
   *
   * @param row any bytes
   * @param qualifier may be empty
   * @return the key
   */
  public static Key cell(ByteBuffer row, ByteBuffer qualifier) {
    return cell(MemorySegment.ofBuffer(row), MemorySegment.ofBuffer(qualifier));
  }

  /**
   * The key of a cell.
   *
   * @param row any bytes
   * @param qualifier may be empty
   * @return the key
   */
  public static Key cell(MemorySegment row, MemorySegment qualifier) {
    return new Key(some(row), some(qualifier), qualifier.byteSize());
  }

  /**
   * All rows that begin with it, for lookups of readers: a block answers if it was written with a
   * key_codec, or for prefixes of a fixed length.
   *
   * @param prefix the first bytes, as {@link KeyCodec#encodePrefix} returns them
   * @return the key
   */
  public static Key prefix(byte[] prefix) {
    return prefix(MemorySegment.ofArray(prefix));
  }

  /**
   * As {@link #prefix(byte[])}.
   *
   * @param prefix the first bytes
   * @return the key
   */
  public static Key prefix(ByteBuffer prefix) {
    return prefix(MemorySegment.ofBuffer(prefix));
  }

  /**
   * As {@link #prefix(byte[])}.
   *
   * @param prefix the first bytes
   * @return the key
   */
  public static Key prefix(MemorySegment prefix) {
    return new Key(some(prefix), MemorySegment.NULL, Native.PREFIX);
  }

  long rowSize() {
    return row.byteSize();
  }

  /** The keys as C has them, copied: another thread may close the arena of a segment meanwhile. */
  static MemorySegment list(Key[] keys, Arena arena) {
    long bytes = 0;
    for (Key key : keys) bytes += key.row.byteSize() + key.qualifier.byteSize();
    MemorySegment list = arena.allocate(32L * keys.length + 1, 8);
    MemorySegment copies = arena.allocate(bytes + 1);
    long at = 0;
    for (int i = 0; i < keys.length; ++i) {
      at = put(list, 32L * i, keys[i].row, keys[i].rowSize(), copies, at);
      at = put(list, 32L * i + 16, keys[i].qualifier, keys[i].qualifierSize, copies, at);
    }
    return list;
  }

  /** Sets a pointer and a size, and returns where the next bytes are copied to. */
  private static long put(
      MemorySegment list,
      long place,
      MemorySegment bytes,
      long size,
      MemorySegment copies,
      long at) {
    boolean isNull = bytes.isNative() && bytes.address() == 0;
    MemorySegment copy = copies.asSlice(at, bytes.byteSize()).copyFrom(bytes);
    list.set(ADDRESS, place, isNull ? MemorySegment.NULL : copy);
    list.set(SIZE, place + 8, size);
    return at + bytes.byteSize();
  }

  /** Passes a key to a function of an object and a key. */
  static void add(MethodHandle function, NativeObject object, Key key) {
    Native.Scratch scratch = Native.Scratch.get();
    long mark = scratch.used;
    int before = scratch.begin(object);
    try {
      function.invokeExact(
          object.handle,
          scratch.copy(key.row),
          key.rowSize(),
          scratch.copy(key.qualifier),
          key.qualifierSize);
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.used = mark;
      scratch.end(before);
    }
  }

  /** The same for a quick function, which answers. */
  static boolean ask(MethodHandle function, NativeObject object, Key key) {
    Native.Scratch scratch = Native.Scratch.get();
    int before = scratch.begin(object);
    try {
      return (boolean)
          function.invokeExact(
              object.handle, key.row, key.rowSize(), key.qualifier, key.qualifierSize);
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.end(before);
    }
  }

  /** Passes keys to a function of an object, keys and their number. */
  static void addMany(MethodHandle function, NativeObject object, Key[] keys) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = list(keys, arena);
      object.with(
          h -> {
            function.invokeExact(h, list, (long) keys.length);
            return null;
          });
    } finally {
      Reference.reachabilityFence(keys);
    }
  }
}
