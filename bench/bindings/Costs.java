// SPDX-License-Identifier: Apache-2.0

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.function.Consumer;
import rowbloom.BlockReader;
import rowbloom.BlockReader.Question;
import rowbloom.BlockWriter;
import rowbloom.Cache;
import rowbloom.Key;
import rowbloom.Source;

/** costs.py has what the programs of each language measure. */
class Costs {
  static final ThreadMXBean CLOCK = ManagementFactory.getThreadMXBean();
  static final int FILES = 8;
  static final int KEYS_OF_A_BATCH = 32;
  static final int ADDS = 1000;

  static double nanoseconds(int passes, int calls, Runnable pass) {
    double[] times = new double[passes];
    for (int i = 0; i < passes; ++i) {
      long begin = CLOCK.getCurrentThreadCpuTime();
      pass.run();
      times[i] = (double) (CLOCK.getCurrentThreadCpuTime() - begin) / calls;
    }
    Arrays.sort(times);
    return times[passes / 2];
  }

  static byte[][] rows(int count, java.util.function.IntToLongFunction number) {
    byte[][] rows = new byte[count][];
    for (int i = 0; i < count; ++i) {
      rows[i] = String.format("user%08d", number.applyAsLong(i)).getBytes(US_ASCII);
    }
    return rows;
  }

  static void write(ByteArrayOutputStream block, Consumer<BlockWriter> add) {
    block.reset();
    try (BlockWriter writer = new BlockWriter("", block)) {
      add.accept(writer);
      writer.finish();
    }
  }

  static void addEach(BlockWriter writer, byte[][] rows) {
    for (byte[] row : rows) writer.add(Key.row(row));
  }

  static void addMany(BlockWriter writer, byte[][] rows) {
    for (int i = 0; i < rows.length; i += ADDS) {
      Key[] keys = new Key[Math.min(ADDS, rows.length - i)];
      for (int k = 0; k < keys.length; ++k) keys[k] = Key.row(rows[i + k]);
      writer.addMany(keys);
    }
  }

  static long lookup(BlockReader reader, byte[][] asked) {
    long maybes = 0;
    for (byte[] row : asked) {
      if (reader.mayContain(Key.row(row))) ++maybes;
    }
    return maybes;
  }

  static long sum(boolean[] answers) {
    long maybes = 0;
    for (boolean answer : answers) {
      if (answer) ++maybes;
    }
    return maybes;
  }

  static long each(BlockReader[] readers, byte[][] asked, int count) {
    long maybes = 0;
    for (int i = 0; i < count; ++i) {
      maybes += sum(BlockReader.mayContainEach(readers, Key.row(asked[i])));
    }
    return maybes;
  }

  static long batch(BlockReader[] readers, byte[][] asked, int count) {
    long maybes = 0;
    for (int i = 0; i + KEYS_OF_A_BATCH <= count; i += KEYS_OF_A_BATCH) {
      Key[] keys = new Key[KEYS_OF_A_BATCH];
      Question[] questions = new Question[FILES * KEYS_OF_A_BATCH];
      for (int k = 0; k < keys.length; ++k) {
        keys[k] = Key.row(asked[i + k]);
        for (int f = 0; f < FILES; ++f) questions[k * FILES + f] = new Question(readers[f], k);
      }
      maybes += sum(BlockReader.mayContainMany(keys, questions));
    }
    return maybes;
  }

  public static void main(String[] arguments) {
    int count = Integer.parseInt(arguments[0]);
    int passes = Integer.parseInt(arguments[1]);
    byte[][] rows = rows(count, i -> 2L * i);
    byte[][] asked = rows(count, i -> i * 7919L % (2L * count));
    ByteArrayOutputStream block = new ByteArrayOutputStream();
    double add = nanoseconds(passes, count, () -> write(block, w -> addEach(w, rows)));
    double addMany = nanoseconds(passes, count, () -> write(block, w -> addMany(w, rows)));
    Cache cache = new Cache(64 << 20);
    BlockReader[] readers = new BlockReader[FILES];
    for (int i = 0; i < FILES; ++i) {
      readers[i] =
          new BlockReader(
              Source.of(block.toByteArray()),
              block.size(),
              new BlockReader.Options().text("prefetch=true").cache(cache));
    }
    long[] maybes = {0};
    double lookup =
        nanoseconds(passes, count, () -> maybes[0] += lookup(readers[0], asked));
    double each =
        nanoseconds(passes, count, () -> maybes[0] += each(readers, asked, count / FILES));
    double batch =
        nanoseconds(passes, count, () -> maybes[0] += batch(readers, asked, count / FILES));
    System.out.printf(
        "{\"add\": %.2f, \"add_many\": %.2f, \"lookup\": %.2f, \"each_of_8\": %.2f,"
            + " \"batch\": %.2f, \"maybes\": %d}%n",
        add, addMany, lookup, each, batch, maybes[0]);
  }
}
