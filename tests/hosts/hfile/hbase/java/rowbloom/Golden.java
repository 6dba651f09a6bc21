// SPDX-License-Identifier: Apache-2.0
//
// Writes a file and HBase's answers about it. The README of the golden data
// describes both.

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
  private static final String HOLDS = "\tholds(1=has such cells)";

  private Golden() {}

  static void write(Spec spec, Path directory) throws IOException {
    List<KeyValue> cells = Cells.of(spec);
    Questions questions = new Questions(spec, cells);
    Path path = directory.resolve(spec.get("name"));
    Path file = Path.of(path + ".hfile");
    Files.deleteIfExists(file);
    StoreFiles.write(spec, cells, file);
    try (FilterAnswers filters = StoreFiles.open(file)) {
      describe(spec, cells, filters, Path.of(path + ".desc.txt"));
      if (!spec.getBoolean("asked")) return;
      answer(spec, questions, filters, path);
      // Read.wants() compares bytes, hbase:meta does not.
      if (!spec.getBoolean("meta")) {
        answerReads(questions, cells, filters, path);
      }
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

  private static void answer(Spec spec, Questions questions,
      FilterAnswers filters, Path path) throws IOException {
    boolean isOrdered = !spec.get("keys").equals("binaryRegions");
    StringBuilder table = new StringBuilder("# kind\trow_hex\tqual_hex"
        + "\texpected(1=may contain)" + (isOrdered ? "" : HOLDS) + ANSWERED);
    for (Question question : questions.points()) {
      boolean answer = question.answer(filters);
      boolean holds = questions.isPresent(question);
      if (isOrdered && holds && !answer) {
        throw new IOException(path + ": HBase does not find " + question);
      }
      table.append(question).append(answer ? "\t1" : "\t0")
          .append(isOrdered ? "" : holds ? "\t1" : "\t0").append('\n');
    }
    writeGz(path + (isOrdered ? ".queries.tsv.gz" : ".unordered.tsv.gz"),
        table);
  }

  private static void answerReads(Questions questions, List<KeyValue> cells,
      FilterAnswers filters, Path path) throws IOException {
    StringBuilder table = new StringBuilder("# start_hex\tincluded\tstop_hex"
        + "\tincluded\tquals_hex\texpected(1=may contain)" + HOLDS
        + ANSWERED);
    for (Read read : questions.reads()) {
      boolean answer = filters.read(read.scan());
      boolean holds = cells.stream().anyMatch(read::wants);
      if (holds && !answer) {
        throw new IOException(path + ": HBase skips it for " + read);
      }
      table.append(read).append(answer ? "\t1" : "\t0")
          .append(holds ? "\t1\n" : "\t0\n");
    }
    writeGz(path + ".reads.tsv.gz", table);
  }

  private static void writeGz(String path, CharSequence text)
      throws IOException {
    try (OutputStream out =
        new GZIPOutputStream(Files.newOutputStream(Path.of(path)))) {
      out.write(text.toString().getBytes(StandardCharsets.US_ASCII));
    }
  }
}
