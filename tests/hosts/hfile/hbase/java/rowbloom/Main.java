// SPDX-License-Identifier: Apache-2.0
//
// HBase's own store file writer and reader on the command line.

package rowbloom;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

public final class Main {
  private static final String USAGE = """
      usage: hbase_peer.sh COMMAND
        golden SPECS DIRECTORY       write the files of SPECS, HBase's answers
        write SPEC FILE              write one file: 'name=x type=ROW rows=10'
        ask SPEC COUNT               print questions, half of them for its rows
        check FILE...                read all cells, find each in the filters
        answer FILE QUESTIONS        print QUESTIONS with HBase's answers
        compare {FILE QUESTIONS}...  count what HBase answers otherwise
        bench FILE QUESTIONS         lookups per second, and time to open
      QUESTIONS: lines of kind (ROW, ROWCOL, DELFAM), row and qualifier ('-' is
      empty) in hexadecimal, with tabs between them; may be compressed by gzip.
      compare expects the answer behind them (1 maybe, 0 no). check, compare and
      bench print JSON. Exit codes: 0 fine, 1 bad data, 2 usage.
      """;

  private Main() {}

  public static void main(String[] args) {
    // This must precede the first logger: HBase logs filters that it gives up.
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "error");
    int exitCode = 1;
    try {
      exitCode = run(args) ? 0 : 1;
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage().strip());
      exitCode = 2;
    } catch (IOException e) {
      System.err.println("hbase_peer: " + e);
    }
    System.exit(exitCode);  // HBase's caches have threads.
  }

  private static boolean run(String[] args) throws IOException {
    String command = args.length > 0 ? args[0] : "";
    boolean isGood = true;
    if (command.equals("check") && args.length > 1) {
      for (int i = 1; i < args.length; ++i) {
        isGood &= Check.run(Path.of(args[i]));
      }
    } else if (command.equals("compare") && args.length % 2 == 1) {
      for (int i = 1; i < args.length; i += 2) {
        isGood &= Answers.compare(Path.of(args[i]), Path.of(args[i + 1]));
      }
    } else if (args.length == 3) {
      switch (command) {
        case "golden" -> golden(Path.of(args[1]), Path.of(args[2]));
        case "write" -> {
          Spec spec = new Spec(args[1]);
          StoreFiles.write(spec, Cells.of(spec), Path.of(args[2]));
        }
        case "ask" -> Questions.printRows(Cells.of(new Spec(args[1])),
            Integer.parseInt(args[2]));
        case "answer" -> Answers.print(Path.of(args[1]), Path.of(args[2]));
        case "bench" -> Bench.run(Path.of(args[1]), Path.of(args[2]));
        default -> isGood = usage();
      }
    } else {
      isGood = usage();
    }
    return isGood;
  }

  private static boolean usage() {
    throw new IllegalArgumentException(USAGE);
  }

  private static void golden(Path specs, Path directory) throws IOException {
    for (String line : Files.readAllLines(specs)) {
      if (line.isBlank() || line.charAt(0) == '#') continue;
      Spec spec = new Spec(line);
      System.err.println(spec.get("name"));
      Golden.write(spec, directory);
    }
  }
}
