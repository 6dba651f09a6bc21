// SPDX-License-Identifier: Apache-2.0
//
// Makes synthetic cells for a Spec, the same ones in each run.

package rowbloom;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.zip.CRC32;
import org.apache.hadoop.hbase.ArrayBackedTag;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.InnerStoreCellComparator;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.MetaCellComparator;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.Tag;
import org.apache.hadoop.hbase.util.Bytes;

final class Cells {
  static final byte[] FAMILY = Bytes.toBytes("f");
  private static final byte[] EMPTY = new byte[0];
  private static final long TIMESTAMP = 1600000000000L;

  private final Spec spec;
  private final Random random;
  private final List<KeyValue> cells = new ArrayList<>();

  private Cells(Spec spec) {
    this.spec = spec;
    random = new Random(spec.get("name").hashCode());
  }

  static CellComparator comparator(Spec spec) {
    return spec.getBoolean("meta") ? MetaCellComparator.META_COMPARATOR
        : InnerStoreCellComparator.INNER_STORE_COMPARATOR;
  }

  // Returns the cells in file order.
  static List<KeyValue> of(Spec spec) {
    Cells cells = new Cells(spec);
    int number = 0;
    for (byte[] row : cells.rows()) cells.addRow(row, number++);
    cells.cells.sort(comparator(spec));
    return cells.cells;
  }

  private TreeSet<byte[]> rows() {
    TreeSet<byte[]> rows = new TreeSet<>(Bytes.BYTES_COMPARATOR);
    for (int i = 0; rows.size() < spec.getInt("rows"); ++i) {
      rows.add(row(i));
    }
    return rows;
  }

  private byte[] row(int i) {
    return switch (spec.get("keys")) {
      // The cells use every second number; the questions use the others.
      case "text" -> Bytes.toBytes(String.format("row%06d", 2 * i));
      case "binary" -> bytes(1 + random.nextInt(24));
      // The vint of such a length takes one, two or three bytes.
      case "long" -> bytes(100 + random.nextInt(300));
      // A prefix has several rows; some rows are shorter than the prefix.
      case "users" -> Bytes.toBytes(i % 11 == 0 ? "u" + i
          : String.format("user%04d/%d", i / 4, random.nextInt(1000000)));
      // Region names are table, start key and id.
      case "regions" -> regionName(String.format("%05d", 7 * i), i);
      // Start keys contain bytes that sort before the comma.
      case "binaryRegions" ->
          regionName(String.format("%c%04d", random.nextInt(0x60), i), i);
      default -> throw new IllegalArgumentException(spec.get("keys"));
    };
  }

  private byte[] regionName(String startKey, int i) {
    String start = i % 50 == 0 ? "" : startKey;
    return String.format("table%d,%s,%d.%08x.", i / 50, start, TIMESTAMP + i,
        random.nextInt()).getBytes(StandardCharsets.ISO_8859_1);
  }

  private byte[] bytes(int length) {
    byte[] result = new byte[length];
    random.nextBytes(result);
    return result;
  }

  private void addRow(byte[] row, int i) {
    int every = spec.getInt("delEvery");
    boolean isDeleted = every > 0 && i % every == 0;
    if (isDeleted) {
      add(row, EMPTY, 100, KeyValue.Type.DeleteFamily);
      if (i % (2 * every) == 0) {
        add(row, EMPTY, 90, KeyValue.Type.DeleteFamilyVersion);
      }
      // Some rows have only a delete.
      if (i % (4 * every) == 0) return;
    }
    int quals = spec.getInt("quals");
    for (int q = 0; q < quals; ++q) {
      if (quals > 1 && random.nextInt(4) == 0) continue;
      byte[] qualifier = qualifier(q);
      if (every > 0 && random.nextInt(8) == 0) {
        add(row, qualifier, 95, KeyValue.Type.DeleteColumn);
        add(row, qualifier, 91, KeyValue.Type.Delete);
      }
      for (int v = 0; v < spec.getInt("versions"); ++v) {
        add(row, qualifier, 50 - v, KeyValue.Type.Put);
      }
    }
    if (spec.getBoolean("emptyQual") && i % 2 == 0) {
      add(row, EMPTY, 60, KeyValue.Type.Put);
    }
  }

  static byte[] qualifier(int q) {
    return Bytes.toBytes(String.format("q%02d", q));
  }

  private void add(byte[] row, byte[] qualifier, int time, KeyValue.Type type) {
    byte[] value = type == KeyValue.Type.Put ? value() : EMPTY;
    KeyValue cell = new KeyValue(row, FAMILY, qualifier, TIMESTAMP + time, type,
        value, tags());
    cells.add(cell);
    if (!spec.getBoolean("mvcc")) return;
    cell.setSequenceId(1000 + random.nextInt(1000000));
    // The same key recurs with an older sequence id.
    if (random.nextInt(16) == 0) {
      KeyValue older = new KeyValue(row, FAMILY, qualifier, TIMESTAMP + time,
          type, value(), tags());
      older.setSequenceId(random.nextInt(1000));
      cells.add(older);
    }
  }

  private byte[] value() {
    int length = random.nextInt(2 * spec.getInt("value") + 1);
    byte[] value = new byte[length];
    for (int i = 0; i < length; ++i) value[i] = (byte) ('a' + i % 7);
    if (length > 0) value[0] = (byte) random.nextInt();
    return value;
  }

  // Tags are of few kinds, so that a dictionary finds them again.
  private List<Tag> tags() {
    if (spec.get("tags").equals("none")) return null;
    List<Tag> tags = new ArrayList<>();
    for (int left = random.nextInt(3); left > 0; --left) {
      tags.add(new ArrayBackedTag((byte) (65 + random.nextInt(3)),
          "tag" + random.nextInt(10)));
    }
    return tags;
  }

  // Adds a cell to a checksum: key, value and tags, each after its length
  // (int), and the sequence id (long), all big-endian.
  static void digest(KeyValue cell, CRC32 crc) {
    byte[] key = PrivateCellUtil.getCellKeySerializedAsKeyValueKey(cell);
    int tagsLength = cell.getTagsLength();
    ByteBuffer bytes = ByteBuffer.allocate(
        20 + key.length + cell.getValueLength() + tagsLength);
    bytes.putInt(key.length).put(key);
    bytes.putInt(cell.getValueLength()).put(cell.getValueArray(),
        cell.getValueOffset(), cell.getValueLength());
    bytes.putInt(tagsLength).put(cell.getTagsArray(), cell.getTagsOffset(),
        tagsLength);
    bytes.putLong(cell.getSequenceId());
    crc.update(bytes.array());
  }
}
