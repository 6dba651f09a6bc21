// SPDX-License-Identifier: Apache-2.0
//
// HBase as it runs: ZooKeeper, master and region server in one process, with
// files in a local directory. Reads commands from standard input, a line each,
// and answers each with a line; the end of the input stops it.
//
//   Cluster DIRECTORY
//     load FILES ROWS   a table of family cf, of which each flush wrote a file
//     measure COUNT     gets of four kinds; JSON of what they read
//     close | alter TYPE | open

package rowbloom;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.zip.CRC32;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.hfile.CacheStats;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

public final class Cluster {
  private static final TableName TABLE = TableName.valueOf("orders");
  private static final byte[] FAMILY = bytes("cf");
  private static final int BATCH = 1000;
  private static final int DELETED_OF = 20;  // One row in so many, in a file.

  private final LocalHBaseCluster hbase;
  private final Connection connection;
  private final Admin admin;
  private int files;
  private int rows;

  private Cluster(LocalHBaseCluster hbase) throws IOException {
    this.hbase = hbase;
    connection = ConnectionFactory.createConnection(hbase.getConfiguration());
    admin = connection.getAdmin();
  }

  public static void main(String[] args) throws Exception {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
    File directory = new File(args[0]).getAbsoluteFile();
    Configuration conf = HBaseConfiguration.create();
    conf.set(HConstants.HBASE_DIR, new File(directory, "hbase").toURI() + "");
    conf.set("hbase.tmp.dir", directory + "/tmp");
    conf.set(HConstants.ZOOKEEPER_QUORUM, "127.0.0.1");
    conf.setBoolean(LocalHBaseCluster.ASSIGN_RANDOM_PORTS, true);
    // Its 30 s are too short on a busy machine.
    conf.setInt("hbase.master.start.timeout.localHBaseCluster", 300_000);
    conf.setInt("hbase.master.info.port", -1);
    conf.setInt("hbase.regionserver.info.port", -1);
    // The local file system cannot do what a write-ahead log wants of HDFS.
    conf.setBoolean("hbase.unsafe.stream.capability.enforce", false);
    conf.set("hbase.wal.provider", "filesystem");
    // Files stay as they were flushed, and nobody else reads.
    conf.setInt("hbase.hstore.compactionThreshold", 1000);
    conf.setInt("hbase.catalogjanitor.interval", Integer.MAX_VALUE);
    conf.setInt("hbase.balancer.period", Integer.MAX_VALUE);

    MiniZooKeeperCluster zooKeeper = new MiniZooKeeperCluster(conf);
    conf.setInt(HConstants.ZOOKEEPER_CLIENT_PORT,
        zooKeeper.startup(new File(directory, "zookeeper")));
    LocalHBaseCluster hbase = new LocalHBaseCluster(conf, 1);
    hbase.startup();
    try {
      new Cluster(hbase).run();
    } finally {
      hbase.shutdown();
      hbase.join();
      zooKeeper.shutdown();
    }
    System.exit(0);  // HBase's caches have threads.
  }

