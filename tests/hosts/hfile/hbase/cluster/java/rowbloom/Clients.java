// SPDX-License-Identifier: Apache-2.0
//
// Clients that ask a table, and write to it, while something is done to it.
// They count what fails and what is not there.

package rowbloom;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.Connection;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.ResultScanner;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.client.Table;
import org.apache.hadoop.hbase.util.Bytes;

final class Clients {
  private static final byte[] WRITTEN = Orders.bytes("w");

  private final Connection connection;
  private final Orders orders;
  private final List<Thread> threads = new ArrayList<>();
  private final Map<Integer, Long> acknowledged = new ConcurrentHashMap<>();
  private final AtomicLong gets = new AtomicLong();
  private final AtomicLong failed = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private final AtomicLong slowest = new AtomicLong();
  private final AtomicLong writes = new AtomicLong();
  private final Object writer = new Object();  // Held while a put is under way.
  private boolean writing = true;              // Guarded by writer.
  private volatile TableName table;
  private volatile boolean stopped;

  Clients(Connection connection, Orders orders, TableName table) {
    this.connection = connection;
    this.orders = orders;
    this.table = table;
    for (int i = 0; i < 2; ++i) start(this::read);
    start(this::write);
  }

  // No put is under way when it returns.
  void pauseWrites() {
    synchronized (writer) {
      writing = false;
    }
  }

  void use(TableName other) {
    table = other;
    synchronized (writer) {
      writing = true;
      writer.notifyAll();
    }
  }

  // Stops them, reads the whole table, and says what they counted.
  String stop() throws IOException, InterruptedException {
    stopped = true;
    use(table);
    for (Thread thread : threads) thread.join();
    try (Table all = connection.getTable(table);
        ResultScanner scanner = all.getScanner(new Scan().setCaching(1000))) {
      int row = 0;
      for (Result result : scanner) check(row++, result, 0);
      if (row != orders.rows()) lost.addAndGet(orders.rows() - row);
    }
    return String.format(Locale.ROOT, "{\"gets\": %d, \"failed_gets\": %d, "
        + "\"lost_cells\": %d, \"slowest_ms\": %d, \"writes\": %d}",
        gets.get(), failed.get(), lost.get(), slowest.get(), writes.get());
  }

  private void start(Runnable run) {
    Thread thread = new Thread(run);
    thread.start();
    threads.add(thread);
  }

  private void check(int row, Result result, long at_least) {
    byte[] written = result.getValue(Orders.FAMILY, WRITTEN);
    long expected = Math.max(at_least, stopped
        ? acknowledged.getOrDefault(row, 0L) : 0);
    long found = written == null ? 0 : Bytes.toLong(written);
    lost.addAndGet(orders.missing(row, result) + (found < expected ? 1 : 0));
  }

  private void read() {
    Random random = new Random();
    while (!stopped) {
      int row = random.nextInt(orders.rows());
      long at_least = acknowledged.getOrDefault(row, 0L);
      long begin = System.nanoTime();
      try (Table now = connection.getTable(table)) {
        Result result = now.get(new Get(Orders.row(row)));
        check(row, result, at_least);
      } catch (IOException e) {
        failed.incrementAndGet();
      }
      slowest.accumulateAndGet((System.nanoTime() - begin) / 1_000_000,
          Math::max);
      gets.incrementAndGet();
    }
  }

  private void write() {
    Random random = new Random();
    for (long number = 1; !stopped; ++number) {
      synchronized (writer) {
        try {
          while (!writing) writer.wait();
          int row = random.nextInt(orders.rows());
          try (Table now = connection.getTable(table)) {
            now.put(new Put(Orders.row(row)).addColumn(Orders.FAMILY, WRITTEN,
                Bytes.toBytes(number)));
          }
          acknowledged.put(row, number);
          writes.incrementAndGet();
        } catch (IOException e) {
          failed.incrementAndGet();
        } catch (InterruptedException e) {
          return;
        }
      }
      Thread.yield();
    }
  }
}
