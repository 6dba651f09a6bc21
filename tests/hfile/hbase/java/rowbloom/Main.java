// SPDX-License-Identifier: Apache-2.0
//
// HBase's own store file writer and reader on the command line.

package rowbloom;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.hbase.regionserver.FilterAnswers;

public final class Main {
  private static final String USAGE = """
      usage: hbase_peer.sh COMMAND
        golden SPECS DIRECTORY   write the files of SPECS and HBase's answers
        write SPEC FILE          write one file, e.g. 'name=x rows=1000'
        answer FILE QUESTIONS    print QUESTIONS with HBase's answers
        check FILE               read all cells and find each in the filters
        bench FILE QUESTIONS     lookups per second, and time to open
      QUESTIONS: lines of ROW|ROWCOL|DELFAM, row, qualifier ('-' is empty), in
      hexadecimal and with tabs between them. check and bench print JSON.
      Exit codes: 0 fine, 1 bad data, 2 usage.
      """;

  private Main() {}

  public static void main(String[] args) throws Exception {
    // Before the first logger: HBase tells of filters that it gives up.
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
    int expected = args.length > 0 && args[0].equals("check") ? 2 : 3;
    if (args.length != expected) usage();
    switch (args[0]) {
      case "golden" -> golden(Path.of(args[1]), Path.of(args[2]));
      case "write" -> {
        Spec spec = new Spec(args[1]);
        StoreFiles.write(spec, Cells.of(spec), path(args[2]));
      }
      case "answer" -> answer(Path.of(args[1]), Path.of(args[2]));
      case "check" -> System.exit(Check.run(Path.of(args[1])) ? 0 : 1);
      case "bench" -> Bench.run(Path.of(args[1]),
          Question.read(Path.of(args[2])));
      default -> usage();
    }
    System.exit(0);  // HBase's caches have threads.
  }

  private static void usage() {
    System.err.print(USAGE);
    System.exit(2);
  }

  private static org.apache.hadoop.fs.Path path(String file) {
    return new org.apache.hadoop.fs.Path(Path.of(file).toUri());
  }

  private static void golden(Path specs, Path directory) throws IOException {
    for (String line : Files.readAllLines(specs)) {
      if (!line.isBlank() && line.charAt(0) != '#') {
        Spec spec = new Spec(line);
        Golden.write(spec, directory);
        System.err.println(spec.get("name"));
      }
    }
  }

  private static void answer(Path file, Path questions) throws IOException {
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
}
