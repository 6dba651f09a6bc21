// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import java.lang.invoke.MethodHandle;
import java.util.concurrent.locks.LockSupport;

/** An object of the library's. */
abstract class NativeObject implements AutoCloseable {
  private final MethodHandle free;

  /** 0 once it is closed. A call of C reads it after begin() of its thread's scratch. */
  volatile long handle;

  NativeObject(MethodHandle free, long handle) {
    this.free = free;
    this.handle = handle;
  }

  /** 0 for null, which is not what a closed object is. */
  static long handleOf(NativeObject object) {
    if (object != null && object.handle == 0) {
      String name = object.getClass().getSimpleName();
      throw new RowbloomException(Code.INVALID_ARGUMENT, "the " + name + " is closed", null);
    }
    return object == null ? 0 : object.handle;
  }

  /** C's numbers have no sign, so it would be a huge one. */
  static long capacity(long bytes) {
    if (bytes < 0) {
      throw new RowbloomException(Code.INVALID_ARGUMENT, "a capacity of " + bytes + " bytes", null);
    }
    return bytes;
  }

  /** A call of C. */
  interface Call<Result> {
    Result on(long handle) throws Throwable;
  }

  /** Makes a call. Its handle stays valid until it returns. */
  <Result> Result with(Call<Result> call) {
    Native.Scratch scratch = Native.Scratch.get();
    int before = scratch.begin(this);
    try {
      return call.on(handle);
    } catch (Throwable e) {
      throw Native.unexpected(e);
    } finally {
      scratch.end(before);
    }
  }

  private synchronized long take() {
    long taken = handle;
    handle = 0;
    return taken;
  }

  void free(long taken) {
    Native.free(free, taken);
  }

  /** Frees it when no call uses it. */
  void freeLater(long taken) {
    // The caller of close() does not wait: it may be a callback of such a call, or have a lock that
    // one waits for.
    Thread.startVirtualThread(
        () -> {
          while (Native.Scratch.isInUse(taken)) LockSupport.parkNanos(1_000_000);
          free(taken);
        });
  }

  /**
   * Closes it. From then on its calls throw and its lookups answer "maybe". Calls that are under
   * way in other threads go on, and it is freed when they have returned; a callback may close it,
   * too. Closing it again does nothing.
   */
  @Override
  public void close() {
    long taken = take();
    if (taken == 0) return;
    if (Native.Scratch.isInUse(taken)) {
      freeLater(taken);
    } else {
      free(taken);
    }
  }
}
