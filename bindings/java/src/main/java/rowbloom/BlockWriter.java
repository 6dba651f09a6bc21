// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.util.Objects;

/** Writes the filter block of an SST, from cells in order, in one thread at a time. */
public final class BlockWriter extends NativeObject {
  private static final MethodHandle NEW =
      Native.function("writer_new", JAVA_INT, ADDRESS, ADDRESS, HANDLE, ADDRESS, ADDRESS);
  private static final MethodHandle NEW_WARM =
      Native.function(
          "writer_new_warm", JAVA_INT, ADDRESS, ADDRESS, HANDLE, HANDLE, ADDRESS, ADDRESS);
  private static final MethodHandle ADD =
      Native.function("writer_add", null, Native.withKey(HANDLE));
  private static final MethodHandle ADD_MANY =
      Native.function("writer_add_many", null, HANDLE, ADDRESS, SIZE);
  private static final MethodHandle FINISH =
      Native.function("writer_finish", JAVA_INT, HANDLE, ADDRESS, ADDRESS);
  private static final MethodHandle FREE = Native.function("writer_free", null, HANDLE);
  private static final MemorySegment APPEND =
      Native.callback(MethodHandles.lookup(), "append", JAVA_INT, ADDRESS, ADDRESS, SIZE, ADDRESS);

  private final Sink sink;

  /** The caller's, and what it threw first, in add() or finish(). */
  private static final class Sink {
    final OutputStream stream;
    final long number;
    Throwable thrown;

    Sink(OutputStream stream) {
      this.stream = Objects.requireNonNull(stream);
      number = Native.Held.add(this);
    }
  }

  /**
   * The two sizes that the caller keeps with the SST, and counts.
   *
   * @param sizeBytes all bytes that were written
   * @param tailSizeBytes the last bytes, for the option tail_size_bytes of a reader
   * @param keyCount distinct filter keys
   * @param chunkCount chunks
   */
  public record Info(long sizeBytes, long tailSizeBytes, long keyCount, long chunkCount) {}

  /**
   * Makes a writer.
   *
   * @param options those of rowbloom_writer_new in rowbloom/c.h, such as "bloom_type=ROWCOL"
   * @param sink takes the block, in the thread that calls the writer; it is not closed
   */
  public BlockWriter(String options, OutputStream sink) {
    this(options, null, new Sink(sink));
  }

  /**
   * Makes a writer that gives the block's chunks to the cache: the first lookups of a reader with
   * the same cache and file_id, which the options must have, load nothing.
   *
   * @param options those of rowbloom_writer_new_warm in rowbloom/c.h, such as "file_id=7"
   * @param sink as above
   * @param cache that of the reader
   */
  public BlockWriter(String options, OutputStream sink, Cache cache) {
    this(options, Objects.requireNonNull(cache), new Sink(sink));
  }

  private BlockWriter(String options, Cache cache, Sink sink) {
    super(FREE, make(options, sink, cache));
    this.sink = sink;
  }

  private static long make(String options, Sink sink, Cache cache) {
    Native.Scratch scratch = Native.Scratch.get();
    int before = scratch.begin(cache);
    try {
      return cache == null
          ? Native.make(NEW, options, APPEND, sink.number)
          : Native.make(NEW_WARM, options, APPEND, sink.number, cache.handle);
    } catch (Throwable e) {
      Native.Held.remove(sink.number);
      throw e;
    } finally {
      scratch.end(before);
    }
  }

  private static int append(
      MemorySegment context, MemorySegment bytes, long size, MemorySegment error) {
    return Native.guarded(
        error,
        () -> {
          Sink sink = (Sink) Native.Held.get(context);
          try {
            sink.stream.write(bytes.reinterpret(size).toArray(JAVA_BYTE));
          } catch (Throwable e) {
            if (sink.thrown == null) sink.thrown = e;
            throw e;
          }
        });
  }

  /**
   * Adds a cell, in bytewise order of (row, qualifier); cells may repeat. Every entry of the SST
   * must be added, deletes too. {@link #finish} throws the first mistake.
   *
   * @param cell a cell, or a row
   */
  public void add(Key cell) {
    Key.add(ADD, this, cell);
  }

  /**
   * Adds many by one call of C.
   *
   * @param cells as for {@link #add}
   */
  public void addMany(Key... cells) {
    Key.addMany(ADD_MANY, this, cells);
  }

  /**
   * Ends the block. If it throws, what was written is no filter block, and the SST has no filter.
   *
   * @return sizes and counts
   */
  public Info finish() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment info = arena.allocate(JAVA_LONG, 4);
      Native.call(FINISH, this, info);
      return new Info(
          info.getAtIndex(JAVA_LONG, 0),
          info.getAtIndex(JAVA_LONG, 1),
          info.getAtIndex(JAVA_LONG, 2),
          info.getAtIndex(JAVA_LONG, 3));
    } catch (RowbloomException e) {
      throw sink.thrown == null || e.getCause() != null
          ? e
          : new RowbloomException(e.code(), e.getMessage(), sink.thrown);
    }
  }

  @Override
  void free(long taken) {
    super.free(taken);
    Native.Held.remove(sink.number);
  }

  /** Frees the writer, but neither finishes the block nor closes the sink. */
  @Override
  public void close() {
    super.close();
  }
}
