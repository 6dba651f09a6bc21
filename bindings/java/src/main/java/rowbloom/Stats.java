// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.function.ToLongFunction;

/** Counts what filters answered and cost. Any number of threads may use it. */
public final class Stats extends NativeObject {
  private static final MethodHandle NEW =
      Native.function("stats_new", JAVA_INT, ADDRESS, ADDRESS);
  private static final MethodHandle ADD =
      Native.function("stats_add", null, HANDLE, JAVA_INT, JAVA_LONG);
  private static final MethodHandle GET =
      Native.function("stats_get", JAVA_LONG, HANDLE, JAVA_INT);
  private static final MethodHandle GET_OF_LEVEL =
      Native.function("stats_get_of_level", JAVA_LONG, HANDLE, JAVA_INT, JAVA_INT);
  private static final MethodHandle LEVELS =
      Native.function("stats_levels", SIZE, HANDLE, ADDRESS, SIZE);
  private static final MethodHandle GET_OF_KEY_LEVEL =
      Native.function("stats_get_of_key_level", JAVA_LONG, HANDLE, SIZE, JAVA_INT);
  private static final MethodHandle PROMETHEUS =
      Native.function("stats_prometheus", JAVA_INT, HANDLE, ADDRESS, ADDRESS);
  private static final MethodHandle FREE = Native.function("stats_free", null, HANDLE);

  /** A counter. They are in C's order. */
  public enum Counter {
    /** Lookups. */
    LOOKUPS,
    /** Lookups that were answered "no". */
    NEGATIVES,
    /** "Maybe", and the key was there. */
    TRUE_POSITIVES,
    /** "Maybe", and it was not. */
    FALSE_POSITIVES,
    /** "Maybe", because the chunk was not in memory. */
    UNLOADED,
    /** Chunks that were loaded. */
    CHUNK_LOADS,
    /** Their bytes. */
    CHUNK_LOAD_BYTES,
    /** Loads that failed. */
    LOAD_ERRORS,
    /** Blocks that could not be opened; only {@link Stats#add} counts these. */
    OPEN_ERRORS,
    /** Lookups of prefixes that have an answer. */
    PREFIX_LOOKUPS,
    /** Those that were answered "no". */
    PREFIX_NEGATIVES
  }

  /**
   * All counters; {@link Counter} says what each is.
   *
   * @param lookups LOOKUPS
   * @param negatives NEGATIVES
   * @param truePositives TRUE_POSITIVES
   * @param falsePositives FALSE_POSITIVES
   * @param unloaded UNLOADED
   * @param chunkLoads CHUNK_LOADS
   * @param chunkLoadBytes CHUNK_LOAD_BYTES
   * @param loadErrors LOAD_ERRORS
   * @param openErrors OPEN_ERRORS
   * @param prefixLookups PREFIX_LOOKUPS
   * @param prefixNegatives PREFIX_NEGATIVES
   */
  public record Counters(
      long lookups,
      long negatives,
      long truePositives,
      long falsePositives,
      long unloaded,
      long chunkLoads,
      long chunkLoadBytes,
      long loadErrors,
      long openErrors,
      long prefixLookups,
      long prefixNegatives) {
    static Counters of(ToLongFunction<Counter> get) {
      return new Counters(
          get.applyAsLong(Counter.LOOKUPS),
          get.applyAsLong(Counter.NEGATIVES),
          get.applyAsLong(Counter.TRUE_POSITIVES),
          get.applyAsLong(Counter.FALSE_POSITIVES),
          get.applyAsLong(Counter.UNLOADED),
          get.applyAsLong(Counter.CHUNK_LOADS),
          get.applyAsLong(Counter.CHUNK_LOAD_BYTES),
          get.applyAsLong(Counter.LOAD_ERRORS),
          get.applyAsLong(Counter.OPEN_ERRORS),
          get.applyAsLong(Counter.PREFIX_LOOKUPS),
          get.applyAsLong(Counter.PREFIX_NEGATIVES));
    }
  }

  /** Makes statistics of zeros. */
  public Stats() {
    super(FREE, Native.make(NEW));
  }

  /**
   * Adds to a counter.
   *
   * @param counter which
   * @param delta how much
   */
  public void add(Counter counter, long delta) {
    with(
        h -> {
          ADD.invokeExact(h, counter.ordinal(), delta);
          return null;
        });
  }

  /**
   * A sum over all files, exact once the readers are quiet.
   *
   * @param counter which
   * @return the sum
   */
  public long get(Counter counter) {
    return with(h -> (long) GET.invokeExact(h, counter.ordinal()));
  }

  /**
   * A sum over the files of one level of the tree.
   *
   * @param level -1 is the unknown one
   * @param counter which
   * @return the sum
   */
  public long get(int level, Counter counter) {
    return with(h -> (long) GET_OF_LEVEL.invokeExact(h, level, counter.ordinal()));
  }

  /**
   * PREFIX_LOOKUPS or PREFIX_NEGATIVES of a key level.
   *
   * @param keyLevel from 1
   * @param counter which
   * @return the sum; 0 for other counters
   */
  public long getOfKeyLevel(int keyLevel, Counter counter) {
    return with(h -> (long) GET_OF_KEY_LEVEL.invokeExact(h, (long) keyLevel, counter.ordinal()));
  }

  /**
   * All sums over all files.
   *
   * @return those of about one moment
   */
  public Counters counters() {
    return Counters.of(this::get);
  }

  /**
   * All sums over the files of one level.
   *
   * @param level -1 is the unknown one
   * @return those of about one moment
   */
  public Counters counters(int level) {
    return Counters.of(counter -> get(level, counter));
  }

  /**
   * The levels of the tree that were counted.
   *
   * @return them in order
   */
  public int[] levels() {
    long count = 16;
    while (true) { // Another thread may count a new one.
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment levels = arena.allocate(JAVA_INT, count);
        long room = count;
        long found = with(h -> (long) LEVELS.invokeExact(h, levels, room));
        if (found <= count) return levels.asSlice(0, 4 * found).toArray(JAVA_INT);
        count = found;
      }
    }
  }

  /**
   * All counters by level.
   *
   * @return Prometheus' text format
   */
  public String prometheus() {
    return new String(Native.fill(PROMETHEUS, this, Native.BUFFER), StandardCharsets.UTF_8);
  }
}
