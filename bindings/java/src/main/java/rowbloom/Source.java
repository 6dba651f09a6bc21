// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

/**
 * Bytes of a file, which do not change while a reader is open. The threads that open, verify and
 * ask read it, several at once. It may call rowbloom, but must not close what is being used. What
 * it throws makes a lookup "maybe".
 */
@FunctionalInterface
public interface Source {
  /**
   * Reads bytes until the buffer is full.
   *
   * @param offset of the first byte
   * @param to a direct buffer, valid until this returns, in this thread
   * @throws IOException if they cannot be read
   */
  void read(long offset, ByteBuffer to) throws IOException;

  /**
   * Reads from a file. An interrupt of a thread that reads closes the channel, and every later load
   * fails until the file is opened anew: lookups answer "maybe". Threads that may be interrupted
   * read by a source of their own.
   *
   * @param channel stays open as long as the readers
   * @return the source
   */
  static Source of(FileChannel channel) {
    return (offset, to) -> {
      while (to.hasRemaining()) {
        int count = channel.read(to, offset);
        if (count < 0) throw new EOFException("the file ends at " + offset);
        offset += count;
      }
    };
  }

  /**
   * Reads from memory.
   *
   * @param bytes all of them
   * @return the source
   */
  static Source of(byte[] bytes) {
    return (offset, to) -> to.put(bytes, Math.toIntExact(offset), to.remaining());
  }
}
