// SPDX-License-Identifier: Apache-2.0
//
// Writes golden files with Guava itself, and asks Guava about files that
// rowbloom wrote. See remake.sh.
//
//   GuavaGolden write DIRECTORY         the cases below, as NAME.bin
//   GuavaGolden check FILE...           exit code 1 if Guava answers otherwise
//
// A case has 300 keys, of which those at even places are put into the filter.
// The name of its file begins with its funnel: utf8, chars, long or int.

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnel;
import com.google.common.hash.Funnels;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.IntFunction;

public final class GuavaGolden {
  private static final int KEYS = 300;

  private record Keys<T>(Funnel<? super T> funnel, IntFunction<T> key) {}

  private static String text(int i) {
    return i % 3 == 0 ? "key-" + i : "Schl\u00fcssel-\u20ac-\ud83d\ude00-" + i;
  }

  private static Keys<?> keys(String name) {
    if (name.startsWith("utf8")) {
      return new Keys<CharSequence>(
          Funnels.stringFunnel(StandardCharsets.UTF_8), GuavaGolden::text);
    }
    if (name.startsWith("chars")) {
      return new Keys<CharSequence>(
          Funnels.unencodedCharsFunnel(), GuavaGolden::text);
    }
    if (name.startsWith("long")) {
      return new Keys<Long>(
          Funnels.longFunnel(), i -> (i - 150) * 12345678901234L);
    }
    return new Keys<Integer>(Funnels.integerFunnel(), i -> (i - 150) * 7654321);
  }

  // Guava reads filters of the first strategy, but only code in its own package
  // can still make them.
  @SuppressWarnings("unchecked")
  private static <T> BloomFilter<T> create(Keys<T> keys, double fpp,
      int strategy) throws Exception {
    Class<?> type = Class.forName("com.google.common.hash.BloomFilter$Strategy");
    Object ordinal =
        Class.forName("com.google.common.hash.BloomFilterStrategies")
            .getEnumConstants()[strategy];
    Method create = BloomFilter.class.getDeclaredMethod(
        "create", Funnel.class, long.class, double.class, type);
    create.setAccessible(true);
    return (BloomFilter<T>) create.invoke(
        null, keys.funnel(), (long) (KEYS / 2), fpp, ordinal);
  }

  private static <T> BloomFilter<T> filled(Keys<T> keys, double fpp,
      int strategy) throws Exception {
    BloomFilter<T> filter = create(keys, fpp, strategy);
    for (int i = 0; i < KEYS; i += 2) filter.put(keys.key().apply(i));
    return filter;
  }

  private static <T> void write(Path directory, String name, Keys<T> keys,
      double fpp, int strategy) throws Exception {
    BloomFilter<T> filter = filled(keys, fpp, strategy);
    ByteArrayOutputStream stream = new ByteArrayOutputStream();
    filter.writeTo(stream);
    name = name.replace("PROBES", "" + stream.toByteArray()[1]);
    Files.write(directory.resolve(name + ".bin"), stream.toByteArray());
    // The text has Guava's answer for each key, one character each.
    StringBuilder answers = new StringBuilder();
    for (int i = 0; i < KEYS; ++i) {
      answers.append(filter.mightContain(keys.key().apply(i)) ? '1' : '0');
    }
    Files.writeString(directory.resolve(name + ".txt"), answers + "\n");
  }

  private static <T> boolean check(Path file, Keys<T> keys) throws Exception {
    BloomFilter<T> filter;
    try (InputStream stream = new FileInputStream(file.toFile())) {
      filter = BloomFilter.readFrom(stream, keys.funnel());
    }
    String expected =
        Files.readString(Path.of(file.toString().replace(".bin", ".txt")));
    for (int i = 0; i < KEYS; ++i) {
      if (filter.mightContain(keys.key().apply(i))
          != (expected.charAt(i) == '1')) {
        System.err.println(file + ": Guava answers otherwise for key " + i);
        return false;
      }
    }
    return true;
  }

  public static void main(String[] args) throws Exception {
    if (args.length == 2 && args[0].equals("write")) {
      Path directory = Path.of(args[1]);
      for (String funnel : new String[] {"utf8", "chars", "long", "int"}) {
        write(directory, funnel + "_mitz32", keys(funnel), 0.03, 0);
        write(directory, funnel + "_mitz64", keys(funnel), 0.03, 1);
      }
      write(directory, "utf8_mitz64_low_rate", keys("utf8"), 1e-6, 1);
      // Releases round differently here: to 5 probes or to 6.
      write(directory, "utf8_mitz64_border_PROBES", keys("utf8"), 0.02208, 1);
      return;
    }
    if (args.length >= 2 && args[0].equals("check")) {
      boolean good = true;
      for (int i = 1; i < args.length; ++i) {
        Path file = Path.of(args[i]);
        good &= check(file, keys(file.getFileName().toString()));
      }
      System.exit(good ? 0 : 1);
    }
    System.err.println("usage: GuavaGolden write DIRECTORY | check FILE...");
    System.exit(2);
  }
}
