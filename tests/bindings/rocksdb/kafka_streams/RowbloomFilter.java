// SPDX-License-Identifier: Apache-2.0

import org.rocksdb.Filter;
import org.rocksdb.RocksDB;

/** A filter policy by its text, for BlockBasedTableConfig.setFilterPolicy(). */
public class RowbloomFilter extends Filter {
  static {
    RocksDB.loadLibrary(); // rowbloom's library needs it.
    System.loadLibrary("rowbloom_jni");
  }

  /** Throws IllegalArgumentException if the text is wrong. */
  public RowbloomFilter(String text) {
    super(create(text));
  }

  private static native long create(String text);
}
