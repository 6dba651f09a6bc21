// SPDX-License-Identifier: Apache-2.0
//
// A question to the filters of a file, and its line in a table: kind, row and
// qualifier in hexadecimal, "-" where there are no bytes, and the answer that
// is expected, if there is one.

package rowbloom;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.apache.hadoop.hbase.regionserver.FilterAnswers;

record Question(Kind kind, byte[] row, byte[] qualifier, boolean expected) {
  enum Kind { ROW, ROWCOL, DELFAM }

  Question(Kind kind, byte[] row, byte[] qualifier) {
    this(kind, row, qualifier, true);
  }

  private static Question parse(String line) {
    String[] fields = line.split("\t");
    if (fields.length < 3) {
      throw new IllegalArgumentException("three fields expected: " + line);
    }
    return new Question(Kind.valueOf(fields[0]), fromHex(fields[1]),
        fromHex(fields[2]), fields.length > 3 && fields[3].equals("1"));
  }

  // Reads a table that may be compressed.
  static List<Question> read(Path path) throws IOException {
    List<Question> questions = new ArrayList<>();
    try (InputStream file = Files.newInputStream(path);
        BufferedReader lines = new BufferedReader(new InputStreamReader(
            path.toString().endsWith(".gz") ? new GZIPInputStream(file) : file,
            StandardCharsets.US_ASCII))) {
      for (String line; (line = lines.readLine()) != null;) {
        if (!line.isEmpty() && line.charAt(0) != '#') {
          questions.add(parse(line));
        }
      }
    }
    return questions;
  }

  boolean answer(FilterAnswers filters) {
    return switch (kind) {
      case ROW -> filters.row(row);
      case ROWCOL -> filters.column(row, qualifier);
      case DELFAM -> filters.familyDelete(row);
    };
  }

  static String hex(byte[] bytes) {
    return bytes.length == 0 ? "-" : HexFormat.of().formatHex(bytes);
  }

  static byte[] fromHex(String hex) {
    return hex.equals("-") ? new byte[0] : HexFormat.of().parseHex(hex);
  }

  @Override
  public String toString() {
    return kind + "\t" + hex(row) + "\t" + hex(qualifier);
  }
}
