// SPDX-License-Identifier: Apache-2.0
//
// Measures how fast HBase's reader answers from a file's filters, with all
// chunks in its block cache, and how fast it opens the file. The times are
// medians of one thread's CPU time after a warm-up.

package rowbloom;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntPredicate;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.regionserver.FilterAnswers;
import org.apache.hadoop.hbase.util.BloomFilter;
import org.apache.hadoop.hbase.util.VersionInfo;

final class Bench {
  // Rounds are so short that most are not interrupted.
  private static final int WARM_UP_ROUNDS = 200;
  private static final int ROUNDS = 300;
  private static final int LOOKUPS_PER_ROUND = 20000;
  private static final int OPENS = 500;
  private static final ThreadMXBean THREAD =
      ManagementFactory.getThreadMXBean();

  private Bench() {}

  static void run(Path file, Path questions) throws IOException {
    List<Question> rows = Question.read(questions).stream()
        .filter(q -> q.kind() == Question.Kind.ROW).toList();
    if (rows.isEmpty()) throw new IOException("no question of kind ROW");
    byte[][] keys = rows.stream().map(Question::row).toArray(byte[][]::new);
    // A region server has its Scan before it reaches the files.
    Scan[] scans = rows.stream().map(q -> new Scan(new Get(q.row())))
        .toArray(Scan[]::new);
    try (FilterAnswers filters = StoreFiles.open(file)) {
      BloomFilter general = filters.general();
      if (general == null) throw new IOException(file + ": no general filter");
      long maybes = Arrays.stream(scans).filter(filters::read).count();
      double whole = lookupNs(keys.length, i -> filters.read(scans[i]));
      double probe = lookupNs(keys.length,
          i -> general.contains(keys[i], 0, keys[i].length, null));
      System.out.printf("""
          {
            "peer": "HBase %s",
            "java": "%s",
            "file": "%s",
            "questions": %d,
            "maybes": %d,
            "cpu_ns_per_lookup": %.1f,
            "lookups_per_second": %.0f,
            "cpu_ns_per_probe": %.1f,
            "cpu_us_per_open": %.1f
          }
          """, VersionInfo.getVersion(), Runtime.version(),
          file.getFileName(), keys.length, maybes, whole, 1e9 / whole, probe,
          openUs(file));
    }
  }

  private static double lookupNs(int count, IntPredicate lookup) {
    double[] rounds = new double[ROUNDS];
    long sum = 0;
    int next = 0;
    for (int round = -WARM_UP_ROUNDS; round < ROUNDS; ++round) {
      long start = THREAD.getCurrentThreadCpuTime();
      for (int i = 0; i < LOOKUPS_PER_ROUND; ++i) {
        if (lookup.test(next)) ++sum;
        if (++next == count) next = 0;
      }
      long time = THREAD.getCurrentThreadCpuTime() - start;
      if (round >= 0) rounds[round] = (double) time / LOOKUPS_PER_ROUND;
    }
    if (sum < 0) throw new IllegalStateException();  // This uses the sum.
    return median(rounds);
  }

  private static double openUs(Path file) throws IOException {
    double[] opens = new double[OPENS];
    for (int i = -OPENS; i < OPENS; ++i) {
      long start = THREAD.getCurrentThreadCpuTime();
      FilterAnswers filters = StoreFiles.open(file);
      long time = THREAD.getCurrentThreadCpuTime() - start;
      filters.close();  // Not measured: close() searches the cache.
      if (i >= 0) opens[i] = time / 1e3;
    }
    return median(opens);
  }

  private static double median(double[] values) {
    Arrays.sort(values);
    return values[values.length / 2];
  }
}
