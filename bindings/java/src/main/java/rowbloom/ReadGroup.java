// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static rowbloom.Native.SIZE;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Lets the reads of its readers run at once, each in a thread, when {@link
 * BlockReader#mayContainMany} needs many. It is closed after them. Its sources may not ask its
 * readers: their reads could wait for each other.
 */
public final class ReadGroup implements AutoCloseable {
  static final MemorySegment READ_MANY =
      Native.callback(MethodHandles.lookup(), "readMany", null, ADDRESS, ADDRESS, SIZE);
  private static final long READ_BYTES = 40; // rowbloom_read: context, offset, to, size, code.

  // Platform threads: a virtual one that waits in a call of C keeps its carrier, so that those for
  // the reads might never run.
  private final ThreadPoolExecutor threads;
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
    threads =
        new ThreadPoolExecutor(
            limit,
            limit,
            1,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            run -> {
              Thread thread = new Thread(run, "rowbloom-read");
              thread.setDaemon(true);
              return thread;
            });
    threads.allowCoreThreadTimeOut(true);
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
        threads.execute(
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
                done.release();
              }
            });
      }
    } finally {
      done.acquireUninterruptibly(started);
    }
  }

  /** Lets it go. */
  @Override
  public void close() {
    threads.shutdown();
    Native.Held.remove(number);
    number = 0;
  }
}
