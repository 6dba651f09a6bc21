// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import rowbloom.BlockReader.Answer;
import rowbloom.BlockReader.Options;
import rowbloom.BlockReader.Question;
import rowbloom.Stats.Counter;

class RowbloomTest {
  private static final int ROWS = 10000;

  private static byte[] utf8(String text) {
    return text.getBytes(UTF_8);
  }

  private static byte[] rowBytes(int i) {
    return utf8(String.format("row%06d", i));
  }

  private static Key row(int i) {
    return Key.row(rowBytes(i));
  }

  private static Key cell(int i) {
    return Key.cell(rowBytes(i), utf8("q"));
  }

  private static RowbloomException thrown(Code code, String message, Runnable call) {
    RowbloomException e = assertThrows(RowbloomException.class, call::run);
    assertEquals(code, e.code(), e.getMessage());
    assertTrue(e.getMessage().startsWith(message), e.getMessage());
    return e;
  }

  /** A block of the cells. */
  private static byte[] block(String options, Iterable<Key> cells) {
    ByteArrayOutputStream sink = new ByteArrayOutputStream();
    try (BlockWriter writer = new BlockWriter(options, sink)) {
      for (Key cell : cells) writer.add(cell);
      assertEquals(writer.finish().sizeBytes(), sink.size());
    }
    return sink.toByteArray();
  }

  /** The even ones of the rows. */
  private static byte[] evenRows() {
    List<Key> cells = new ArrayList<>();
    for (int i = 0; i < ROWS; i += 2) cells.add(cell(i));
    return block("bloom_type=ROWCOL;filter_spec=compact;chunk_size_bytes=4096", cells);
  }

  /** Counts its reads; fails from the second on if it is told to. */
  private static final class Bytes implements Source {
    final byte[] bytes;
    final AtomicInteger reads = new AtomicInteger();
    Throwable failure;

    Bytes(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public void read(long offset, ByteBuffer to) throws IOException {
      if (reads.getAndIncrement() > 0) {
        if (failure instanceof IOException e) throw e;
        if (failure instanceof Error e) throw e;
      }
      Source.of(bytes).read(offset, to);
    }

    BlockReader open(Options options) {
      return new BlockReader(this, bytes.length, options);
    }
  }

