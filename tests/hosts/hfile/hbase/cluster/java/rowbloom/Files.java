// SPDX-License-Identifier: Apache-2.0
//
// The store files of HBase's file system, as an operator handles them with
// `hdfs dfs`. Outside it they are DIRECTORY/REGION/FAMILY/FILE.

package rowbloom;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.FileUtil;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.TableName;
import org.apache.hadoop.hbase.client.RegionInfo;
import org.apache.hadoop.hbase.io.HFileLink;
import org.apache.hadoop.hbase.snapshot.SnapshotDescriptionUtils;
import org.apache.hadoop.hbase.snapshot.SnapshotReferenceUtil;
import org.apache.hadoop.hbase.util.CommonFSUtils;
import org.apache.hadoop.hbase.util.HFileArchiveUtil;

final class Files {
  private static final String FAMILY = new String(Orders.FAMILY);
  private static final int NAME_DIGITS = 32;

  private final Configuration conf;
  private final FileSystem fs;
  private final Path root;
  private final Path staged;  // In the same file system, outside of HBase's.

  Files(Configuration conf) throws IOException {
    this.conf = conf;
    root = CommonFSUtils.getRootDir(conf);
    fs = root.getFileSystem(conf);
    staged = new Path(root.getParent(), "staged");
  }

  // Copies the store files of a table out.
  void get(TableName table, File to) throws IOException {
    for (FileStatus region : regions(CommonFSUtils.getTableDir(root, table))) {
      for (FileStatus file : fs.listStatus(
          new Path(region.getPath(), FAMILY))) {
        copyOut(file.getPath(), to, region.getPath().getName());
      }
    }
  }

  // The same of a snapshot, wherever HBase has moved its files meanwhile.
  void getSnapshot(String snapshot, TableName table, File to)
      throws IOException {
    SnapshotReferenceUtil.visitReferencedFiles(conf, fs,
        SnapshotDescriptionUtils.getCompletedSnapshotDir(snapshot, root),
        (region, family, file) -> {
          HFileLink link = HFileLink.build(conf, table,
              region.getEncodedName(), family, file.getName());
          copyOut(link.getAvailablePath(fs), to, region.getEncodedName());
        });
  }

  private void copyOut(Path file, File to, String region) throws IOException {
    Path directory = new Path(new File(to, region + "/" + FAMILY).toURI());
    FileUtil.copy(fs, file, FileSystem.getLocal(conf).getRaw(),
        new Path(directory, file.getName()), false, conf);
  }

  // Copies new files into the file system, where HBase does not look.
  void put(File from) throws IOException {
    fs.delete(staged, true);
    FileUtil.copy(FileSystem.getLocal(conf).getRaw(), new Path(from.toURI()), fs,
        staged, false, conf);
  }

  // Puts the new files of a closed region in the place of the old ones that are
  // still there, which go to HBase's archive. They get new names: the block
  // cache has blocks of the old ones by name, and HBase would use them.
  void swap(RegionInfo region) throws IOException {
    Path name = new Path(region.getEncodedName(), FAMILY);
    Path family = new Path(
        CommonFSUtils.getTableDir(root, region.getTable()), name);
    Path archive = HFileArchiveUtil.getStoreArchivePath(conf, region,
        CommonFSUtils.getTableDir(root, region.getTable()),
        Orders.FAMILY);
    fs.mkdirs(archive);
    for (FileStatus file : fs.listStatus(new Path(staged, name))) {
      String old = file.getPath().getName();
      if (!fs.exists(new Path(family, old))) continue;
      rename(new Path(family, old), new Path(archive, old));
      rename(file.getPath(), new Path(family,
          UUID.randomUUID().toString().replace("-", "")
              + old.substring(NAME_DIGITS)));
    }
  }

  private void rename(Path from, Path to) throws IOException {
    if (!fs.rename(from, to)) throw new IOException("cannot move " + from);
  }

  private FileStatus[] regions(Path directory) throws IOException {
    return fs.listStatus(directory,
        path -> path.getName().length() == NAME_DIGITS);
  }

  // Directories of families' files, as a bulk load takes them.
  List<Path> stagedRegions() throws IOException {
    List<Path> found = new ArrayList<>();
    for (FileStatus region : regions(staged)) found.add(region.getPath());
    return found;
  }

  // Bytes that were read from and written to the file system by this process.
  long[] moved() {
    long[] moved = new long[2];
    for (FileSystem.Statistics of : FileSystem.getAllStatistics()) {
      if (!of.getScheme().equals(fs.getScheme())) continue;
      moved[0] += of.getBytesRead();
      moved[1] += of.getBytesWritten();
    }
    return moved;
  }
}
