// SPDX-License-Identifier: Apache-2.0
//
// Gives the answers of a region server's reader from the Bloom filters of a
// store file. It is in HBase's package because the methods that decide are not
// public.

package org.apache.hadoop.hbase.regionserver;

import java.io.Closeable;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.client.Get;
import org.apache.hadoop.hbase.client.Scan;
import org.apache.hadoop.hbase.io.hfile.BloomFilterMetrics;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.util.BloomFilter;

public final class FilterAnswers implements Closeable {
  private final byte[] family;
  private final HStoreFile file;
  private final StoreFileReader reader;
  private final BloomFilter general;
  private final BloomFilter deleteFamily;

  public FilterAnswers(Configuration conf, FileSystem fs, Path path,
      CacheConfig cache, byte[] family) throws IOException {
    this.family = family;
    FileStatus status = fs.getFileStatus(path);
    StoreFileInfo info = new StoreFileInfo(conf, fs,
        status.getModificationTime(), path, status.getLen(), null, null, true);
    // The column family's type only says whether filters are used; the file
    // says which one.
    file = new HStoreFile(info, BloomType.ROW, cache,
        new BloomFilterMetrics());
    file.initReader();
    reader = file.getReader();
    general = reader.generalBloomFilter;
    deleteFamily = reader.deleteFamilyBloomFilter;
  }

  public StoreFileReader reader() {
    return reader;
  }

  // Returns null if the file has no general filter.
  public BloomFilter general() {
    return general;
  }

  public BloomFilter deleteFamily() {
    return deleteFamily;
  }

  // A reader drops a filter that it cannot read and says "maybe" from then on.
  public boolean hasLostFilter() {
    return reader.generalBloomFilter != general
        || reader.deleteFamilyBloomFilter != deleteFamily;
  }

  public boolean row(byte[] row) {
    return read(new Scan(new Get(row)));
  }

  public boolean column(byte[] row, byte[] qualifier) {
    return read(new Scan(new Get(row).addColumn(family, qualifier)));
  }

  public boolean read(Scan scan) {
    return reader.passesBloomFilter(scan, scan.getFamilyMap().get(family));
  }

  public boolean familyDelete(byte[] row) {
    return reader.passesDeleteFamilyBloomFilter(row, 0, row.length);
  }

  @Override
  public void close() throws IOException {
    file.closeStoreFile(true);
  }
}
