// SPDX-License-Identifier: Apache-2.0
//
// The rows of the tables: what is loaded, the gets that are measured, and what a
// get of a row must have.

package rowbloom;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.apache.hadoop.hbase.client.Delete;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Mutation;
import org.apache.hadoop.hbase.client.Put;
import org.apache.hadoop.hbase.client.Result;
import org.apache.hadoop.hbase.client.Table;

// Each file has all rows: two columns of its own, or a delete of the family.
record Orders(int files, int rows) {
  static final byte[] FAMILY = bytes("cf");
  static final List<String> KINDS = List.of("absent_column", "present_column",
      "absent_row", "present_row");
  static final int BATCH = 1000;

  private static final int DELETED_OF = 20;  // One row in so many, in file 1.
  private static final int DELETING_FILE = 1;
  private static final int VALUE_BYTES = 40;
  private static final int ABSENT_PER_GROUP = 1000;  // Between two rows.
  private static final int LETTERS = 26;

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static byte[] row(int number) {
    return bytes(String.format(Locale.ROOT, "order%08d", number));
  }

  // The rows that part the table into regions of as many rows.
  byte[][] splits(int regions) {
    byte[][] splits = new byte[regions - 1][];
    for (int i = 1; i < regions; ++i) {
      splits[i - 1] = row((int) ((long) rows * i / regions));
    }
    return splits;
  }

  private boolean deletes(int file, int row) {
    return file == DELETING_FILE && row % DELETED_OF == 0;
  }

  private byte[] value(int file, int row) {
    byte[] value = new byte[VALUE_BYTES];
    new Random((long) file * rows + row).nextBytes(value);
    return value;
  }

  void load(Table table, int file) throws IOException {
    List<Mutation> batch = new ArrayList<>();
    try {
      for (int i = 0; i < rows; ++i) {
        byte[] value = value(file, i);
        batch.add(deletes(file, i)
            ? new Delete(row(i)).addFamily(FAMILY)
            : new Put(row(i)).addColumn(FAMILY, bytes("a" + file), value)
                .addColumn(FAMILY, bytes("z" + file), value));
        if (batch.size() == BATCH || i + 1 == rows) {
          table.batch(batch, new Object[batch.size()]);
          batch.clear();
        }
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  // How many of the cells that were loaded `result` lacks.
  int missing(int row, Result result) {
    int missing = 0;
    int first = deletes(DELETING_FILE, row) ? DELETING_FILE + 1 : 0;
    for (int file = first; file < files; ++file) {
      for (String column : List.of("a", "z")) {
        if (!Arrays.equals(value(file, row),
            result.getValue(FAMILY, bytes(column + file)))) {
          ++missing;
        }
      }
    }
    return missing;
  }

  // No row has its first 12 bytes, by which a filter of prefixes asks. A row
  // after all others is not asked for: HBase would ask no filter.
  private byte[] absentRow(int number) {
    String row = new String(row(number % (rows - ABSENT_PER_GROUP)),
        StandardCharsets.UTF_8);
    char letter = (char) ('a' + number % LETTERS);
    return bytes(new StringBuilder(row).insert(10, letter).toString());
  }

  Get get(String kind, int number) {
    return switch (kind) {
      case "present_column" -> new Get(row(number))
          .addColumn(FAMILY, bytes("a" + number % files));
      case "absent_column" -> new Get(row(number))
          .addColumn(FAMILY, bytes("m"));
      case "absent_row" -> new Get(absentRow(number));
      case "present_row" -> new Get(row(number));
      default -> throw new IllegalArgumentException(kind);
    };
  }
}
