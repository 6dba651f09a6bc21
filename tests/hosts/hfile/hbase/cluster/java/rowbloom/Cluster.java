// SPDX-License-Identifier: Apache-2.0
//
// HBase as it runs: ZooKeeper, a master and region servers in one process, with
// files in a local directory, or in HDFS of as many data nodes. Reads commands
// from standard input, a line each, and answers each with a line; the end of the
// input stops it.
//
//   Cluster DIRECTORY [SERVERS CACHE_BYTES]   with SERVERS on HDFS
//     create TABLE TYPE ENCODING BLOCK_SIZE REGIONS FILES ROWS
//                               family cf; each flush of a region writes a file
//     measure TABLE COUNT       gets of four kinds; JSON of what they read
//     get TABLE TO              copies its store files to a local directory
//     get_snapshot TABLE SNAPSHOT TO
//     put TABLE FROM            copies files of `get`'s layout into HDFS
//     disable | enable TABLE
//     replace TABLE             puts the files of `put` in place, regions closed
//     replace_regions TABLE     closes, replaces and opens one region at a time
//     alter TABLE TYPE | major_compact TABLE
//     snapshot TABLE SNAPSHOT
//     create_like TABLE NEW TYPE
//     bulk_load TABLE           loads the files of `put`
//     copy_since TABLE NEW      copies cells and deletes since the last snapshot,
//                               and has the clients use NEW
//     start_clients TABLE | stop_clients
//     moved                     bytes that HDFS read and wrote since last asked

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
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.LocalHBaseCluster;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Admin;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptor;
import org.apache.hadoop.hbase.client.ColumnFamilyDescriptorBuilder;
import org.apache.hadoop.hbase.client.CompactionState;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.ConnectionFactory;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.client.TableDescriptor;
import org.apache.hadoop.hbase.client.TableDescriptorBuilder;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.BlockCache;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.HRegion;
import org.apache.hadoop.hbase.regionserver.HRegionServer;
import org.apache.hadoop.hbase.regionserver.HStore;
import org.apache.hadoop.hbase.tool.BulkLoadHFilesTool;
import org.apache.hadoop.hbase.util.JVMClusterUtil.RegionServerThread;
import org.apache.hadoop.hbase.zookeeper.MiniZooKeeperCluster;

public final class Cluster {
  private static final byte[] FAMILY = Orders.FAMILY;
  private static final String PREFIX_LENGTH = "12";

  private final LocalHBaseCluster hbase;
  private final Connection connection;
  private final Admin admin;
  private final Files files;
  private Orders orders;
  private Clients clients;
  private long snapshotTime;  // Milliseconds.
  private long[] moved;

  private Cluster(LocalHBaseCluster hbase) throws IOException {
    this.hbase = hbase;
    connection = ConnectionFactory.createConnection(hbase.getConfiguration());
    admin = connection.getAdmin();
    files = new Files(hbase.getConfiguration());
    moved = files.moved();
  }

  public static void main(String[] args) throws Exception {
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
    File directory = new File(args[0]).getAbsoluteFile();
    Configuration conf = HBaseConfiguration.create();
    conf.set("hbase.tmp.dir", directory + "/tmp");
    conf.set(HConstants.ZOOKEEPER_QUORUM, "127.0.0.1");
    conf.setBoolean(LocalHBaseCluster.ASSIGN_RANDOM_PORTS, true);
    // Its 30 s are too short on a busy machine.
    conf.setInt("hbase.master.start.timeout.localHBaseCluster", 300_000);
    conf.setInt("hbase.master.info.port", -1);
    conf.setInt("hbase.regionserver.info.port", -1);
    // Files stay as they were flushed, and nobody else reads.
    conf.setInt("hbase.hstore.compactionThreshold", 1000);
    conf.setInt("hbase.catalogjanitor.interval", Integer.MAX_VALUE);
    conf.setInt("hbase.balancer.period", Integer.MAX_VALUE);

    int servers = 1;
    Hdfs hdfs = null;
    if (args.length == 3) {
      servers = Integer.parseInt(args[1]);
      conf.setFloat("hfile.block.cache.size", (float)
          Long.parseLong(args[2]) / Runtime.getRuntime().maxMemory());
      hdfs = new Hdfs(new File(directory, "hdfs"), servers, conf);
      conf.set(HConstants.HBASE_DIR, FileSystem.getDefaultUri(conf) + "/hbase");
    } else {
      conf.set(HConstants.HBASE_DIR, new File(directory, "hbase").toURI() + "");
      // The local file system cannot do what a write-ahead log wants of HDFS.
      conf.setBoolean("hbase.unsafe.stream.capability.enforce", false);
      conf.set("hbase.wal.provider", "filesystem");
    }

    MiniZooKeeperCluster zooKeeper = new MiniZooKeeperCluster(conf);
    conf.setInt(HConstants.ZOOKEEPER_CLIENT_PORT,
        zooKeeper.startup(new File(directory, "zookeeper")));
    LocalHBaseCluster hbase = new LocalHBaseCluster(conf, servers);
    hbase.startup();
    try {
      new Cluster(hbase).run();
    } finally {
      hbase.shutdown();
      hbase.join();
      zooKeeper.shutdown();
      if (hdfs != null) hdfs.stop();
    }
    System.exit(0);  // HBase's caches have threads.
  }

