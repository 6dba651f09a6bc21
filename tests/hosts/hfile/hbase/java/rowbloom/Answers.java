// SPDX-License-Identifier: Apache-2.0
//
// Prints HBase's answers to a table of questions, or compares them with the
// answers in the table.

package rowbloom;

import java.io.IOException;
import java.nio.file.Path;
import org.apache.hadoop.hbase.io.hfile.HFile;
import org.apache.hadoop.hbase.regionserver.FilterAnswers;

final class Answers {
  private Answers() {}

  static void print(Path file, Path questions) throws IOException {
    StringBuilder table = new StringBuilder();
    try (FilterAnswers filters = StoreFiles.open(file)) {
      for (Question question : Question.read(questions)) {
        table.append(question).append(
            question.answer(filters) ? "\t1\n" : "\t0\n");
      }
      if (filters.hasLostFilter()) {
        throw new IOException(file + ": HBase cannot read its filter");
      }
    }
    System.out.print(table);
  }

  // Returns false if an answer differs; the printed JSON counts such answers.
  static boolean compare(Path file, Path questions) throws IOException {
    int asked = 0;
    int onlyHBaseMaybe = 0;
    int onlyTableMaybe = 0;
    boolean isReadable;
    try (FilterAnswers filters = StoreFiles.open(file)) {
      for (Question question : Question.read(questions)) {
        boolean answer = question.answer(filters);
        ++asked;
        if (answer && !question.expected()) ++onlyHBaseMaybe;
        if (!answer && question.expected()) ++onlyTableMaybe;
      }
      isReadable = !filters.hasLostFilter();
    }
    long unchecked = HFile.getAndResetChecksumFailuresCount();
    System.out.printf("""
        {"file": "%s", "questions": %d, "only_hbase_maybe": %d, \
        "only_table_maybe": %d, "checksum_failures": %d, \
        "filters_readable": %b}
        """, file.getFileName(), asked, onlyHBaseMaybe, onlyTableMaybe,
        unchecked, isReadable);
    return asked > 0 && onlyHBaseMaybe == 0 && onlyTableMaybe == 0
        && unchecked == 0 && isReadable;
  }
}
