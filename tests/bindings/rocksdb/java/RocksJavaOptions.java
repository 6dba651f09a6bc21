// SPDX-License-Identifier: Apache-2.0

import java.util.Properties;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.FlushOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.Statistics;
import org.rocksdb.TickerType;

/**
 * RocksJavaOptions DB OPTIONS: RocksJava with a filter policy that only
 * an options string can name. Does what ../options.c does.
 *
 * A BlockBasedTableConfig would replace the policy: it has no way to name it.
 */
public final class RocksJavaOptions {
  private static final int ROWS = 50_000;

  private static byte[] key(int row, String column) {
    return String.format("user%06d/%s", row, column).getBytes();
  }

  /** Splits NAME=VALUE;... where no brace is open. */
  private static Properties parse(String text) {
    Properties properties = new Properties();
    int depth = 0;
    int start = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '{') depth++;
      if (c == '}') depth--;
      if (c != ';' || depth > 0) continue;
      String[] option = text.substring(start, i).split("=", 2);
      properties.setProperty(option[0], option[1]);
      start = i + 1;
    }
    return properties;
  }

  private static boolean run(RocksDB db, Statistics statistics)
      throws RocksDBException {
    for (int i = 0; i < ROWS; i++) {
      db.put(key(2 * i, "name"), "value".getBytes());
    }
    try (FlushOptions flush = new FlushOptions()) {
      db.flush(flush);
    }
    int lost = 0;
    int wrong = 0;
    for (int i = 0; i < ROWS; i++) {
      if (db.get(key(2 * i, "name")) == null) lost++;
      if (db.get(key(2 * i, "mail")) != null) wrong++;
      if (db.get(key(2 * i + 1, "name")) != null) wrong++;
    }
    long filtered = statistics.getTickerCount(TickerType.BLOOM_FILTER_USEFUL);
    System.out.println("lost " + lost + ", filtered " + filtered);
    return lost == 0 && wrong == 0 && filtered >= 2 * ROWS * 98 / 100;
  }

  public static void main(String[] arguments) throws RocksDBException {
    if (arguments.length != 2) {
      System.err.println("usage: RocksJavaOptions DB OPTIONS");
      System.exit(2);
    }
    Properties properties = parse(arguments[1]);
    RocksDB.loadLibrary();
    boolean ok;
    try (Statistics statistics = new Statistics();
        DBOptions database = new DBOptions();
        ColumnFamilyOptions family =
            ColumnFamilyOptions.getColumnFamilyOptionsFromProps(properties)) {
      if (family == null) {
        throw new RocksDBException("RocksDB refuses " + properties);
      }
      database.setCreateIfMissing(true).setStatistics(statistics);
      try (Options options = new Options(database, family);
          RocksDB db = RocksDB.open(options, arguments[0])) {
        ok = run(db, statistics);
      }
    }
    System.exit(ok ? 0 : 1);
  }
}
