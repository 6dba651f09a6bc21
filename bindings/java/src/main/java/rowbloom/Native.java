// SPDX-License-Identifier: Apache-2.0

package rowbloom;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The functions of the C API, and how arguments, results and errors pass to and from it. */
final class Native {
  static final int ABI = 1;
  static final ValueLayout.OfLong HANDLE = JAVA_LONG;
  static final ValueLayout.OfLong SIZE = JAVA_LONG;
  static final long ERROR_BYTES = 1024;
  static final long MESSAGE_BYTES = 1020;
  static final long BUFFER_BYTES = 24;
  static final long PREFIX = -1; // ROWBLOOM_PREFIX.
  static final MemorySegment EMPTY = Arena.global().allocate(1).asSlice(0, 0);

  private static final Linker LINKER = Linker.nativeLinker();
  private static final SymbolLookup LIBRARY = load();
  private static final MethodHandle BUFFER_FREE = function("buffer_free", null, ADDRESS);

  private Native() {}

  /** From the property, or else the jar, or else where the system looks. */
  private static SymbolLookup load() {
    String path = System.getProperty("rowbloom.library");
    String inside = System.getProperty("os.name") + "-" + System.getProperty("os.arch") + "/";
    try (InputStream list = Native.class.getResourceAsStream(inside + "libraries.txt")) {
      if (path == null && list != null) {
        // The library finds those that it needs beside it.
        Path folder = Files.createTempDirectory("rowbloom");
        List<Path> copies = new ArrayList<>();
        try {
          for (String name : new String(list.readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
            try (InputStream library = Native.class.getResourceAsStream(inside + name)) {
              copies.add(folder.resolve(name));
              Files.copy(library, folder.resolve(name));
            }
          }
          return opened(copies.get(0).toString(), "java.io.tmpdir is where it was copied to");
        } finally {
          for (Path copy : copies) { // The process keeps them.
            Files.deleteIfExists(copy);
          }
          Files.delete(folder);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return opened(
        path == null ? "librowbloom_c.so." + ABI : path,
        "the property rowbloom.library names it, or else LD_LIBRARY_PATH its directory");
  }

  private static SymbolLookup opened(String library, String remedy) {
    try {
      return check(SymbolLookup.libraryLookup(library, Arena.global()));
    } catch (IllegalArgumentException e) {
      Error error = new UnsatisfiedLinkError(library + " cannot be loaded: " + remedy);
      error.initCause(e);
      throw error;
    }
  }

  private static SymbolLookup check(SymbolLookup library) {
    try {
      FunctionDescriptor type = FunctionDescriptor.of(JAVA_INT);
      int abi =
          (int)
              LINKER
                  .downcallHandle(library.find("rowbloom_abi").orElseThrow(), type)
                  .invokeExact();
      if (abi != ABI) {
        throw new UnsatisfiedLinkError("librowbloom_c has ABI " + abi + ", not " + ABI);
      }
      return library;
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** The handle of rowbloom_NAME. A result of null is void. */
  static MethodHandle function(String name, MemoryLayout result, MemoryLayout... arguments) {
    return link(name, result, arguments);
  }

  /**
   * One that is short and calls nothing of Java's: it may be given bytes of Java's heap, and costs
   * no change of the thread's state.
   */
  static MethodHandle quickFunction(String name, MemoryLayout result, MemoryLayout... arguments) {
    return link(name, result, arguments, Linker.Option.critical(true));
  }

  private static MethodHandle link(
      String name, MemoryLayout result, MemoryLayout[] arguments, Linker.Option... options) {
    FunctionDescriptor type =
        result == null
            ? FunctionDescriptor.ofVoid(arguments)
            : FunctionDescriptor.of(result, arguments);
    MemorySegment symbol =
        LIBRARY
            .find("rowbloom_" + name)
            .orElseThrow(() -> new UnsatisfiedLinkError("rowbloom_" + name));
    return LINKER.downcallHandle(symbol, type, options);
  }

  /** `first`, the four arguments of a key, and `more`. */
  static MemoryLayout[] withKey(MemoryLayout first, MemoryLayout... more) {
    MemoryLayout[] all = Arrays.copyOf(new MemoryLayout[] {first}, 5 + more.length);
    Arrays.fill(all, 1, 5, ADDRESS);
    all[2] = all[4] = SIZE;
    System.arraycopy(more, 0, all, 5, more.length);
    return all;
  }

  /** A function that C calls, for as long as the program runs. */
  static MemorySegment callback(
      MethodHandles.Lookup lookup, String method, MemoryLayout result, MemoryLayout... arguments) {
    FunctionDescriptor type =
        result == null
            ? FunctionDescriptor.ofVoid(arguments)
            : FunctionDescriptor.of(result, arguments);
    try {
      MethodHandle target =
          lookup.findStatic(lookup.lookupClass(), method, type.toMethodType());
      return LINKER.upcallStub(target, type, Arena.global());
    } catch (ReflectiveOperationException e) {
      throw new AssertionError(e);
    }
  }

  /** Memory for arguments, which a thread reuses from call to call. */
  static final class Scratch {
    private static final ThreadLocal<Scratch> OF_THREAD = ThreadLocal.withInitial(Scratch::new);

    /** The scratches of all threads. */
    private static final Set<Scratch> ALL = Collections.newSetFromMap(new WeakHashMap<>());

    private static final VarHandle IN_USE_COUNT = inUseCount();
    private static final long MIN_BYTES = 1 << 11;

    private final Arena arena = Arena.ofAuto();
    private MemorySegment memory = EMPTY;

    /** The handles that the thread's calls use, and those of calls that they are a callback of. */
    private volatile long[] inUse = new long[16];

    private int heldCount;

    /** How many of them other threads see. */
    private volatile int inUseCount;

    /** A call sets it back when it ends, so that a callback's calls spare what it took. */
    long used;

    /** What a callback threw during a call. */
    Throwable thrown;

    private Scratch() {
      synchronized (ALL) {
        ALL.add(this);
      }
    }

    static Scratch get() {
      return OF_THREAD.get();
    }

    private static VarHandle inUseCount() {
      try {
        return MethodHandles.lookup().findVarHandle(Scratch.class, "inUseCount", int.class);
      } catch (ReflectiveOperationException e) {
        throw new AssertionError(e);
      }
    }

    /**
     * Begins a call that uses an object. A handle that is read after this stays valid until end()
     * is given what this returns: close() first sets the handle to 0 and then looks here, so that
     * either it sees the call or the call sees the 0.
     */
    int begin(NativeObject object) {
      int before = beginMany(1);
      inUse[before] = handleOf(object);
      share();
      return before;
    }

    /**
     * Begins a call that uses many: the caller sets held(), from what this returns on, to the
     * handleOf() each, calls share(), and passes handleOf() each where it is still the same.
     */
    int beginMany(int count) {
      int before = heldCount;
      if (count > inUse.length - before) inUse = Arrays.copyOf(inUse, 2 * (before + count));
      heldCount = before + count;
      // Who sees a handle sees what earlier calls did with the one that was there.
      VarHandle.releaseFence();
      return before;
    }

    long[] held() {
      return inUse;
    }

    static long handleOf(NativeObject object) {
      return object == null ? 0 : object.handle;
    }

    void share() {
      inUseCount = heldCount;
    }

    void end(int before) {
      heldCount = before;
      IN_USE_COUNT.setRelease(this, before);
    }

    /** True if a call of any thread uses the handle. */
    static boolean isInUse(long handle) {
      boolean found = false;
      synchronized (ALL) {
        for (Scratch scratch : ALL) {
          int count = scratch.inUseCount;
          long[] handles = scratch.inUse; // At least as many.
          for (int i = 0; i < count; ++i) found |= handles[i] == handle;
        }
      }
      VarHandle.acquireFence();
      return found;
    }

    MemorySegment take(long size) {
      if (size > memory.byteSize() - used) {
        // Segments of the old one stay valid.
        memory = arena.allocate(Math.max(used + size, 2 * memory.byteSize() + MIN_BYTES), 8);
      }
      MemorySegment taken = memory.asSlice(used, size);
      used = Math.min(memory.byteSize(), (used + size + 7) & ~7L);
      return taken;
    }

    /** The bytes where C may read them during the call. */
    MemorySegment copy(MemorySegment from) {
      return from.isNative() ? from : take(from.byteSize()).copyFrom(from);
    }

    /** A text that ends with a zero byte. */
    MemorySegment text(String text) {
      if (text.indexOf('\0') >= 0) {
        throw new RowbloomException(Code.INVALID_ARGUMENT, "a zero byte in \"" + text + "\"", null);
      }
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      MemorySegment to = take(bytes.length + 1);
      MemorySegment.copy(bytes, 0, to, JAVA_BYTE, 0, bytes.length);
      to.set(JAVA_BYTE, bytes.length, (byte) 0);
      return to;
    }
  }

  static RuntimeException unexpected(Throwable e) {
    if (e instanceof Error error) throw error;
    return e instanceof RuntimeException known ? known : new IllegalStateException(e);
  }

  /**
   * Calls a function that has an error as its last argument, and throws it. Texts, byte arrays and
   * an object, which is the first argument, are passed as C has them.
   */
  static void call(MethodHandle function, Object... arguments) {
    Scratch scratch = Scratch.get();
    long mark = scratch.used;
    int before =
        scratch.begin(
            arguments.length > 0 && arguments[0] instanceof NativeObject object ? object : null);
    try {
      Object[] all = new Object[arguments.length + 1];
      for (int i = 0; i < arguments.length; ++i) {
        all[i] =
            switch (arguments[i]) {
              case String text -> scratch.text(text);
              case byte[] bytes -> scratch.copy(MemorySegment.ofArray(bytes));
              case NativeObject object -> object.handle;
              default -> arguments[i];
            };
      }
      MemorySegment error = scratch.take(ERROR_BYTES);
      all[arguments.length] = error;
      scratch.thrown = null;
      if ((int) function.invokeWithArguments(all) != 0) throw failure(error, scratch);
    } catch (Throwable e) {
      throw unexpected(e);
    } finally {
      scratch.used = mark;
      scratch.thrown = null;
      scratch.end(before);
    }
  }

  static RowbloomException failure(MemorySegment error, Scratch scratch) {
    Code code = Code.of(error.get(JAVA_INT, 0));
    return new RowbloomException(code, error.getString(4), scratch.thrown);
  }

  /** The object that a function with the arguments `..., out, error` makes. */
  static long make(MethodHandle function, Object... arguments) {
    Scratch scratch = Scratch.get();
    long mark = scratch.used;
    try {
      Object[] all = Arrays.copyOf(arguments, arguments.length + 1);
      MemorySegment out = scratch.take(8);
      all[arguments.length] = out;
      call(function, all);
      return out.get(HANDLE, 0);
    } finally {
      scratch.used = mark;
    }
  }

  /** Stands for a buffer among the arguments of `fill`. */
  static final Object BUFFER = new Object();

  static byte[] fill(MethodHandle function, Object... arguments) {
    return fillMany(1, function, arguments)[0];
  }

  /** What a function puts into as many buffers, which are beside each other. */
  static byte[][] fillMany(int count, MethodHandle function, Object... arguments) {
    Scratch scratch = Scratch.get();
    long mark = scratch.used;
    MemorySegment buffers = scratch.take(BUFFER_BYTES * count).fill((byte) 0);
    try {
      long next = 0;
      for (int i = 0; i < arguments.length; ++i) {
        if (arguments[i] == BUFFER) arguments[i] = buffers.asSlice(BUFFER_BYTES * next++);
      }
      call(function, arguments);
      byte[][] filled = new byte[count][];
      for (int i = 0; i < count; ++i) {
        MemorySegment data = buffers.get(ADDRESS, BUFFER_BYTES * i);
        filled[i] = data.reinterpret(buffers.get(SIZE, BUFFER_BYTES * i + 8)).toArray(JAVA_BYTE);
      }
      return filled;
    } finally {
      for (int i = 0; i < count; ++i) free(BUFFER_FREE, buffers.asSlice(BUFFER_BYTES * i));
      scratch.used = mark;
    }
  }

  static void free(MethodHandle function, Object what) {
    try {
      function.invoke(what);
    } catch (Throwable e) {
      throw unexpected(e);
    }
  }

  /** Objects of Java's that C has as the context of callbacks, by number. */
  static final class Held {
    private static final ConcurrentHashMap<Long, Object> OBJECTS = new ConcurrentHashMap<>();
    private static final AtomicLong LAST = new AtomicLong();

    private Held() {}

    static long add(Object object) {
      long number = LAST.incrementAndGet();
      OBJECTS.put(number, object);
      return number;
    }

    static Object get(MemorySegment context) {
      return OBJECTS.get(context.address());
    }

    static void remove(long number) {
      OBJECTS.remove(number);
    }
  }

  /** What a callback does. */
  interface Callback {
    void run() throws Throwable;
  }

  /** Runs a callback, out of which nothing may be thrown into C. The error may be null. */
  static int guarded(MemorySegment error, Callback callback) {
    try {
      callback.run();
      return 0;
    } catch (Throwable e) {
      return error == null ? Code.of(e).number() : tell(error, e);
    }
  }

  private static int tell(MemorySegment error, Throwable thrown) {
    String message;
    try {
      Scratch.get().thrown = thrown;
      message = String.valueOf(thrown);
    } catch (Throwable e) {
      message = thrown.getClass().getName();
    }
    // The library has set all of it to zero, and what is cut ends with one.
    byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
    MemorySegment to = error.reinterpret(ERROR_BYTES);
    int size = (int) Math.min(bytes.length, MESSAGE_BYTES - 1);
    MemorySegment.copy(bytes, 0, to, JAVA_BYTE, 4, size);
    return Code.of(thrown).number();
  }
}
