// SPDX-License-Identifier: Apache-2.0

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.util.concurrent.atomic.AtomicInteger;
import rowbloom.BlockReader;
import rowbloom.BlockWriter;
import rowbloom.Cache;
import rowbloom.Key;
import rowbloom.Rowbloom;
import rowbloom.RowbloomException;
import rowbloom.Source;
import rowbloom.Stats;

/**
 * A million rows in a filter block, those of even numbers, and four threads that ask for them and
 * the others. docs/bindings.md has other languages.
 */
class MillionKeys {
  static final int KEYS = 1_000_000;
  static final int THREADS = 4;

  /** "user%08d", without a format for each. */
  static Key row(int i) {
    byte[] row = "user00000000".getBytes(US_ASCII);
    for (int at = 11; i > 0; --at, i /= 10) row[at] += i % 10;
    return Key.row(row);
  }

  public static void main(String[] arguments) throws InterruptedException {
    System.out.println("rowbloom " + Rowbloom.version());
    ByteArrayOutputStream file = new ByteArrayOutputStream(); // An engine's, in memory.
    try (BlockWriter none = new BlockWriter("filter_spec=ribbon", file)) {
      none.finish();
    } catch (RowbloomException e) {
      System.out.printf("error %d: %s%n", e.code().number(), e.getMessage());
    }

    try (BlockWriter writer = new BlockWriter("filter_spec=compact:bits_per_key=10", file)) {
      for (int i = 0; i < 2 * KEYS; i += 2) writer.add(row(i));
      BlockWriter.Info info = writer.finish();
      System.out.printf(
          "%d keys in %d bytes, %d chunks%n",
          info.keyCount(), info.sizeBytes(), info.chunkCount());
    }

    AtomicInteger falseNegatives = new AtomicInteger();
    AtomicInteger falsePositives = new AtomicInteger();
    try (Cache cache = new Cache(64 << 20);
        Stats stats = new Stats();
        BlockReader reader =
            new BlockReader(
                Source.of(file.toByteArray()),
                file.size(),
                new BlockReader.Options()
                    .name("000012.sst")
                    .text("prefetch=true")
                    .cache(cache)
                    .stats(stats))) {
      Thread[] threads = new Thread[THREADS];
      for (int t = 0; t < THREADS; ++t) {
        int count = 2 * KEYS / THREADS;
        int first = t * count;
        threads[t] =
            new Thread(
                () -> {
                  for (int i = first; i < first + count; ++i) {
                    boolean maybe = reader.mayContain(row(i));
                    if (i % 2 == 0 && !maybe) falseNegatives.incrementAndGet();
                    if (i % 2 == 1 && maybe) falsePositives.incrementAndGet();
                  }
                });
        threads[t].start();
      }
      for (Thread thread : threads) thread.join();
      System.out.printf(
          "%d threads: %d false negatives, %d false positives (%.3f%%)%n",
          THREADS, falseNegatives.get(), falsePositives.get(), 100.0 * falsePositives.get() / KEYS);
      Stats.Counters counters = stats.counters();
      System.out.printf(
          "%d lookups, %d negatives%n", counters.lookups(), counters.negatives());
    }
    if (falseNegatives.get() != 0) throw new AssertionError("a key was lost");
  }
}