  private void run() throws Exception {
    while (hbase.getActiveMaster() == null
        || !hbase.getActiveMaster().isInitialized()) {
      sleep();
    }
    System.out.println("ready");
    BufferedReader commands = new BufferedReader(
        new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line; (line = commands.readLine()) != null;) {
      System.out.println(run(line.split(" ")));
    }
  }

  private String run(String[] words) throws Exception {
    TableName table = words.length == 1 ? null : TableName.valueOf(words[1]);
    switch (words[0]) {
      case "create" -> create(table, words);
      case "measure" -> {
        return measure(table, Integer.parseInt(words[2]));
      }
      case "get" -> files.get(table, new File(words[2]));
      case "get_snapshot" -> files.getSnapshot(words[2], table,
          new File(words[3]));
      case "put" -> files.put(new File(words[2]));
      case "disable" -> admin.disableTable(table);
      case "enable" -> admin.enableTable(table);
      case "replace" -> {
        for (RegionInfo region : admin.getRegions(table)) files.swap(region);
      }
      case "replace_regions" -> {
        for (RegionInfo region : admin.getRegions(table)) {
          admin.unassign(region.getRegionName());
          files.swap(region);
          admin.assign(region.getRegionName());
        }
      }
      case "alter" -> admin.modifyTable(
          withType(admin.getDescriptor(table), words[2]));
      case "major_compact" -> majorCompact(table);
      case "snapshot" -> {
        snapshotTime = System.currentTimeMillis();
        admin.snapshot(words[2], table);
      }
      case "create_like" -> createLike(table, words);
      case "bulk_load" -> bulkLoad(table);
      case "copy_since" -> {
        return copySince(table, TableName.valueOf(words[2]));
      }
      case "start_clients" -> clients = new Clients(connection, orders, table);
      case "stop_clients" -> {
        return clients.stop();
      }
      case "moved" -> {
        return moved();
      }
      default -> throw new IOException("unknown command " + words[0]);
    }
    return "done";
  }

  private static TableDescriptor withType(TableDescriptor table, String type) {
    ColumnFamilyDescriptorBuilder family = ColumnFamilyDescriptorBuilder
        .newBuilder(table.getColumnFamily(FAMILY))
        .setBloomFilterType(BloomType.valueOf(type));
    if (type.equals("ROWPREFIX_FIXED_LENGTH")) {
      family.setConfiguration("RowPrefixBloomFilter.prefix_length",
          PREFIX_LENGTH);
    }
    return TableDescriptorBuilder.newBuilder(table)
        .modifyColumnFamily(family.build()).build();
  }

  private void create(TableName table, String[] words) throws IOException {
    ColumnFamilyDescriptor family = ColumnFamilyDescriptorBuilder
        .newBuilder(FAMILY)
        .setDataBlockEncoding(DataBlockEncoding.valueOf(words[3]))
        .setBlocksize(Integer.parseInt(words[4])).build();
    TableDescriptor descriptor = withType(TableDescriptorBuilder
        .newBuilder(table).setColumnFamily(family).build(), words[2]);
    int regions = Integer.parseInt(words[5]);
    orders = new Orders(Integer.parseInt(words[6]), Integer.parseInt(words[7]));
    if (regions == 1) {
      admin.createTable(descriptor);
    } else {
      admin.createTable(descriptor, orders.splits(regions));
    }
    try (Table to = connection.getTable(table)) {
      for (int file = 0; file < orders.files(); ++file) {
        orders.load(to, file);
        admin.flush(table);
      }
    }
  }

  private void createLike(TableName table, String[] words) throws IOException {
    List<byte[]> splits = new ArrayList<>();
    for (RegionInfo region : admin.getRegions(table)) {
      if (region.getStartKey().length > 0) splits.add(region.getStartKey());
    }
    TableDescriptor like = TableDescriptorBuilder.copy(
        TableName.valueOf(words[2]), admin.getDescriptor(table));
    admin.createTable(withType(like, words[3]), splits.toArray(new byte[0][]));
  }

  private void bulkLoad(TableName table) throws IOException {
    Configuration conf = hbase.getConfiguration();
    for (Path region : files.stagedRegions()) {
      new BulkLoadHFilesTool(conf).bulkLoad(table, region);
    }
  }

  // Copies what was written since the snapshot, at first while clients write,
  // then the rest while they wait. Returns how long that is.
  private String copySince(TableName from, TableName to) throws IOException {
    long time = snapshotTime;
    snapshotTime = System.currentTimeMillis();
    copySince(from, to, time);
    long begin = System.nanoTime();
    clients.pauseWrites();
    copySince(from, to, snapshotTime);
    clients.use(to);
    return String.format(Locale.ROOT, "(writes waited %d ms)",
        (System.nanoTime() - begin) / 1_000_000);
  }

