// SPDX-License-Identifier: Apache-2.0
//
// Writes a file and what HBase says of it: NAME.hfile, NAME.desc.txt,
// NAME.queries.tsv.gz, NAME.reads.tsv.gz. The README beside them describes
// them.

package rowbloom;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.GZIPOutputStream;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.regionserver.FilterAnswers;
import org.apache.hadoop.hbase.util.BloomFilter;
import org.apache.hadoop.hbase.util.VersionInfo;

final class Golden {
  private static final String ANSWERED =
      " -- answers of HBase " + VersionInfo.getVersion() + "\n";

  private Golden() {}

  static void write(Spec spec, Path directory) throws IOException {
    List<KeyValue> cells = Cells.of(spec);
    Questions questions = new Questions(spec, cells);
    Path file = directory.resolve(spec.get("name") + ".hfile");
    Files.deleteIfExists(file);
    StoreFiles.write(spec, cells,
        new org.apache.hadoop.fs.Path(file.toUri()));
    try (FilterAnswers filters = StoreFiles.open(file)) {
      describe(spec, cells, filters,
          directory.resolve(spec.get("name") + ".desc.txt"));
      if (spec.getBoolean("encrypted") || spec.get("comp").equals("LZO")) {
        return;  // Only HBase can answer.
      }
      answer(spec, questions, filters, directory);
      answerReads(spec, questions, cells, filters, directory);
      if (filters.hasLostFilter()) {
        throw new IOException(file + ": HBase cannot read its filter");
      }
    }
  }

  private static void describe(Spec spec, List<KeyValue> cells,
      FilterAnswers filters, Path path) throws IOException {
    CRC32 crc = new CRC32();
    for (KeyValue cell : cells) Cells.digest(cell, crc);
    Files.writeString(path, spec + "\n"
        + "general: " + summary(filters.general()) + "\n"
        + "deleteFamily: " + summary(filters.deleteFamily()) + "\n"
        + "cells: " + cells.size()
        + " deleteFamilyCount=" + filters.reader().getDeleteFamilyCnt()
        + String.format(" crc32=%08x\n", crc.getValue()));
  }

  private static String summary(BloomFilter filter) {
    return filter == null ? "null" : filter.toString().replace('\n', ' ');
  }

  // What HBase wrongly calls absent goes to a table of its own.
  private static void answer(Spec spec, Questions questions,
      FilterAnswers filters, Path directory) throws IOException {
    String header =
        "# kind\trow_hex\tqual_hex\texpected(1=may contain)" + ANSWERED;
    StringBuilder table = new StringBuilder(header);
    StringBuilder lost = new StringBuilder();
    for (Question question : questions.points()) {
      boolean answer = question.answer(filters);
      boolean isLost = !answer && questions.isPresent(question);
      (isLost ? lost : table).append(question)
          .append(answer ? "\t1\n" : "\t0\n");
    }
    Path path = directory.resolve(spec.get("name"));
    writeGz(path + ".queries.tsv.gz", table);
    if (lost.length() > 0) writeGz(path + ".lost.tsv.gz", header + lost);
  }

  private static void answerReads(Spec spec, Questions questions,
      List<KeyValue> cells, FilterAnswers filters, Path directory)
      throws IOException {
    if (spec.getBoolean("meta")) return;  // Read.wants() compares bytes.
    StringBuilder table = new StringBuilder("# start_hex\tincluded\tstop_hex"
        + "\tincluded\tquals_hex\texpected(1=may contain)"
        + "\tholds(1=has such cells)" + ANSWERED);
    for (Read read : questions.reads()) {
      boolean answer = filters.read(read.scan());
      boolean holds = cells.stream().anyMatch(read::wants);
      if (holds && !answer) {
        throw new IOException(spec.get("name") + ": HBase skips the file for "
            + read);
      }
      table.append(read).append(answer ? "\t1" : "\t0")
          .append(holds ? "\t1\n" : "\t0\n");
    }
    writeGz(directory.resolve(spec.get("name")) + ".reads.tsv.gz", table);
  }

  private static void writeGz(String path, CharSequence text)
      throws IOException {
    try (OutputStream out =
        new GZIPOutputStream(Files.newOutputStream(Path.of(path)))) {
      out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
    }
  }
}
