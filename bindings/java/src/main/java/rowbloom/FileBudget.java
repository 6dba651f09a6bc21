// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static rowbloom.Native.HANDLE;
import static rowbloom.Native.SIZE;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Gives each SST, when it is written, the bits per key that save the most reads. One thread at a
 * time. The options are in rowbloom/c.h.
 */
public final class FileBudget extends NativeObject {
  private static final MethodHandle NEW =
      Native.function("budget_new", JAVA_INT, ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle SET_LIVE =
      Native.function("budget_set_live", JAVA_INT, HANDLE, ADDRESS, ADDRESS, SIZE, ADDRESS);
  private static final MethodHandle FOR_FILE =
      Native.function("budget_for_file", JAVA_INT, HANDLE, ADDRESS, ADDRESS, ADDRESS);
  private static final MethodHandle FREE = Native.function("budget_free", null, HANDLE);

  /** For {@link Run#absentAsks}. */
  public static final double UNKNOWN_SHARE = -1;

  /**
   * A part of the tree that a get asks once: a level, or an SST of level 0.
   *
   * @param keyCount its keys
   * @param blockMissShare the share of its data blocks that is read from storage
   * @param absentAsks the share of gets that ask it for a key that it does not have, or {@link
   *     FileBudget#UNKNOWN_SHARE}
   */
  public record Run(long keyCount, double blockMissShare, double absentAsks) {}

  /**
   * Makes the budget of a tree.
   *
   * @param options such as "bits_per_key=10"; empty for the defaults
   */
  public FileBudget(String options) {
    super(FREE, Native.make(NEW, options));
  }

  /**
   * Tells the tree's filters, whenever it changed. If it throws, nothing has changed.
   *
   * @param options such as "key_count=1000000;filter_bytes=1250000"
   * @param runs the newest first; empty if they are not known
   */
  public void setLive(String options, List<Run> runs) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment list = runs.isEmpty() ? MemorySegment.NULL : arena.allocate(24L * runs.size());
      for (int i = 0; i < runs.size(); ++i) {
        list.set(JAVA_LONG, 24L * i, runs.get(i).keyCount());
        list.set(JAVA_DOUBLE, 24L * i + 8, runs.get(i).blockMissShare());
        list.set(JAVA_DOUBLE, 24L * i + 16, runs.get(i).absentAsks());
      }
      Native.call(SET_LIVE, this, options, list, (long) runs.size());
    }
  }

  /**
   * Says which filter an SST that is to be written gets.
   *
   * @param options such as "is_flush=true"
   * @return the filter_spec for a {@link BlockWriter}; empty if the SST is to have no filter
   */
  public Optional<String> forFile(String options) {
    byte[] spec = Native.fill(FOR_FILE, this, options, Native.BUFFER);
    return Optional.of(new String(spec, StandardCharsets.UTF_8)).filter(s -> !s.isEmpty());
  }
}
