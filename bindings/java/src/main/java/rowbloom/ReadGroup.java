// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static rowbloom.Native.SIZE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.Semaphore;

/**
 * Lets the reads of its readers run at once, each in a virtual thread, when {@link
 * BlockReader#mayContainMany} needs many. It is closed after them.
 */
public final class ReadGroup implements AutoCloseable {
  static final MemorySegment READ_MANY =
      Native.callback(MethodHandles.lookup(), "readMany", null, ADDRESS, ADDRESS, SIZE);
  private static final long READ_BYTES = 40; // rowbloom_read: context, offset, to, size, code.

  private final Semaphore underWay;
  long number;

  /**
   * Makes a group.
   *
   * @param limit the most reads that are under way at once, from 1
   */
  public ReadGroup(int limit) {
    if (limit < 1) {
      throw new RowbloomException(
          Code.INVALID_ARGUMENT, limit + " reads at once are less than 1", null);
    }
    underWay = new Semaphore(limit);
    number = Native.Held.add(this);
  }

  private static void readMany(MemorySegment context, MemorySegment reads, long count) {
    Native.guarded(
        null,
        () ->
            ((ReadGroup) Native.Held.get(context))
                .readAll(reads.reinterpret(READ_BYTES * count), count));
  }

  /** Returns when all reads have ended, for then their memory goes. */
  private void readAll(MemorySegment reads, long count) {
    Semaphore done = new Semaphore(0);
    int started = 0;
    try {
      for (; started < count; ++started) {
        MemorySegment read = reads.asSlice(READ_BYTES * started, READ_BYTES);
        underWay.acquireUninterruptibly();
        try {
          Thread.startVirtualThread(
              () -> {
                try {
                  int code =
                      BlockReader.read(
                          read.get(ADDRESS, 0),
                          read.get(SIZE, 8),
                          read.get(ADDRESS, 16),
                          read.get(SIZE, 24),
                          null);
                  read.set(JAVA_INT, 32, code);
                } finally {
                  underWay.release();
                  done.release();
                }
              });
        } catch (Throwable e) {
          underWay.release();
          throw e;
        }
      }
    } finally {
      done.acquireUninterruptibly(started);
    }
  }

  /** Lets it go. */
  @Override
  public void close() {
    Native.Held.remove(number);
    number = 0;
  }
}
