// SPDX-License-Identifier: Apache-2.0

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.common.serialization.LongDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.WindowStoreIterator;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Options;
import org.rocksdb.Statistics;
import org.rocksdb.TickerType;

/**
 * Fills a key-value store and a window store of Kafka Streams in DIRECTORY,
 * gets keys and fetches the windows of keys, half of them absent. Prints a
 * checksum of what it found, the wasted reads of gets, and the SSTs that fetches
 * did not read. The properties "policy" and "prefix" set the filters.
 */
public class KafkaStores {
  private static final int PUTS = 300_000;
  private static final int KEYS = 4 * PUTS;
  private static final int WINDOWED_KEYS = PUTS / 4;
  private static final int LAST_SECOND = 400_000;
  private static final Statistics STATISTICS = new Statistics();

  /** Kafka Streams makes one for each store. */
  public static class Setter implements RocksDBConfigSetter {
    @Override
    public void setConfig(String store, Options options, Map<String, Object> configs) {
      var table = (BlockBasedTableConfig) options.tableFormatConfig();
      String policy = System.getProperty("policy");
      if (policy != null) table.setFilterPolicy(new RowbloomFilter(policy));
      options.setTableFormatConfig(table);
      Integer prefix = Integer.getInteger("prefix");
      if (prefix != null) options.useFixedLengthPrefixExtractor(prefix);
      options.setStatistics(STATISTICS).setDisableAutoCompactions(true);
    }

    @Override
    public void close(String store, Options options) {}
  }

  private static class NoProcessor implements Processor<Long, Long, Void, Void> {
    @Override
    public void process(Record<Long, Long> record) {}
  }

  private static Topology topology() {
    var keys = Stores.persistentKeyValueStore("keys");
    var windows = Stores.persistentWindowStore(
        "windows", Duration.ofDays(1000), Duration.ofMinutes(1), false);
    return new Topology()
        .addSource("in", new LongDeserializer(), new LongDeserializer(), "in")
        .addProcessor("processor", NoProcessor::new, "in")
        .addStateStore(
            Stores.keyValueStoreBuilder(keys, Serdes.Long(), Serdes.Long())
                .withLoggingDisabled(), "processor")
        .addStateStore(
            Stores.windowStoreBuilder(windows, Serdes.Long(), Serdes.Long())
                .withLoggingDisabled(), "processor");
  }

  private static long ticker(TickerType type) {
    return STATISTICS.getTickerCount(type);
  }

  public static void main(String[] args) {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "stores");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, args[0]);
    properties.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, Setter.class.getName());
    try (var driver = new TopologyTestDriver(topology(), properties)) {
      KeyValueStore<Long, Long> keys = driver.getKeyValueStore("keys");
      WindowStore<Long, Long> windows = driver.getWindowStore("windows");
      fill(keys, windows);
      long checksum = get(keys);
      System.out.print("checksum " + (31 * checksum + fetch(windows)));
      System.out.print(", wasted reads of gets " + (ticker(TickerType.BLOOM_FILTER_FULL_POSITIVE)
          - ticker(TickerType.BLOOM_FILTER_FULL_TRUE_POSITIVE)));
      System.out.println(", fetches did not read "
          + (ticker(TickerType.LAST_LEVEL_SEEK_FILTERED)
              + ticker(TickerType.NON_LAST_LEVEL_SEEK_FILTERED)));
    }
  }

  // Keys that exist are even.
  private static void fill(KeyValueStore<Long, Long> keys, WindowStore<Long, Long> windows) {
    Random random = new Random(1);
    for (long i = 0; i < PUTS; ++i) {
      keys.put(2L * random.nextInt(KEYS), i);
      windows.put(2L * random.nextInt(WINDOWED_KEYS), i, 1000L * random.nextInt(LAST_SECOND));
      if (i % (PUTS / 6) == PUTS / 6 - 1) {
        keys.flush();
        windows.flush();
      }
    }
  }

  private static long get(KeyValueStore<Long, Long> keys) {
    Random random = new Random(2);
    long checksum = 0;
    for (int i = 0; i < 40_000; ++i) {
      Long value = keys.get(2L * random.nextInt(KEYS) + i % 2);
      checksum = 31 * checksum + (value == null ? 1 : value);
    }
    return checksum;
  }

  private static long fetch(WindowStore<Long, Long> windows) {
    Random random = new Random(3);
    long checksum = 0;
    Instant last = Instant.ofEpochSecond(LAST_SECOND);
    for (int i = 0; i < 8_000; ++i) {
      long key = 2L * random.nextInt(WINDOWED_KEYS) + i % 2;
      try (WindowStoreIterator<Long> it = windows.fetch(key, Instant.EPOCH, last)) {
        while (it.hasNext()) {
          var window = it.next();
          checksum = 31 * (31 * checksum + window.key) + window.value;
        }
      }
    }
    return checksum;
  }
}