  private void copySince(TableName from, TableName to, long time)
      throws IOException {
    Scan scan = new Scan().setRaw(true).readAllVersions()
        .setTimeRange(time, Long.MAX_VALUE);
    try (Table source = connection.getTable(from);
        Table target = connection.getTable(to);
        ResultScanner scanner = source.getScanner(scan)) {
      List<Mutation> batch = new ArrayList<>();
      for (Result result : scanner) {
        for (Cell cell : result.rawCells()) {
          batch.add(CellUtil.isDelete(cell)
              ? new Delete(result.getRow()).add(cell)
              : new Put(result.getRow()).add(cell));
        }
        if (batch.size() < Orders.BATCH) continue;
        target.batch(batch, new Object[batch.size()]);
        batch.clear();
      }
      target.batch(batch, new Object[batch.size()]);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  private void majorCompact(TableName table) throws IOException {
    for (HRegion region : regions(table)) region.flush(true);
    admin.majorCompact(table);
    for (HRegion region : regions(table)) {
      while (region.getStore(FAMILY).getStorefilesCount() > 1) sleep();
    }
    while (admin.getCompactionState(table) != CompactionState.NONE) sleep();
  }

  private String moved() {
    long[] before = moved;
    moved = files.moved();
    return String.format(Locale.ROOT, "read %.1f MB, wrote %.1f MB",
        (moved[0] - before[0]) / 1e6, (moved[1] - before[1]) / 1e6);
  }

  private List<HRegion> regions(TableName table) {
    List<HRegion> regions = new ArrayList<>();
    for (RegionServerThread thread : hbase.getRegionServers()) {
      regions.addAll(thread.getRegionServer().getRegions(table));
    }
    return regions;
  }

  // These are the counters behind the region servers' metrics, in their sum.
  private record Counters(long hits, long misses, long requests,
      long negatives) {
    Counters plus(Counters other, int sign) {
      return new Counters(hits + sign * other.hits,
          misses + sign * other.misses, requests + sign * other.requests,
          negatives + sign * other.negatives);
    }
  }

  private Counters counters(TableName table) {
    Counters sum = new Counters(0, 0, 0, 0);
    for (RegionServerThread thread : hbase.getRegionServers()) {
      BlockCache cache = thread.getRegionServer().getBlockCache().get();
      sum = sum.plus(new Counters(cache.getStats().getDataHitCount(),
          cache.getStats().getDataMissCount(), 0, 0), 1);
    }
    for (HRegion region : regions(table)) {
      HStore store = region.getStore(FAMILY);
      sum = sum.plus(new Counters(0, 0, store.getBloomFilterRequestsCount(),
          store.getBloomFilterNegativeResultsCount()), 1);
    }
    return sum;
  }

  // The same gets each time it is called. If the caches are too small for the
  // table, it asks them twice, and counts what the second time finds.
  private String measure(TableName table, int count) throws IOException {
    for (TableName any : admin.listTableNames()) admin.clearBlockCache(any);
    StringBuilder json = new StringBuilder("{");
    for (String kind : Orders.KINDS) {
      if (hbase.getRegionServers().size() > 1) ask(table, kind, count);
      Counters before = counters(table);
      Answers answers = ask(table, kind, count);
      Counters used = counters(table).plus(before, -1);
      long cached = 0;
      for (RegionServerThread thread : hbase.getRegionServers()) {
        cached += thread.getRegionServer().getBlockCache().get()
            .getCurrentDataSize();
      }
      json.append(String.format(Locale.ROOT,
          "%s\"%s\": {\"gets\": %d, \"cells\": %d, \"crc32\": \"%08x\", "
              + "\"blocks_per_get\": %.4f, \"cache_hits\": %d, "
              + "\"cache_misses\": %d, \"cache_bytes\": %d, "
              + "\"bloom_requests\": %d, \"bloom_negatives\": %d}",
          json.length() > 1 ? ", " : "", kind, count, answers.cells,
          answers.crc32, (double) (used.hits + used.misses) / count, used.hits,
          used.misses, cached, used.requests, used.negatives));
    }
    return json.append('}').toString();
  }

  private record Answers(long cells, long crc32) {}

  private Answers ask(TableName name, String kind, int count)
      throws IOException {
    Random random = new Random(kind.hashCode());
    CRC32 crc = new CRC32();
    long cells = 0;
    try (Table table = connection.getTable(name)) {
      List<Get> gets = new ArrayList<>();
      for (int i = 0; i < count; ++i) {
        gets.add(orders.get(kind, random.nextInt(orders.rows())));
        if (gets.size() < Orders.BATCH && i + 1 < count) continue;
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
    return new Answers(cells, crc.getValue());
  }

  private static void sleep() throws IOException {
    try {
      Thread.sleep(50);
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }
}
