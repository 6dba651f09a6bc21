// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.io.EOFException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

/** Answers from the filter block of an SST, in any number of threads. */
public final class BlockReader extends NativeObject {
  private static final MethodHandle OPEN =
      Native.function(
          "reader_open", JAVA_INT, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, HANDLE, HANDLE, ADDRESS,
          ADDRESS);
  private static final MethodHandle OPEN_IN_GROUP =
      Native.function(
          "reader_open_in_group", JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS,
          HANDLE, HANDLE, ADDRESS, ADDRESS);
  private static final MethodHandle MAY_CONTAIN =
      Native.function("reader_may_contain", JAVA_BOOLEAN, Native.withKey(HANDLE));
  private static final MethodHandle MAY_CONTAIN_EACH =
      Native.function(
          "readers_may_contain", null, ADDRESS, SIZE, ADDRESS, SIZE, ADDRESS, SIZE, ADDRESS);
  private static final MethodHandle MAY_CONTAIN_MANY =
      Native.function("may_contain_many", null, ADDRESS, SIZE, ADDRESS, SIZE, ADDRESS);
  private static final MethodHandle ASK =
      Native.quickFunction("reader_ask", JAVA_INT, Native.withKey(HANDLE, ADDRESS));
  private static final MethodHandle OFFER =
      Native.quickFunction(
          "reader_offer", JAVA_INT, HANDLE, ADDRESS, JAVA_INT, ADDRESS, SIZE, ADDRESS, SIZE,
          ADDRESS, SIZE);
  private static final MethodHandle TELL_OUTCOME =
      Native.quickFunction("reader_tell_outcome", null, HANDLE, JAVA_BOOLEAN, JAVA_LONG);
  private static final MethodHandle GET =
      Native.function("reader_get", JAVA_LONG, HANDLE, JAVA_INT);
  private static final MethodHandle NUMBER =
      Native.function("reader_number", JAVA_INT, HANDLE, JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle BYTES =
      Native.function("reader_bytes", JAVA_INT, HANDLE, JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle VERIFY =
      Native.function("reader_verify", JAVA_INT, HANDLE, ADDRESS);
  private static final MethodHandle FREE = Native.function("reader_free", null, HANDLE);
  private static final MemorySegment READ =
      Native.callback(
          MethodHandles.lookup(), "read", JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, SIZE, ADDRESS);

  /** The size of a block that ends with its source. */
  public static final long TO_THE_END = -1;

  /** For {@link #tellOutcome}. */
  public static final long UNKNOWN_BYTES = -1;

  private final long source;

  /** Where a block lies, and what its reader shares with others. Each method returns this. */
  public static final class Options {
    private String name = "source";
    private long offset;
    private long size = TO_THE_END;
    private String text = "";
    private Cache cache;
    private Stats stats;
    private ReadGroup group;

    /** The whole source is the block, with a cache of its own. */
    public Options() {}

    /**
     * A name for messages, usually a path.
     *
     * @param name any text
     * @return this
     */
    public Options name(String name) {
      this.name = name;
      return this;
    }

    /**
     * The block's place.
     *
     * @param offset of its first byte in the source
     * @param size in bytes, or TO_THE_END; 0 is an SST without a filter
     * @return this
     */
    public Options block(long offset, long size) {
      this.offset = offset;
      this.size = size;
      return this;
    }

    /**
     * The options of rowbloom_reader_open in rowbloom/c.h.
     *
     * @param text such as "prefetch=true;level=2"
     * @return this
     */
    public Options text(String text) {
      this.text = text;
      return this;
    }

    /**
     * The cache, which the reader keeps alive.
     *
     * @param cache null: one of 32 MiB
     * @return this
     */
    public Options cache(Cache cache) {
      this.cache = cache;
      return this;
    }

    /**
     * The statistics, which the reader keeps alive.
     *
     * @param stats may be null
     * @return this
     */
    public Options stats(Stats stats) {
      this.stats = stats;
      return this;
    }

    /**
     * The group of the source.
     *
     * @param group may be null
     * @return this
     */
    public Options group(ReadGroup group) {
      this.group = group;
      return this;
    }
  }

  /** An answer, in C's order. */
  public enum Answer {
    /** The SST does not hold the key. */
    NO,
    /** Read the SST. */
    MAYBE,
    /** The load would answer. */
    NOT_IN_MEMORY
  }

  /**
   * The read that would answer.
   *
   * @param chunk its number
   * @param offset in the source
   * @param sizeBytes how much
   * @param steps for {@link #offer}
   */
  public record Load(long chunk, long offset, long sizeBytes, int steps) {}

  /**
   * What {@link #ask} says.
   *
   * @param answer the answer
   * @param load null unless the answer is NOT_IN_MEMORY
   */
  public record Asked(Answer answer, Load load) {}

  /**
   * A lookup of a key in one of many SSTs.
   *
   * @param reader null answers "maybe"
   * @param key the index of one of the keys
   */
  public record Question(BlockReader reader, int key) {}

  /**
   * Properties of a block; FilterBlockProperties of rowbloom/filter_reader.h says what each is.
   *
   * @param cells cells
   * @param keys filter keys
   * @param chunks chunks
   * @param filterBytes their bytes
   * @param prefixLengthBytes of ROWPREFIX_FIXED_LENGTH
   * @param hasRowKeys a row alone can be asked
   * @param fileId the reader's
   * @param isWithinCapacity false: the cache is too small for its readers
   * @param bloomType ROW, for example
   * @param keyCodec empty for a block without one
   * @param filterSpec the family and its bits
   * @param writer what wrote it
   * @param firstRow of the filter keys: with a key codec a prefix of the first row
   * @param firstQualifier of the same key
   * @param lastRow of the filter keys
   * @param lastQualifier of the same key
   */
  public record Properties(
      long cells,
      long keys,
      long chunks,
      long filterBytes,
      long prefixLengthBytes,
      boolean hasRowKeys,
      long fileId,
      boolean isWithinCapacity,
      String bloomType,
      String keyCodec,
      String filterSpec,
      String writer,
      byte[] firstRow,
      byte[] firstQualifier,
      byte[] lastRow,
      byte[] lastQualifier) {}

  /**
   * Opens a block that is all of its source.
   *
   * @param source the bytes
   * @param size of the source
   */
  public BlockReader(Source source, long size) {
    this(source, size, new Options());
  }

  /**
   * Opens a block: reads its tail.
   *
   * @param source the bytes
   * @param size of the source
   * @param options where the block lies
   */
  public BlockReader(Source source, long size, Options options) {
    this(Native.Held.add(Objects.requireNonNull(source)), size, options);
  }

  private BlockReader(long source, long size, Options options) {
    super(FREE, open(source, size, options));
    this.source = source;
  }

  private static long open(long source, long size, Options options) {
    Native.Scratch scratch = Native.Scratch.get();
    long mark = scratch.used;
    int before = scratch.begin(options.cache);
    try {
      scratch.begin(options.stats);
      check("the source has", size, 0);
      check("the block's offset is", options.offset, 0);
      check("the block has", options.size, TO_THE_END);
      MemorySegment from = scratch.take(32);
      from.set(ADDRESS, 0, READ);
      from.set(HANDLE, 8, source);
      from.set(JAVA_LONG, 16, size);
      from.set(ADDRESS, 24, scratch.text(options.name));
      long cache = handleOf(options.cache);
      long stats = handleOf(options.stats);
      if (options.group == null) {
        return Native.make(
            OPEN, from, options.offset, options.size, options.text, cache, stats);
      }
      MemorySegment group = scratch.take(16);
      group.set(ADDRESS, 0, ReadGroup.READ_MANY);
      group.set(HANDLE, 8, options.group.number);
      return Native.make(
          OPEN_IN_GROUP, from, group, options.offset, options.size, options.text, cache, stats);
    } catch (Throwable e) {
      Native.Held.remove(source);
      throw e;
    } finally {
      scratch.used = mark;
      scratch.end(before);
    }
  }

  /** C's numbers have no sign. */
  private static void check(String what, long bytes, long least) {
    if (bytes < least) {
      throw new RowbloomException(Code.INVALID_ARGUMENT, what + " " + bytes + " bytes", null);
    }
  }

  static int read(
      MemorySegment source, long offset, MemorySegment to, long size, MemorySegment error) {
    return Native.guarded(
        error,
        () -> {
          try (Arena arena = Arena.ofConfined()) {
            ByteBuffer buffer = to.reinterpret(size, arena, null).asByteBuffer();
            ((Source) Native.Held.get(source)).read(offset, buffer);
            if (buffer.hasRemaining()) {
              throw new EOFException(
                  "the source read " + buffer.position() + " of " + size + " bytes");
            }
          }
        });
  }

  /**
   * Asks for a key. It may read from the source.
   *
   * @param key a row, a cell or a prefix
   * @return false if the SST does not hold it
   */
  public boolean mayContain(Key key) {
    Native.Scratch scratch = Native.Scratch.get();
    long mark = scratch.used;
    int before = scratch.begin(this);
    try {
      return (boolean)
          MAY_CONTAIN.invokeExact(
              handle,
              scratch.copy(key.row),
              key.rowSize(),
              scratch.copy(key.qualifier),
              key.qualifierSize);
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.used = mark;
      scratch.end(before);
    }
  }

  /**
   * Asks many readers for one key by one call of C, as a point get does.
   *
   * @param readers null answers "maybe"
   * @param key a row, a cell or a prefix
   * @return the answer of each reader
   */
  public static boolean[] mayContainEach(BlockReader[] readers, Key key) {
    Native.Scratch scratch = Native.Scratch.get();
    long mark = scratch.used;
    int count = readers.length;
    int before = scratch.beginMany(count);
    try {
      long[] held = scratch.held();
      for (int i = 0; i < count; ++i) held[before + i] = Native.Scratch.handleOf(readers[i]);
      scratch.share();
      MemorySegment handles = scratch.take(8L * count);
      for (int i = 0; i < count; ++i) {
        long reader = Native.Scratch.handleOf(readers[i]);
        handles.setAtIndex(HANDLE, i, reader == held[before + i] ? reader : 0);
      }
      MemorySegment answers = scratch.take(count);
      MAY_CONTAIN_EACH.invokeExact(
          handles,
          (long) count,
          scratch.copy(key.row),
          key.rowSize(),
          scratch.copy(key.qualifier),
          key.qualifierSize,
          answers);
      return booleans(answers, count);
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.used = mark;
      scratch.end(before);
    }
  }

  private static boolean[] booleans(MemorySegment answers, int count) {
    boolean[] found = new boolean[count];
    for (int i = 0; i < count; ++i) found[i] = answers.get(JAVA_BYTE, i) != 0;
    return found;
  }

  /**
   * Asks many keys of many readers by one call of C, which hashes each key once and makes the reads
   * together.
   *
   * @param keys rows, cells and prefixes
   * @param questions in any order
   * @return the answer of each question, true if it has no reader or no key
   */
  public static boolean[] mayContainMany(Key[] keys, Question[] questions) {
    Native.Scratch scratch = Native.Scratch.get();
    int count = questions.length;
    int before = scratch.beginMany(count);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = Key.list(keys, arena);
      long[] held = scratch.held();
      for (int i = 0; i < count; ++i) {
        held[before + i] = Native.Scratch.handleOf(questions[i].reader());
      }
      scratch.share();
      MemorySegment asked = arena.allocate(16L * count + 1, 8);
      for (int i = 0; i < count; ++i) {
        long reader = Native.Scratch.handleOf(questions[i].reader());
        asked.set(HANDLE, 16L * i, reader == held[before + i] ? reader : 0);
        asked.set(SIZE, 16L * i + 8, questions[i].key());
      }
      MemorySegment answers = arena.allocate(count + 1L);
      MAY_CONTAIN_MANY.invokeExact(list, (long) keys.length, asked, (long) count, answers);
      return booleans(answers, count);
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.end(before);
      Reference.reachabilityFence(keys);
    }
  }

  /**
   * Asks, and reads nothing. NOT_IN_MEMORY comes with the load that would answer: make the read and
   * offer it, or go on as for MAYBE.
   *
   * @param key a row, a cell or a prefix
   * @return the answer
   */
  public Asked ask(Key key) {
    Native.Scratch scratch = Native.Scratch.get();
    long mark = scratch.used;
    int before = scratch.begin(this);
    try {
      MemorySegment load = scratch.take(32);
      int answer =
          (int)
              ASK.invokeExact(
                  handle, key.row, key.rowSize(), key.qualifier, key.qualifierSize, load);
      if (answer != Answer.NOT_IN_MEMORY.ordinal()) {
        return answer == Answer.NO.ordinal() ? ASKED_NO : ASKED_MAYBE;
      }
      return new Asked(
          Answer.NOT_IN_MEMORY,
          new Load(
              load.get(JAVA_LONG, 0),
              load.get(JAVA_LONG, 8),
              load.get(JAVA_LONG, 16),
              load.get(JAVA_INT, 24)));
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.used = mark;
      scratch.end(before);
    }
  }

  private static final Asked ASKED_NO = new Asked(Answer.NO, null);
  private static final Asked ASKED_MAYBE = new Asked(Answer.MAYBE, null);

  /**
   * Gives the reader the bytes of a load.
   *
   * @param load from {@link #ask}
   * @param bytes what lies there
   * @param key that was asked
   * @return NO or MAYBE
   */
  public Answer offer(Load load, ByteBuffer bytes, Key key) {
    return offer(load, 0, MemorySegment.ofBuffer(bytes), key);
  }

  /**
   * Tells the reader that the read of a load failed.
   *
   * @param load from {@link #ask}
   * @param failure what was thrown
   * @param key that was asked
   * @return MAYBE
   */
  public Answer offerFailure(Load load, Throwable failure, Key key) {
    return offer(load, Code.of(failure).number(), Native.EMPTY, key);
  }

  private Answer offer(Load load, int code, MemorySegment bytes, Key key) {
    Native.Scratch scratch = Native.Scratch.get();
    long mark = scratch.used;
    int before = scratch.begin(this);
    try {
      MemorySegment read = scratch.take(32);
      read.set(JAVA_LONG, 0, load.chunk());
      read.set(JAVA_LONG, 8, load.offset());
      read.set(JAVA_LONG, 16, load.sizeBytes());
      read.set(JAVA_INT, 24, load.steps());
      int answer =
          (int)
              OFFER.invokeExact(
                  handle,
                  read,
                  code,
                  bytes,
                  bytes.byteSize(),
                  key.row,
                  key.rowSize(),
                  key.qualifier,
                  key.qualifierSize);
      return answer == Answer.NO.ordinal() ? Answer.NO : Answer.MAYBE;
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.used = mark;
      scratch.end(before);
    }
  }

  /**
   * Asks, and makes the load, if there is one, in the caller's way: no thread waits.
   *
   * @param key a row, a cell or a prefix
   * @param read makes the load
   * @return true, or false if the SST does not hold the key; true if the load fails
   */
  public CompletableFuture<Boolean> mayContainAsync(
      Key key, Function<Load, ? extends CompletionStage<ByteBuffer>> read) {
    Asked asked = ask(key);
    if (asked.load() == null) {
      return CompletableFuture.completedFuture(asked.answer() != Answer.NO);
    }
    CompletionStage<ByteBuffer> loading;
    try {
      loading = Objects.requireNonNull(read.apply(asked.load()), "no stage");
    } catch (RuntimeException e) {
      loading = CompletableFuture.failedFuture(e);
    }
    return loading
        .handle(
            (bytes, failure) -> {
              if (bytes != null) return offer(asked.load(), bytes, key);
              Throwable cause = failure instanceof CompletionException ? failure.getCause() : failure;
              return offerFailure(
                  asked.load(), cause == null ? new NullPointerException("no bytes") : cause, key);
            })
        .thenApply(answer -> answer != Answer.NO)
        .toCompletableFuture();
  }

  /**
   * Tells the reader what was found after a "maybe".
   *
   * @param keyWasThere true if the SST had the key, even as a tombstone
   * @param readBytes what was read for it, or UNKNOWN_BYTES
   */
  public void tellOutcome(boolean keyWasThere, long readBytes) {
    with(
        h -> {
          TELL_OUTCOME.invokeExact(h, keyWasThere, readBytes);
          return null;
        });
  }

  /**
   * A counter of this reader alone.
   *
   * @param counter which
   * @return the sum
   */
  public long get(Stats.Counter counter) {
    return with(h -> (long) GET.invokeExact(h, counter.ordinal()));
  }

  /**
   * All counters of this reader alone.
   *
   * @return those of about one moment
   */
  public Stats.Counters counters() {
    return Stats.Counters.of(this::get);
  }

  private long number(int property) {
    return Native.make(NUMBER, this, property);
  }

  private byte[] bytes(int property) {
    return Native.fill(BYTES, this, property, Native.BUFFER);
  }

  private String text(int property) {
    return new String(bytes(property), StandardCharsets.UTF_8);
  }

  /**
   * Decodes what is in memory, and reads nothing.
   *
   * @return the block's properties
   */
  public Properties properties() {
    return new Properties(
        number(0),
        number(1),
        number(2),
        number(3),
        number(4),
        number(5) != 0,
        number(6),
        number(7) != 0,
        text(100),
        text(101),
        text(102),
        text(103),
        bytes(104),
        bytes(105),
        bytes(106),
        bytes(107));
  }

  /** Reads the whole block and checks every checksum. */
  public void verify() {
    Native.call(VERIFY, this);
  }

  @Override
  void free(long taken) {
    super.free(taken);
    Native.Held.remove(source);
  }

  /** Closes the reader, but not the source, of which reads that are under way go on. */
  @Override
  public void close() {
    super.close();
  }
}