  @Test
  void filterHasKeysOfEveryKindOfMemory() {
    byte[] bytes;
    try (FilterBuilder builder = new FilterBuilder("compact:bits_per_key=20")) {
      builder.add(Key.row(new byte[0]));
      builder.add(Key.cell(utf8("row"), new byte[0]));
      for (int i = 0; i < 100; ++i) builder.add(cell(i));
      builder.add(Key.row(new byte[1 << 16]));
      bytes = builder.finish();
    }
    try (Arena arena = Arena.ofConfined();
        Filter filter = new Filter(bytes);
        Filter view =
            new Filter(arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes)))) {
      filter.verify();
      view.verify();
      MemorySegment nothing = MemorySegment.NULL;
      List<Key> there =
          new ArrayList<>(
              List.of(
                  Key.row(nothing),
                  Key.row(ByteBuffer.allocateDirect(0)),
                  Key.cell(MemorySegment.ofArray(utf8("row")), nothing),
                  Key.cell(ByteBuffer.wrap(utf8("a row b"), 2, 3), ByteBuffer.allocate(0)),
                  Key.row(arena.allocate(1 << 16))));
      for (int i = 0; i < 100; ++i) {
        there.add(cell(i));
        ByteBuffer direct = ByteBuffer.allocateDirect(12).put(3, rowBytes(i)).position(3);
        there.add(Key.cell(direct, ByteBuffer.wrap(utf8("q")).asReadOnlyBuffer()));
        there.add(
            Key.cell(
                arena.allocateFrom(new String(rowBytes(i), UTF_8)).asSlice(0, 9),
                MemorySegment.ofArray(utf8("aqb")).asSlice(1, 1)));
      }
      for (Key key : there) {
        assertTrue(filter.mayContain(key));
        assertTrue(view.mayContain(key));
      }
      assertFalse(filter.mayContain(Key.row(utf8("row"))));
      assertFalse(filter.mayContain(Key.cell(new byte[0], new byte[0])));
      assertFalse(filter.mayContain(Key.cell(utf8("a row b"), new byte[0])));
    }
    thrown(Code.DATA_LOSS, "", () -> new Filter(new byte[0]));
    thrown(
        Code.INVALID_ARGUMENT,
        "unknown filter family \"ribbon\"; known: ",
        () -> new FilterBuilder("ribbon"));
    thrown(Code.INVALID_ARGUMENT, "a zero byte in ", () -> new FilterBuilder("fast\0"));
    assertThrows(NullPointerException.class, () -> new FilterBuilder(null));
  }

  @Test
  void damagedFilterIsNotOpened() {
    byte[] bytes;
    try (FilterBuilder builder = new FilterBuilder("compact")) {
      for (int i = 0; i < ROWS; ++i) builder.add(row(i));
      bytes = builder.finish();
    }
    try (Filter filter = Filter.openUnverified(bytes)) {
      for (int i = 0; i < ROWS; ++i) assertTrue(filter.mayContain(row(i)));
    }
    Arrays.fill(bytes, 0, 64, (byte) 0);
    thrown(Code.DATA_LOSS, "", () -> new Filter(bytes));
    try (Arena arena = Arena.ofConfined();
        Filter filter = Filter.openUnverified(bytes)) {
      MemorySegment view = arena.allocate(bytes.length).copyFrom(MemorySegment.ofArray(bytes));
      thrown(Code.DATA_LOSS, "", () -> new Filter(view));
      thrown(Code.DATA_LOSS, "", filter::verify);
      Filter.openUnverified(view).close();
    }
  }

  @Test
  void manyAddsAreThoseOfSingleAdds() {
    Key[] keys = {
      Key.row(new byte[0]), Key.cell(utf8("a"), new byte[0]), cell(1),
      Key.row(ByteBuffer.allocateDirect(9).put(0, rowBytes(2)))
    };
    try (FilterBuilder builder = new FilterBuilder("compact")) {
      for (Key key : keys) builder.add(key);
      byte[] filter = builder.finish();
      builder.addMany(keys);
      builder.addMany();
      assertArrayEquals(filter, builder.finish());
    }
    ByteArrayOutputStream sink = new ByteArrayOutputStream();
    try (BlockWriter writer = new BlockWriter("", sink)) {
      writer.addMany(keys);
      writer.finish();
    }
    assertArrayEquals(block("", List.of(keys)), sink.toByteArray());
    Key freed;
    try (Arena arena = Arena.ofShared()) {
      freed = Key.row(arena.allocateFrom("gone"));
    }
    try (FilterBuilder builder = new FilterBuilder("compact")) {
      assertThrows(IllegalStateException.class, () -> builder.addMany(freed));
    }
  }

  @Test
  void readerAnswersAsItsBlockDoes() {
    byte[] file = evenRows();
    Bytes source = new Bytes(file);
    Cache cache = new Cache(1 << 20);
    try (Stats stats = new Stats();
        BlockReader reader =
            source.open(
                new Options()
                    .name("12.sst")
                    .block(0, file.length)
                    .text("always_load=true;level=2;file_id=5")
                    .cache(cache)
                    .stats(stats))) {
      BlockReader.Asked asked = reader.ask(row(1));
      assertEquals(Answer.NOT_IN_MEMORY, asked.answer());
      BlockReader.Load load = asked.load();
      byte[] chunk =
          Arrays.copyOfRange(file, (int) load.offset(), (int) (load.offset() + load.sizeBytes()));
      assertEquals(Answer.MAYBE, reader.offerFailure(load, new IOException("EIO"), row(1)));
      assertEquals(
          Answer.MAYBE, reader.offer(load, ByteBuffer.wrap(chunk, 1, chunk.length - 1), row(1)));
      assertEquals(Answer.NO, reader.offer(load, ByteBuffer.wrap(chunk), row(1)));
      assertEquals(Answer.NO, reader.ask(row(1)).answer());
      assertEquals(Answer.MAYBE, reader.ask(row(2)).answer());
      assertNull(reader.ask(row(2)).load());
      assertEquals(1, source.reads.get());
      for (int i = 0; i < ROWS; i += 2) {
        assertTrue(reader.mayContain(row(i)));
        assertTrue(reader.mayContain(cell(i)));
      }
      BlockReader[] readers = {reader, null, reader};
      assertArrayEquals(
          new boolean[] {false, true, false}, BlockReader.mayContainEach(readers, row(1)));
      assertArrayEquals(
          new boolean[] {true, true, true}, BlockReader.mayContainEach(readers, row(2)));
      reader.tellOutcome(true, 4096);
      reader.tellOutcome(false, BlockReader.UNKNOWN_BYTES);
      stats.add(Counter.OPEN_ERRORS, 3);
      Stats.Counters counters = stats.counters();
      assertEquals(1, counters.truePositives());
      assertEquals(1, counters.falsePositives());
      assertEquals(2, counters.loadErrors());
      assertEquals(3, counters.openErrors());
      assertArrayEquals(new int[] {2}, Arrays.stream(stats.levels()).filter(l -> l >= 0).toArray());
      assertEquals(counters.lookups(), stats.counters(2).lookups());
      assertEquals(counters.lookups(), reader.counters().lookups());
      assertEquals(0, stats.get(1, Counter.LOOKUPS));
      assertTrue(stats.prometheus().contains("rowbloom_lookups_total"));

      Cache.Usage usage = cache.usage();
      assertEquals(1 << 20, usage.capacityBytes());
      assertTrue(usage.chunkBytes() > 0 && usage.inserts() > 0, usage.toString());
      assertTrue(cache.usageText().contains("chunk_bytes " + usage.chunkBytes() + "\n"));
      assertTrue(cache.usageText().contains("rejections " + usage.rejections() + "\n"));

      BlockReader.Properties properties = reader.properties();
      assertEquals(ROWS / 2, properties.cells());
      assertEquals(ROWS, properties.keys());
      assertEquals(5, properties.fileId());
      assertTrue(properties.hasRowKeys() && properties.isWithinCapacity());
      assertEquals("ROWCOL", properties.bloomType());
      assertEquals("", properties.keyCodec());
      assertEquals("row000000", new String(properties.firstRow(), UTF_8));
      assertEquals("row009998", new String(properties.lastRow(), UTF_8));
      assertEquals("q", new String(properties.lastQualifier(), UTF_8));
      reader.verify();
      cache.eraseFile(5);
      cache.setCapacity(0);
      cache.close(); // The reader keeps it.
      assertTrue(reader.mayContain(row(0)));
    }
    assertEquals(new Cache.Usage(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), cache.usage());
  }

  @Test
  void fileIsASource(@TempDir Path directory) throws IOException {
    byte[] block = evenRows();
    byte[] file = new byte[block.length + 7];
    System.arraycopy(block, 0, file, 7, block.length);
    Path path = Files.write(directory.resolve("1.sst"), file);
    try (FileChannel channel = FileChannel.open(path);
        BlockReader reader =
            new BlockReader(
                Source.of(channel),
                channel.size(),
                new Options().block(7, BlockReader.TO_THE_END).text("always_load=true"))) {
      reader.verify();
      for (int i = 0; i < ROWS; i += 2) assertTrue(reader.mayContain(row(i)));
      assertFalse(reader.mayContain(row(1)));
    }
    try (FileChannel channel = FileChannel.open(path)) {
      RowbloomException e =
          thrown(
              Code.UNKNOWN,
              "java.io.EOFException: the file ends at ",
              () -> new BlockReader(Source.of(channel), file.length + 5));
      assertTrue(e.getCause() instanceof IOException);
    }
  }

  @Test
  void callbacksThatThrowAreErrors() {
    Error error = new StackOverflowError("deep");
    IOException full = new IOException("disk full");
    RowbloomException away = new RowbloomException(Code.UNAVAILABLE, "away", null);
    IOException mute =
        new IOException() {
          private static final long serialVersionUID = 1;

          @Override
          public String toString() {
            throw new IllegalStateException();
          }
        };
    record Case(Throwable thrown, Code code, String message) {}
    for (Case c :
        List.of(
            new Case(full, Code.UNKNOWN, "java.io.IOException: disk full"),
            new Case(away, Code.UNAVAILABLE, "away"),
            new Case(error, Code.UNKNOWN, "java.lang.StackOverflowError: deep"),
            new Case(mute, Code.UNKNOWN, "rowbloom.RowbloomTest$"),
            new Case(new IOException("é".repeat(1000)), Code.UNKNOWN, "java.io.IOException: éé"))) {
      OutputStream sink =
          new OutputStream() {
            @Override
            public void write(int b) throws IOException {
              if (c.thrown instanceof IOException e) throw e;
              if (c.thrown instanceof RuntimeException e) throw e;
              throw (Error) c.thrown;
            }
          };
      try (BlockWriter writer = new BlockWriter("", sink)) {
        assertSame(c.thrown, thrown(c.code, c.message, writer::finish).getCause());
      }
      // It throws while cells are added.
      try (BlockWriter writer = new BlockWriter("chunk_size_bytes=256", sink)) {
        for (int i = 0; i < ROWS; ++i) writer.add(row(i));
        assertSame(c.thrown, thrown(c.code, c.message, writer::finish).getCause());
      }
    }
    thrown(
        Code.UNKNOWN,
        "java.io.EOFException: the source read 1 of 100 bytes",
        () -> new BlockReader((offset, to) -> to.put((byte) 1), 100));
    Bytes source = new Bytes(evenRows());
    try (BlockReader reader = source.open(new Options().text("always_load=true"))) {
      source.failure = full;
      assertTrue(reader.mayContain(row(1)));
      assertEquals(1, reader.get(Counter.LOAD_ERRORS));
      try (MemFilter filter = new MemFilter("")) {
        Runnable add = () -> filter.add(Key.prefix(rowBytes(0)));
        assertNull(thrown(Code.INVALID_ARGUMENT, "a prefix", add).getCause());
      }
      assertSame(full, thrown(Code.UNKNOWN, "java.io.IOException", reader::verify).getCause());
    }
  }

  /** A callback's calls must not overwrite the arguments of the call that it is part of. */
  @Test
  void callbacksMayCall() {
    byte[] file = evenRows();
    try (BlockReader inner = new Bytes(file).open(new Options().text("prefetch=true"));
        MemFilter added = new MemFilter("");
        BlockReader outer =
            new BlockReader(
                (offset, to) -> {
                  for (int i = 0; i < 20; ++i) {
                    added.add(Key.cell(new byte[3000 + i], utf8("other")));
                    assertFalse(inner.mayContain(Key.row(new byte[100])));
                    thrown(Code.INVALID_ARGUMENT, "", () -> new KeyCodec("none"));
                  }
                  Source.of(file).read(offset, to);
                },
                file.length,
                new Options().text("always_load=true"))) {
      for (int i = 0; i < ROWS; i += 2) assertTrue(outer.mayContain(cell(i)));
    }
  }

  @Test
  void warmBlockReadsOnlyItsTail() {
    ByteArrayOutputStream sink = new ByteArrayOutputStream();
    try (Cache cache = new Cache(1 << 20);
        BlockWriter writer =
            new BlockWriter("file_id=9;chunk_size_bytes=1024", sink, cache)) {
      for (int i = 0; i < ROWS; i += 2) writer.add(row(i));
      BlockWriter.Info info = writer.finish();
      assertEquals(ROWS / 2, info.keyCount());
      assertTrue(info.chunkCount() > 3);
      Bytes source = new Bytes(sink.toByteArray());
      String options = "file_id=9;tail_size_bytes=" + info.tailSizeBytes();
      try (BlockReader reader = source.open(new Options().text(options).cache(cache))) {
        for (int i = 0; i < ROWS; i += 2) assertTrue(reader.mayContain(row(i)));
        assertFalse(reader.mayContain(row(1)));
        assertEquals(1, source.reads.get());
      }
      thrown(
          Code.INVALID_ARGUMENT,
          "writer options: file_id=0 is not 1 to",
          () -> new BlockWriter("", sink, cache));
    }
    assertThrows(NullPointerException.class, () -> new BlockWriter("file_id=9", sink, null));
  }

  @Test
  void schemaOfFourLevelsAnswersForEach() {
    String events = "tenant.fixed:4,user.delimiter:0x2f,day.fixed:2,at.rest";
    try (KeyCodec codec = new KeyCodec(events);
        Stats stats = new Stats()) {
      assertEquals(4, codec.segmentCount());
      byte[][] segments = {utf8("acme"), utf8("ann"), utf8("07"), utf8("login")};
      byte[] key = codec.encode(segments);
      assertEquals("acmeann/07login", new String(key, UTF_8));
      assertArrayEquals(segments, codec.decode(key));
      assertArrayEquals(new long[] {4, 8, 10, 15}, codec.keyLevels(key));
      KeyCodec.Bounds bounds = codec.bounds(utf8("acme"), utf8("ann"));
      assertEquals("acmeann/", new String(bounds.lower(), UTF_8));
      assertEquals("acmeann0", new String(bounds.upper(), UTF_8));

      String options = "filter_spec=compact:bits_per_key=20;key_codec=" + events;
      Bytes source = new Bytes(block(options, List.of(Key.row(key))));
      try (BlockReader reader =
          source.open(new Options().text("always_load=true;level=3").stats(stats))) {
        String[] absent = {"corp", "bob", "99"};
        for (int count = 1; count <= 3; ++count) {
          byte[][] asked = Arrays.copyOf(segments, count);
          byte[] prefix = codec.encodePrefix(asked);
          assertTrue(reader.mayContain(Key.prefix(prefix)));
          assertTrue(reader.mayContain(Key.prefix(ByteBuffer.wrap(prefix))));
          asked[count - 1] = utf8(absent[count - 1]);
          MemorySegment other = MemorySegment.ofArray(codec.encodePrefix(asked));
          assertFalse(reader.mayContain(Key.prefix(other)));
          assertEquals(3, stats.getOfKeyLevel(count, Counter.PREFIX_LOOKUPS));
          assertEquals(1, stats.getOfKeyLevel(count, Counter.PREFIX_NEGATIVES));
        }
        assertEquals(3, stats.get(3, Counter.PREFIX_NEGATIVES));
        assertEquals(events, reader.properties().keyCodec());
      }
      thrown(Code.INVALID_ARGUMENT, "", () -> codec.encodePrefix(utf8("acme corp")));
      thrown(Code.INVALID_ARGUMENT, "", codec::encodePrefix);
      thrown(Code.INVALID_ARGUMENT, "", codec::bounds);
      thrown(Code.INVALID_ARGUMENT, "", () -> codec.encode(new byte[9][0]));
      thrown(Code.INVALID_ARGUMENT, "", () -> codec.decode(utf8("ac")));
      assertEquals(0, codec.keyLevels(new byte[0]).length);
      codec.close();
      assertEquals(0, codec.segmentCount());
      thrown(Code.INVALID_ARGUMENT, "codec is NULL", () -> codec.decode(key));
    }
    try (KeyCodec codec = new KeyCodec("ordered")) {
      byte[] key = codec.encode(utf8("row\0"), utf8("q"));
      assertEquals("row\0?\0\1q\0\1", new String(key, UTF_8).replace('\ufffd', '?'));
      assertArrayEquals(new long[] {6, 9}, codec.prefixSizes(key));
      assertEquals("q", new String(codec.decode(key)[1], UTF_8));
    }
    try (FilterBuilder builder = new FilterBuilder("fast")) {
      builder.add(Key.prefix(utf8("acme")));
      thrown(Code.INVALID_ARGUMENT, "a prefix is no key to add", builder::finish);
    }
  }

  @Test
  void batchOverEightFilesAnswersAsSingleLookupsDo() {
    Key[] keys = new Key[4000];
    for (int i = 0; i < keys.length; ++i) {
      keys[i] = i % 2 == 0 ? row(i) : Key.row(ByteBuffer.allocateDirect(9).put(0, rowBytes(i)));
    }
    try (ReadGroup four = new ReadGroup(4)) {
      for (Optional<ReadGroup> group : List.of(Optional.<ReadGroup>empty(), Optional.of(four))) {
        Bytes[] sources = new Bytes[8];
        BlockReader[] readers = new BlockReader[8];
        Question[] questions = new Question[8 * keys.length];
        for (int f = 0; f < 8; ++f) {
          List<Key> part = Arrays.asList(keys).subList(500 * f, 500 * (f + 1));
          sources[f] = new Bytes(block("chunk_size_bytes=256", part));
          readers[f] =
              sources[f].open(new Options().text("always_load=true").group(group.orElse(null)));
          for (int i = 0; i < keys.length; ++i) {
            questions[8 * i + f] = new Question(readers[f], i);
          }
        }
        boolean[] answers = BlockReader.mayContainMany(keys, questions);
        int reads = Arrays.stream(sources).mapToInt(s -> s.reads.get()).sum();
        int maybes = 0;
        for (int i = 0; i < questions.length; ++i) {
          int key = questions[i].key();
          assertEquals(questions[i].reader().mayContain(keys[key]), answers[i]);
          assertTrue(answers[i] || i % 8 != key / 500);
          if (answers[i]) ++maybes;
        }
        assertTrue(maybes < 5000, maybes + " maybes");
        // The batch loaded all.
        assertEquals(reads, Arrays.stream(sources).mapToInt(s -> s.reads.get()).sum());
        for (BlockReader reader : readers) reader.close();
      }
    }
  }

  @Test
  void oddQuestionsAnswerMaybe() {
    Bytes source = new Bytes(block("", List.of(row(1))));
    try (BlockReader reader = source.open(new Options().text("always_load=true"));
        BlockReader closed = source.open(new Options())) {
      closed.close();
      Key[] keys = {row(1), row(2), Key.cell(rowBytes(2), new byte[0]), Key.prefix(rowBytes(2))};
      Question[] questions = {
        new Question(reader, 0), new Question(reader, 1), new Question(reader, 2),
        new Question(reader, 3), new Question(null, 1), new Question(closed, 1),
        new Question(reader, 4), new Question(reader, -1)
      };
      assertArrayEquals(
          new boolean[] {true, false, false, true, true, true, true, true},
          BlockReader.mayContainMany(keys, questions));
      assertEquals(0, BlockReader.mayContainMany(new Key[0], new Question[0]).length);
      assertEquals(0, BlockReader.mayContainEach(new BlockReader[0], row(1)).length);
    }
  }

  @Test
  void failingReadsOfAGroupAnswerMaybe() {
    byte[] file = evenRows();
    try (ReadGroup group = new ReadGroup(1)) {
      for (Throwable failure : List.of(new IOException("EIO"), new StackOverflowError())) {
        Bytes source = new Bytes(file);
        source.failure = failure;
        Options options = new Options().text("always_load=true;tail_size_bytes=1000").group(group);
        try (BlockReader reader = source.open(options)) {
          Question[] questions = {new Question(reader, 0), new Question(reader, 1)};
          assertArrayEquals(
              new boolean[] {true, true},
              BlockReader.mayContainMany(new Key[] {row(1), row(7001)}, questions));
          assertEquals(2, reader.get(Counter.LOAD_ERRORS));
        }
      }
    }
    thrown(Code.INVALID_ARGUMENT, "0 reads at once", () -> new ReadGroup(0));
  }

  /** Which keep their carrier while they wait in a call of C. */
  @Test
  void virtualThreadsMayWaitForAGroup() throws InterruptedException {
    byte[] file = evenRows();
    int count = Runtime.getRuntime().availableProcessors();
    CountDownLatch all = new CountDownLatch(count);
    CountDownLatch done = new CountDownLatch(count);
    try (ReadGroup group = new ReadGroup(2)) {
      for (int i = 0; i < count; ++i) {
        Thread.startVirtualThread(
            () -> {
              Options options = new Options().text("always_load=true").group(group);
              try (BlockReader reader = new Bytes(file).open(options)) {
                all.countDown();
                while (all.getCount() > 0) Thread.onSpinWait();
                if (!reader.mayContain(row(1))) done.countDown();
              }
            });
      }
      assertTrue(done.await(60, TimeUnit.SECONDS));
    }
  }

  @Test
  void futuresAnswerAfterTheirRead() {
    byte[] file = evenRows();
    try (BlockReader reader = new Bytes(file).open(new Options().text("always_load=true"))) {
      CompletableFuture<ByteBuffer> read = new CompletableFuture<>();
      CompletableFuture<Boolean> answer = reader.mayContainAsync(row(1), load -> read);
      assertFalse(answer.isDone());
      BlockReader.Load load = reader.ask(row(1)).load();
      read.complete(ByteBuffer.wrap(file, (int) load.offset(), (int) load.sizeBytes()));
      assertFalse(answer.join());
      assertTrue(reader.mayContainAsync(row(2), l -> null).join());
      assertTrue(
          reader
              .mayContainAsync(
                  row(7001), l -> CompletableFuture.failedFuture(new IOException("EIO")))
              .join());
      assertEquals(1, reader.get(Counter.LOAD_ERRORS));
    }
    List<Function<BlockReader.Load, CompletableFuture<ByteBuffer>>> wrong =
        List.of(
            l -> null,
            l -> CompletableFuture.completedFuture(null),
            l -> {
              throw new IllegalStateException();
            });
    for (var read : wrong) {
      try (BlockReader reader = new Bytes(file).open(new Options().text("always_load=true"))) {
        assertTrue(reader.mayContainAsync(row(1), read).join());
        assertEquals(1, reader.get(Counter.LOAD_ERRORS));
      }
    }
  }

  @Test
  void memoDeniesWhatItRemembers() {
    Memo memo = new Memo(1 << 20);
    memo.remember(7, cell(1));
    assertTrue(memo.denies(7, cell(1)));
    assertFalse(memo.denies(8, cell(1)) || memo.denies(7, row(1)));
    memo.eraseFile(7);
    assertFalse(memo.denies(7, cell(1)));
    memo.close();
    memo.close();
    memo.remember(7, cell(1));
    assertFalse(memo.denies(7, cell(1)));
  }

  @Test
  void budgetGivesFlushesMoreBits() {
    try (FileBudget budget = new FileBudget("bits_per_key=10");
        FileBudget none = new FileBudget("bits_per_key=0")) {
      String live = "key_count=1000000;filter_bytes=1000000;moved_share=0";
      double unknown = FileBudget.UNKNOWN_SHARE;
      budget.setLive(
          live,
          List.of(
              new FileBudget.Run(1000, 1, unknown), new FileBudget.Run(999000, 1, unknown)));
      double flush = bits(budget.forFile("is_flush=true"));
      assertTrue(flush > bits(budget.forFile("is_bottommost=true")));
      budget.setLive(live, List.of());
      thrown(Code.INVALID_ARGUMENT, "", () -> budget.setLive("keys=1", List.of()));
      thrown(Code.INVALID_ARGUMENT, "", () -> budget.forFile("run_share=2"));
      assertEquals(Optional.empty(), none.forFile("is_flush=true"));
      budget.close();
      thrown(Code.INVALID_ARGUMENT, "budget is NULL", () -> budget.forFile(""));
    }
  }

  private static double bits(Optional<String> spec) {
    String[] parts = spec.orElseThrow().split(":bits_per_key=");
    assertEquals("compact", parts[0]);
    return Double.parseDouble(parts[1]);
  }

  @Test
  void memFiltersGrowAndAreShared() throws InterruptedException {
    try (MemFilter filter = new MemFilter("capacity=100;target_fpr=0.001");
        MemFilter shared = new MemFilter("kind=concurrent;key_count=4000")) {
      assertTrue(filter.add(row(0)));
      assertFalse(filter.add(row(0)));
      for (int i = 0; i < 1000; ++i) filter.add(row(i));
      try (MemFilter loaded = MemFilter.load(filter.save())) {
        for (int i = 0; i < 1000; ++i) assertTrue(loaded.mayContain(row(i)));
        assertFalse(loaded.mayContain(Key.row(utf8("absent"))));
      }
      thrown(
          Code.INVALID_ARGUMENT,
          "a prefix is no key to add",
          () -> filter.add(Key.prefix(rowBytes(0))));
      filter.close();
      thrown(Code.INVALID_ARGUMENT, "filter is NULL", () -> filter.add(row(0)));
      assertTrue(filter.mayContain(row(2000)));
      thrown(Code.DATA_LOSS, "", () -> MemFilter.load(new byte[0]));

      AtomicInteger kept = new AtomicInteger();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; ++t) {
        int first = 1000 * t;
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      for (int i = first; i < first + 1000; ++i) {
                        shared.add(row(i));
                        if (shared.mayContain(row(i))) kept.incrementAndGet();
                      }
                    }));
      }
      for (Thread thread : threads) thread.join();
      assertEquals(4000, kept.get());
    }
  }

  @Test
  void negativeCapacitiesAreRefused() {
    try (Cache cache = new Cache(1 << 20)) {
      thrown(Code.INVALID_ARGUMENT, "a capacity of -1 bytes", () -> cache.setCapacity(-1));
      assertEquals(1 << 20, cache.usage().capacityBytes());
    }
    thrown(Code.INVALID_ARGUMENT, "a capacity of -1 bytes", () -> new Cache(-1));
    thrown(Code.INVALID_ARGUMENT, "a capacity of -1 bytes", () -> new Memo(-1));
  }

  @Test
  void negativeSizesAreRefused() {
    Source source = Source.of(new byte[9]);
    Options block = new Options();
    thrown(
        Code.INVALID_ARGUMENT, "the source has -5 bytes", () -> new BlockReader(source, -5, block));
    for (long[] place : new long[][] {{-1, 9}, {Long.MIN_VALUE, BlockReader.TO_THE_END}}) {
      thrown(
          Code.INVALID_ARGUMENT,
          "the block's offset is " + place[0] + " bytes",
          () -> new BlockReader(source, 9, new Options().block(place[0], place[1])));
    }
    thrown(
        Code.INVALID_ARGUMENT,
        "the block has -2 bytes",
        () -> new BlockReader(source, 9, new Options().block(0, -2)));
  }

  /** Closes objects while two threads ask them, until they answer "maybe" for an absent key. */
  private static <T extends NativeObject> void closeWhileAsked(
      Supplier<T> open, BiPredicate<T, Key> mayContain) throws InterruptedException {
    for (int round = 0; round < 30; ++round) {
      T object = open.get();
      AtomicInteger lost = new AtomicInteger();
      CountDownLatch started = new CountDownLatch(2);
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 2; ++t) {
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      assertFalse(mayContain.test(object, row(1)));
                      started.countDown();
                      while (!mayContain.test(object, row(1))) {
                        if (!mayContain.test(object, row(2))) lost.incrementAndGet();
                      }
                    }));
      }
      started.await();
      object.close();
      for (Thread thread : threads) thread.join();
      assertEquals(0, lost.get());
      assertTrue(mayContain.test(object, row(1)));
    }
  }

  @Test
  void objectsMayBeClosedWhileOthersAskThem() throws InterruptedException {
    byte[] bytes;
    try (FilterBuilder builder = new FilterBuilder("compact:bits_per_key=20")) {
      for (int i = 0; i < ROWS; i += 2) builder.add(row(i));
      bytes = builder.finish();
    }
    closeWhileAsked(() -> new Filter(bytes), Filter::mayContain);
    closeWhileAsked(
        () -> {
          MemFilter filter = new MemFilter("kind=concurrent;key_count=100000");
          filter.add(row(2));
          return filter;
        },
        MemFilter::mayContain);
    byte[] block = evenRows();
    Source source = Source.of(block);
    Options options = new Options().text("always_load=true");
    Supplier<BlockReader> open = () -> new BlockReader(source, block.length, options);
    closeWhileAsked(open, BlockReader::mayContain);
    closeWhileAsked(
        open,
        (reader, key) -> BlockReader.mayContainEach(new BlockReader[] {null, reader}, key)[1]);
    closeWhileAsked(
        open,
        (reader, key) ->
            BlockReader.mayContainMany(new Key[] {key}, new Question[] {new Question(reader, 0)})[
                0]);
    Options loaded = new Options().text("prefetch=true");
    closeWhileAsked(
        () -> new BlockReader(source, block.length, loaded),
        (reader, key) -> reader.ask(key).answer() != Answer.NO);
  }

  @Test
  void lookupsGoOnWhenTheirReadClosesTheReader() {
    byte[] block = evenRows();
    BlockReader[] reader = new BlockReader[1];
    Source source =
        (offset, to) -> {
          if (reader[0] != null) reader[0].close();
          Source.of(block).read(offset, to);
          // A call within the callback uses other objects.
          if (reader[0] != null) assertTrue(reader[0].mayContain(row(1)));
        };
    for (int round = 0; round < 20; ++round) {
      reader[0] = null;
      reader[0] = new BlockReader(source, block.length, new Options().text("always_load=true"));
      assertFalse(reader[0].mayContain(row(1)));
      assertTrue(reader[0].mayContain(row(1)));
    }
  }

  @Test
  void closedObjectsAnswerMaybe() {
    Stats stats = new Stats();
    BlockReader reader = new Bytes(block("", List.of(row(1)))).open(new Options().stats(stats));
    for (AutoCloseable object : List.of(stats, reader, stats, reader)) {
      try {
        object.close();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
    assertTrue(reader.mayContain(row(2)));
    assertEquals(Answer.MAYBE, reader.ask(row(2)).answer());
    assertEquals(0, stats.get(Counter.LOOKUPS));
    assertEquals(0, stats.levels().length);
    thrown(Code.INVALID_ARGUMENT, "reader is NULL", reader::verify);
    thrown(Code.INVALID_ARGUMENT, "reader is NULL", reader::properties);
    Options closed = new Options().stats(stats);
    thrown(Code.INVALID_ARGUMENT, "the Stats is closed", () -> new Bytes(new byte[9]).open(closed));
    thrown(Code.INVALID_ARGUMENT, "", () -> new BlockWriter("bits=1", new ByteArrayOutputStream()));
    thrown(Code.NOT_FOUND, "", () -> new Bytes(new byte[9]).open(new Options().block(9, 0)));
  }
}
