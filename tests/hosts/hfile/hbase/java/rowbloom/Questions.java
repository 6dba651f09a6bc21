// SPDX-License-Identifier: Apache-2.0
//
// Asks a file of known cells for its contents and for keys close to them.

package rowbloom;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Random;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.util.Bytes;

final class Questions {
  private static final int MOST_ROWS = 60;
  private static final int MOST_READ_ROWS = 8;
  private static final byte[] EMPTY = new byte[0];
  private static final Comparator<byte[]> BYTES = Bytes.BYTES_COMPARATOR;

  private final Spec spec;
  private final Random random;
  // The qualifiers of each row.
  private final NavigableMap<byte[], NavigableSet<byte[]>> columns =
      new TreeMap<>(BYTES);
  private final NavigableSet<byte[]> deletedRows = new TreeSet<>(BYTES);

  Questions(Spec spec, List<KeyValue> cells) {
    this.spec = spec;
    random = new Random(spec.get("name").hashCode() + 1);
    for (KeyValue cell : cells) {
      byte[] row = CellUtil.cloneRow(cell);
      columns.computeIfAbsent(row, r -> new TreeSet<>(BYTES))
          .add(CellUtil.cloneQualifier(cell));
      if (deletesFamily(cell)) deletedRows.add(row);
    }
  }

  static boolean deletesFamily(Cell cell) {
    return PrivateCellUtil.isDeleteFamily(cell)
        || PrivateCellUtil.isDeleteFamilyVersion(cell);
  }

  // Returns true if "absent" would be wrong.
  boolean isPresent(Question question) {
    byte[] row = question.row();
    return switch (question.kind()) {
      case ROW -> columns.containsKey(row);
      case DELFAM -> deletedRows.contains(row);
      case ROWCOL -> deletedRows.contains(row) || columns.containsKey(row)
          && columns.get(row).contains(question.qualifier());
    };
  }

  List<Question> points() {
    List<Question> points = new ArrayList<>();
    for (byte[] row : someRows(MOST_ROWS)) {
      ask(points, row, columns.get(row));
      for (byte[] other : neighbours(row)) {
        ask(points, other, List.of(Cells.qualifier(0)));
      }
    }
    for (byte[] row : List.of(new byte[] {0}, new byte[] {-1, -1})) {
      ask(points, row, List.of(Cells.qualifier(0)));
    }
    return points;
  }

  private void ask(List<Question> points, byte[] row,
      Iterable<byte[]> qualifiers) {
    points.add(new Question(Question.Kind.ROW, row, EMPTY));
    points.add(new Question(Question.Kind.DELFAM, row, EMPTY));
    if (!spec.get("type").equals("ROWCOL") && random.nextInt(8) > 0) return;
    for (byte[] qualifier : qualifiers) {
      points.add(new Question(Question.Kind.ROWCOL, row, qualifier));
    }
    for (byte[] qualifier : List.of(EMPTY, Bytes.toBytes("none"))) {
      points.add(new Question(Question.Kind.ROWCOL, row, qualifier));
    }
  }

  // Returns about `most` rows, spread over all.
  private List<byte[]> someRows(int most) {
    List<byte[]> all = new ArrayList<>(columns.keySet());
    List<byte[]> some = new ArrayList<>();
    int step = Math.max(1, all.size() / most);
    for (int i = 0; i < all.size(); i += step) some.add(all.get(i));
    if (!all.isEmpty()) some.add(all.get(all.size() - 1));
    return some;
  }

  // Returns mostly absent rows close to `row`, and one with a random byte.
  private List<byte[]> neighbours(byte[] row) {
    List<byte[]> near = new ArrayList<>();
    near.add(Arrays.copyOf(row, row.length + 1));
    if (row.length > 1) near.add(Arrays.copyOf(row, row.length - 1));
    byte[] next = row.clone();
    ++next[next.length - 1];
    near.add(next);
    byte[] any = row.clone();
    any[random.nextInt(any.length)] = (byte) random.nextInt();
    near.add(any);
    return near;
  }

  List<Read> reads() {
    List<Read> reads = new ArrayList<>();
    List<byte[]> rows = someRows(MOST_READ_ROWS);
    for (byte[] row : rows) {
      addReads(reads, row);
      addReads(reads, neighbours(row).get(random.nextInt(2)));
    }
    return reads;
  }

  private void addReads(List<Read> reads, byte[] row) {
    byte[] after = Arrays.copyOf(row, row.length + 1);
    byte[] stem = Arrays.copyOf(row, Math.max(1, row.length / 2));
    byte[] stemEnd = stem.clone();
    ++stemEnd[stemEnd.length - 1];
    byte[] far = Arrays.copyOf(row, row.length + 2);
    far[row.length] = far[row.length + 1] = -1;
    byte[] first = Cells.qualifier(0);
    byte[] second = Cells.qualifier(1);
    byte[] none = Bytes.toBytes("none");
    for (List<byte[]> qualifiers : List.of(List.<byte[]>of(), List.of(first),
        List.of(none), List.of(EMPTY), List.of(first, second),
        List.of(none, second))) {
      reads.add(new Read(row, true, row, true, qualifiers));
      if (random.nextInt(3) > 0) continue;
      reads.add(new Read(row, true, after, false, qualifiers));
      reads.add(new Read(row, true, far, false, qualifiers));
      reads.add(new Read(row, false, far, true, qualifiers));
      reads.add(new Read(stem, true, stemEnd, false, qualifiers));
      reads.add(new Read(row, true, EMPTY, false, qualifiers));
      reads.add(new Read(EMPTY, true, row, false, qualifiers));
      reads.add(new Read(stem, true, row, true, qualifiers));
    }
  }

  // Prints questions: every second one is for a row of these cells, the others
  // for rows close to one.
  static void printRows(List<KeyValue> cells, int count) {
    Random random = new Random(count);
    StringBuilder table = new StringBuilder();
    for (int i = 0; i < count; ++i) {
      byte[] row = CellUtil.cloneRow(cells.get(random.nextInt(cells.size())));
      if (i % 2 == 1) row = Arrays.copyOf(row, row.length + 1);
      table.append(new Question(Question.Kind.ROW, row, EMPTY)).append('\n');
    }
    System.out.print(table);
  }
}