  private void run() throws IOException {
    while (hbase.getActiveMaster() == null
        || !hbase.getActiveMaster().isInitialized()) {
      sleep();
    }
    System.out.println("ready");
    BufferedReader commands = new BufferedReader(
        new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = commands.readLine()) != null;) {
      String[] words = line.split(" ");
      switch (words[0]) {
        case "load" -> load(Integer.parseInt(words[1]),
            Integer.parseInt(words[2]));
        case "measure" -> measure(Integer.parseInt(words[1]));
        case "close" -> admin.disableTable(TABLE);
        case "alter" -> admin.modifyTable(
            table(BloomType.valueOf(words[1])).build());
        case "open" -> admin.enableTable(TABLE);
        default -> throw new IOException("unknown command " + line);
      }
      if (!words[0].equals("measure")) System.out.println("done");
    }
  }

  private static TableDescriptorBuilder table(BloomType type) {
    return TableDescriptorBuilder.newBuilder(TABLE).setColumnFamily(
        ColumnFamilyDescriptorBuilder.newBuilder(FAMILY)
            .setBloomFilterType(type).build());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static byte[] row(int number) {
    return bytes(String.format(Locale.ROOT, "order%08d", number));
  }

  // Each file has all rows: two columns of its own, or a delete of the family.
  private void load(int fileCount, int rowCount) throws IOException {
    files = fileCount;
    rows = rowCount;
    admin.createTable(table(BloomType.ROW).build());
    byte[] value = new byte[40];
    Random random = new Random(24);
    try (Table table = connection.getTable(TABLE)) {
      for (int file = 0; file < files; ++file) {
        List<Mutation> batch = new ArrayList<>();
        for (int i = 0; i < rows; ++i) {
          random.nextBytes(value);
          batch.add(file == 1 && i % DELETED_OF == 0
              ? new Delete(row(i)).addFamily(FAMILY)
              : new Put(row(i)).addColumn(FAMILY, bytes("a" + file), value)
                  .addColumn(FAMILY, bytes("z" + file), value));
          if (batch.size() == BATCH || i + 1 == rows) {
            table.batch(batch, new Object[batch.size()]);
            batch.clear();
          }
        }
        admin.flush(TABLE);
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private Get get(String kind, int number) {
    return switch (kind) {
      case "present_column" -> new Get(row(number))
          .addColumn(FAMILY, bytes("a" + number % files));
      case "absent_column" -> new Get(row(number))
          .addColumn(FAMILY, bytes("m"));
      case "absent_row" -> new Get(bytes(new String(row(number),
          StandardCharsets.UTF_8) + "x"));
      case "present_row" -> new Get(row(number));
      default -> throw new IllegalArgumentException(kind);
    };
  }

  // These are the counters behind a region server's metrics.
  private record Counters(long blocks, long requests, long negatives,
      long eligible) {
    Counters minus(Counters other) {
      return new Counters(blocks - other.blocks, requests - other.requests,
          negatives - other.negatives, eligible - other.eligible);
    }
  }

  private Counters counters() {
    HRegionServer server = hbase.getRegionServer(0);
    CacheStats cache = server.getBlockCache().get().getStats();
    HStore store = (HStore) server.getRegions(TABLE).get(0).getStores().get(0);
    return new Counters(cache.getDataHitCount() + cache.getDataMissCount(),
        store.getBloomFilterRequestsCount(),
        store.getBloomFilterNegativeResultsCount(),
        store.getBloomFilterEligibleRequestsCount());
  }

  // The same gets each time it is called.
  private void measure(int count) throws IOException {
    StringBuilder json = new StringBuilder("{");
    for (String kind : List.of("absent_column", "present_column", "absent_row",
        "present_row")) {
      Random random = new Random(kind.hashCode());
      CRC32 crc = new CRC32();
      long cells = 0;
      Counters before = counters();
      try (Table table = connection.getTable(TABLE)) {
        List<Get> gets = new ArrayList<>();
        for (int i = 0; i < count; ++i) {
          gets.add(get(kind, random.nextInt(rows)));
          if (gets.size() < BATCH && i + 1 < count) continue;
          for (Result result : table.get(gets)) {
            for (Cell cell : result.rawCells()) {
              ++cells;
              crc.update(CellUtil.cloneRow(cell));
              crc.update(CellUtil.cloneQualifier(cell));
              crc.update(CellUtil.cloneValue(cell));
            }
          }
          gets.clear();
        }
      }
      Counters used = counters().minus(before);
      json.append(String.format(Locale.ROOT,
          "%s\"%s\": {\"gets\": %d, \"cells\": %d, \"crc32\": \"%08x\", "
              + "\"blocks_per_get\": %.4f, \"bloom_requests\": %d, "
              + "\"bloom_negatives\": %d, \"bloom_eligible\": %d}",
          json.length() > 1 ? ", " : "", kind, count, cells, crc.getValue(),
          (double) used.blocks / count, used.requests, used.negatives,
          used.eligible));
    }
    System.out.println(json.append('}'));
  }

  private static void sleep() throws IOException {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
