// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;
import org.redisson.Redisson;
import org.redisson.api.RBloomFilter;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.codec.Codec;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * Redisson's side of compare.sh, which runs peer.cc before it and after it.
 *
 *   RedissonPeer PORT check CODEC...    exit code 1 if an element is lost
 *   RedissonPeer PORT bench             times of batches of 1,000
 *
 * CODEC is StringCodec, ByteArrayCodec or the name of the release's default
 * codec. peer.cc says what the keys hold.
 */
public final class RedissonPeer {
  private static final int ELEMENTS = 10_000;

  // Text i of peer.cc: up to 80 characters, of one to four bytes.
  private static String text(int i) {
    long state = i * 0x9e3779b97f4a7c15L + 1;
    StringBuilder text = new StringBuilder();
    for (int length = i % 81; length > 0; --length) {
      state ^= state << 13;
      state ^= state >>> 7;
      state ^= state << 17;
      int c = (int) ((state >>> 33) % (i % 3 == 0 ? 36 : 40));
      text.appendCodePoint(c < 26 ? 'a' + c : c < 36 ? '0' + c - 26
          : c == 36 ? 0xe9 : c == 37 ? 0x20ac : c == 38 ? 0x1f600 : 0);
    }
    return text.toString();
  }

  private static RedissonClient client(int port, String codec) {
    Config config = new Config();
    Codec chosen = codec.equals("StringCodec") ? StringCodec.INSTANCE
        : codec.equals("ByteArrayCodec") ? ByteArrayCodec.INSTANCE : null;
    if (chosen != null) config.setCodec(chosen);
    config.useSingleServer().setAddress("redis://127.0.0.1:" + port)
        .setConnectionMinimumIdleSize(4).setConnectionPoolSize(8);
    return Redisson.create(config);
  }

  private static List<Object> elements(String codec, int begin, int end,
      int step) {
    List<Object> elements = new ArrayList<>();
    for (int i = begin; i < end; i += step) {
      elements.add(codec.equals("ByteArrayCodec")
          ? text(i).getBytes(StandardCharsets.UTF_8) : text(i));
    }
    return elements;
  }

  // Releases since 3.23 take many elements at once.
  private static Method many(String name) {
    try {
      return RBloomFilter.class.getMethod(name, Collection.class);
    } catch (NoSuchMethodException e) {
      return null;
    }
  }

  private static void add(RBloomFilter<Object> filter, List<Object> elements)
      throws Exception {
    Method many = many("add");
    if (many != null) {
      for (int i = 0; i < elements.size(); i += 1000) {
        many.invoke(filter,
            elements.subList(i, Math.min(i + 1000, elements.size())));
      }
    } else {
      elements.parallelStream().forEach(filter::add);
    }
  }

  private static int missing(RBloomFilter<Object> filter,
      List<Object> elements) throws Exception {
    Method many = many("contains");
    if (many == null) {
      return (int) elements.parallelStream()
          .filter(element -> !filter.contains(element)).count();
    }
    long found = 0;
    for (int i = 0; i < elements.size(); i += 1000) {
      List<Object> part =
          elements.subList(i, Math.min(i + 1000, elements.size()));
      found += ((Number) many.invoke(filter, part)).longValue();
    }
    return (int) (elements.size() - found);
  }

  private static boolean check(RedissonClient redisson, String codec)
      throws Exception {
    List<Object> all = elements(codec, 0, ELEMENTS, 1);
    RBloomFilter<Object> java = redisson.getBloomFilter("java:" + codec);
    boolean made = java.tryInit(ELEMENTS, 0.01);
    add(java, all);

    RBloomFilter<Object> cpp = redisson.getBloomFilter("cpp:" + codec);
    boolean remade = cpp.tryInit(ELEMENTS, 0.01);
    int lost = missing(cpp, all);

    RBloomFilter<Object> both = redisson.getBloomFilter("both:" + codec);
    remade |= both.tryInit(ELEMENTS, 0.01);
    add(both, elements(codec, 1, ELEMENTS, 2));
    int lostOfBoth = missing(both, all);

    // Redisson's own answers for other elements, as a value for peer.cc.
    List<Object> others = elements(codec, ELEMENTS, ELEMENTS + 1000, 1);
    StringBuilder answers = new StringBuilder();
    for (Object other : others) answers.append(cpp.contains(other) ? '1' : '0');
    redisson.getBucket("answers:" + codec, StringCodec.INSTANCE)
        .set(answers.toString());

    if (!codec.equals("ByteArrayCodec")) {
      RBloomFilter<Object> others2 = redisson.getBloomFilter("other:" + codec);
      others2.tryInit(1000, 0.01);
      for (int i = -50; i < 50; ++i) {
        others2.add(i * 40_000_000);
        others2.add(i * 180_000_000_000_000_000L);
      }
      for (int length : new int[] {255, 256, 257, 300, 70_000}) {
        others2.add("x".repeat(length));
      }
    }

    // With other parameters, on a filter of C++: the trap of releases to 3.29.
    RBloomFilter<Object> trap = redisson.getBloomFilter("trap:" + codec);
    remade |= trap.tryInit(1000, 0.01);

    System.out.println("  Redisson, " + codec + ": " + lost + " and "
        + lostOfBoth + " of " + ELEMENTS + " lost; " + cpp.count()
        + " counted, rate " + cpp.getFalseProbability());
    return made && !remade && lost == 0 && lostOfBoth == 0;
  }

  private static void bench(RedissonClient redisson) throws Exception {
    RBloomFilter<Object> filter = redisson.getBloomFilter("bench:java");
    filter.delete();
    filter.tryInit(1_000_000, 0.01);
    List<Object> batch = new ArrayList<>();
    IntStream.range(0, 1000).forEach(i -> batch.add("user" + i));
    for (String call : new String[] {"add", "contains"}) {
      Method many = many(call);
      List<Long> times = new ArrayList<>();
      for (int round = 0; round < 40; ++round) {
        long start = System.nanoTime();
        if (many != null) {
          many.invoke(filter, batch);
        } else {
          for (Object element : batch) {
            if (call.equals("add")) {
              filter.add(element);
            } else {
              filter.contains(element);
            }
          }
        }
        times.add(System.nanoTime() - start);
      }
      // The first rounds warm up.
      List<Long> sorted = times.subList(20, 40).stream().sorted().toList();
      System.out.printf("  Redisson: %s of 1,000: %d round trips, %.2f ms, "
          + "the least %.2f%n", call, many != null ? 1 : 1000,
          sorted.get(10) / 1e6, sorted.get(0) / 1e6);
    }
    filter.delete();
  }

  public static void main(String[] args) throws Exception {
    int port = Integer.parseInt(args[0]);
    boolean good = true;
    if (args[1].equals("bench")) {
      RedissonClient redisson = client(port, "StringCodec");
      bench(redisson);
      redisson.shutdown();
    }
    for (int i = 2; i < args.length; ++i) {
      RedissonClient redisson = client(port, args[i]);
      good &= check(redisson, args[i]);
      redisson.shutdown();
    }
    System.exit(good ? 0 : 1);
  }
}
