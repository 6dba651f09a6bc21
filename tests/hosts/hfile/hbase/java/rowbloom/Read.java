// SPDX-License-Identifier: Apache-2.0
//
// A Get or a Scan, and its line in a table: start row, whether it is included,
// stop row, whether it is included, the qualifiers that are asked for: comma
// between them, "*" for all. Bytes are in hexadecimal, "-" where there are
// none.

package rowbloom;

import java.util.List;
import java.util.stream.Collectors;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.util.Bytes;

record Read(byte[] start, boolean includeStart, byte[] stop,
    boolean includeStop, List<byte[]> qualifiers) {

  Scan scan() {
    Scan scan = new Scan().withStartRow(start, includeStart)
        .withStopRow(stop, includeStop);
    for (byte[] qualifier : qualifiers) {
      scan.addColumn(Cells.FAMILY, qualifier);
    }
    return scan;
  }

  // Returns true if the read must see this cell: one of its columns, or a
  // delete of the whole row.
  boolean wants(Cell cell) {
    byte[] row = CellUtil.cloneRow(cell);
    int afterStart = Bytes.compareTo(row, start);
    int afterStop = stop.length == 0 ? -1 : Bytes.compareTo(row, stop);
    if (afterStart < 0 || afterStart == 0 && !includeStart || afterStop > 0
        || afterStop == 0 && !includeStop) {
      return false;
    }
    byte[] qualifier = CellUtil.cloneQualifier(cell);
    return qualifiers.isEmpty() || Questions.deletesFamily(cell)
        || qualifiers.stream().anyMatch(q -> Bytes.equals(q, qualifier));
  }

  @Override
  public String toString() {
    String columns = qualifiers.isEmpty() ? "*" : qualifiers.stream()
        .map(Question::hex).collect(Collectors.joining(","));
    return String.join("\t", Question.hex(start), includeStart ? "1" : "0",
        Question.hex(stop), includeStop ? "1" : "0", columns);
  }
}
