// SPDX-License-Identifier: Apache-2.0
//
// Reads a file whole with HBase's reader: every checksum is right, every cell
// is in order, can be sought, and is found in the filters. HBase itself goes on
// after a wrong checksum if the file system reports no error.

package rowbloom;

import java.io.IOException;
import java.nio.file.Path;
import java.util.zip.CRC32;
import org.apache.hadoop.hbase.Cell;
import org.apache.hadoop.hbase.CellComparator;
import org.apache.hadoop.hbase.CellUtil;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.KeyValueUtil;
import org.apache.hadoop.hbase.PrivateCellUtil;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.io.hfile.HFileScanner;
import org.apache.hadoop.hbase.regionserver.FilterAnswers;

final class Check {
  private final FilterAnswers filters;
  private final HFile.Reader reader;
  private final CRC32 crc = new CRC32();
  private long cells;
  private long disordered;
  private long unsought;
  private long lost;

  private Check(FilterAnswers filters) {
    this.filters = filters;
    reader = filters.reader().getHFileReader();
  }

  // Returns false if the file is bad; the printed JSON explains why.
  static boolean run(Path file) throws IOException {
    try (FilterAnswers filters = StoreFiles.open(file)) {
      Check check = new Check(filters);
      check.readCells();
      return check.report(file);
    }
  }

  private HFileScanner scanner() {
    return reader.getScanner(StoreFiles.conf(), false, true);
  }

  private void readCells() throws IOException {
    CellComparator comparator = reader.getComparator();
    try (HFileScanner walk = scanner(); HFileScanner seek = scanner()) {
      KeyValue previous = null;
      for (boolean more = walk.seekTo(); more; more = walk.next()) {
        KeyValue cell = KeyValueUtil.copyToNewKeyValue(walk.getCell());
        boolean isRepeated = false;
        if (previous != null) {
          int order = PrivateCellUtil.compareKeyIgnoresMvcc(comparator,
              previous, cell);
          isRepeated = order == 0;
          if (order > 0) ++disordered;
        }
        if (!isRepeated && seek.seekTo(key(cell)) != 0) ++unsought;
        if (!isFound(cell)) ++lost;
        Cells.digest(cell, crc);
        ++cells;
        previous = cell;
      }
    }
  }

  // The key lacks the sequence id, as the data index does.
  private static Cell key(KeyValue cell) {
    return new KeyValue.KeyOnlyKeyValue(
        PrivateCellUtil.getCellKeySerializedAsKeyValueKey(cell));
  }

  private boolean isFound(KeyValue cell) {
    byte[] row = CellUtil.cloneRow(cell);
    return filters.row(row)
        && filters.column(row, CellUtil.cloneQualifier(cell))
        && (!Questions.deletesFamily(cell) || filters.familyDelete(row));
  }

  private boolean report(Path file) {
    long unchecked = HFile.getAndResetChecksumFailuresCount();
    boolean isGood = unchecked == 0 && disordered == 0 && unsought == 0
        && lost == 0 && cells == reader.getEntries()
        && !filters.hasLostFilter();
    System.out.printf("""
        {"file": "%s", "good": %b, "cells": %d, "cells_of_trailer": %d, \
        "checksum_failures": %d, "cells_out_of_order": %d, \
        "cells_not_sought": %d, \
        "cells_not_in_filters": %d, "crc32": "%08x", "bloom_type": "%s", \
        "general_filter": %b, "delete_family_filter": %b, \
        "filters_readable": %b}
        """, file.getFileName(), isGood, cells, reader.getEntries(), unchecked,
        disordered, unsought, lost, crc.getValue(),
        filters.reader().getBloomFilterType(), filters.general() != null,
        filters.deleteFamily() != null, !filters.hasLostFilter());
    return isGood;
  }
}
