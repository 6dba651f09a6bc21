// SPDX-License-Identifier: Apache-2.0
// The safe form of rowbloom's C API, whose header `rowbloom/c.h` has the
// contract of each call. Types are `Send`, and `Sync` where several threads may
// call at once; what only one may do takes `&mut self`. A callback that panics
// is an error.

#![doc = include_str!("../README.md")]

use std::ffi::{c_void, CStr, CString};
use std::fmt;
use std::fs::File;
use std::future::Future;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::{Arc, Mutex};

use rowbloom_sys as sys;
pub use rowbloom_sys::rowbloom_block_info as BlockInfo;
pub use rowbloom_sys::rowbloom_load as Load;
/// A part of the tree that a get asks once: a level, or an SST of level 0.
pub use rowbloom_sys::rowbloom_run as Run;

/// The version of the library that the program runs with.
pub fn version() -> &'static str {
    unsafe { CStr::from_ptr(sys::rowbloom_version().cast()) }
        .to_str()
        .unwrap_or("")
}

/// What kind of error it is, by the numbers of gRPC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Code {
    Unknown = sys::ROWBLOOM_UNKNOWN as isize,
    InvalidArgument = sys::ROWBLOOM_INVALID_ARGUMENT as isize,
    NotFound = sys::ROWBLOOM_NOT_FOUND as isize,
    ResourceExhausted = sys::ROWBLOOM_RESOURCE_EXHAUSTED as isize,
    FailedPrecondition = sys::ROWBLOOM_FAILED_PRECONDITION as isize,
    OutOfRange = sys::ROWBLOOM_OUT_OF_RANGE as isize,
    /// A newer format.
    Unimplemented = sys::ROWBLOOM_UNIMPLEMENTED as isize,
    Internal = sys::ROWBLOOM_INTERNAL as isize,
    Unavailable = sys::ROWBLOOM_UNAVAILABLE as isize,
    /// Damaged bytes.
    DataLoss = sys::ROWBLOOM_DATA_LOSS as isize,
}

impl From<i32> for Code {
    fn from(number: i32) -> Code {
        match number {
            sys::ROWBLOOM_INVALID_ARGUMENT => Code::InvalidArgument,
            sys::ROWBLOOM_NOT_FOUND => Code::NotFound,
            sys::ROWBLOOM_RESOURCE_EXHAUSTED => Code::ResourceExhausted,
            sys::ROWBLOOM_FAILED_PRECONDITION => Code::FailedPrecondition,
            sys::ROWBLOOM_OUT_OF_RANGE => Code::OutOfRange,
            sys::ROWBLOOM_UNIMPLEMENTED => Code::Unimplemented,
            sys::ROWBLOOM_INTERNAL => Code::Internal,
            sys::ROWBLOOM_UNAVAILABLE => Code::Unavailable,
            sys::ROWBLOOM_DATA_LOSS => Code::DataLoss,
            _ => Code::Unknown,
        }
    }
}

/// A code and a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: Code,
    pub message: String,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        let message = message.into();
        Error { code, message }
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::new(Code::Unknown, error.to_string())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// A row, or a cell of it: (row, qualifier). A flat key is a row. Lookups of
/// readers take a prefix, too.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    row: &'a [u8],
    rest: Rest<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Rest<'a> {
    Nothing,
    Qualifier(&'a [u8]),
    AnyRow,
}

impl<'a> Key<'a> {
    pub fn row(row: &'a [u8]) -> Key<'a> {
        let rest = Rest::Nothing;
        Key { row, rest }
    }
    pub fn cell(row: &'a [u8], qualifier: &'a [u8]) -> Key<'a> {
        let rest = Rest::Qualifier(qualifier);
        Key { row, rest }
    }
    /// All rows that begin with `row`: a block answers if it was written with a
    /// `key_codec`, or for prefixes of a fixed length. It cannot be added.
    pub fn prefix(row: &'a [u8]) -> Key<'a> {
        let rest = Rest::AnyRow;
        Key { row, rest }
    }
    fn qualifier(&self) -> (*const c_void, usize) {
        match self.rest {
            Rest::Qualifier(bytes) => (bytes.as_ptr().cast(), bytes.len()),
            Rest::Nothing => (ptr::null(), 0),
            Rest::AnyRow => (ptr::null(), sys::ROWBLOOM_PREFIX),
        }
    }
}

/// Calls `function` with the arguments, those of the key, and others.
macro_rules! with_key {
    ($function:path, $handle:expr, $key:expr $(, $more:expr)*) => {{
        let key: Key<'_> = $key;
        let (qualifier, size) = key.qualifier();
        unsafe {
            $function($handle, key.row.as_ptr().cast(), key.row.len(),
                      qualifier, size $(, $more)*)
        }
    }};
}

fn call(function: impl FnOnce(*mut sys::rowbloom_error) -> i32) -> Result<()> {
    let mut error = MaybeUninit::<sys::rowbloom_error>::uninit();
    if function(error.as_mut_ptr()) == sys::ROWBLOOM_OK {
        return Ok(());
    }
    // The library writes the code, and a text with its end.
    unsafe {
        let error = error.as_ptr();
        let text = CStr::from_ptr(ptr::addr_of!((*error).message).cast());
        Err(Error::new((*error).code.into(), text.to_string_lossy()))
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        let message = format!("{:?} has a zero byte", text);
        Error::new(Code::InvalidArgument, message)
    })
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A buffer of the library's.
#[repr(transparent)]
struct Buffer(sys::rowbloom_buffer);

impl Buffer {
    fn new() -> Buffer {
        Buffer(sys::rowbloom_buffer {
            data: ptr::null_mut(),
            size: 0,
            capacity: 0,
        })
    }
    fn to_vec(&self) -> Vec<u8> {
        if self.0.data.is_null() {
            return Vec::new();
        }
        unsafe { std::slice::from_raw_parts(self.0.data, self.0.size) }.to_vec()
    }
}

impl Default for Buffer {
    fn default() -> Buffer {
        Buffer::new()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        unsafe { sys::rowbloom_buffer_free(&mut self.0) }
    }
}

fn fill(
    function: impl FnOnce(*mut sys::rowbloom_buffer, *mut sys::rowbloom_error) -> i32,
) -> Result<Vec<u8>> {
    let mut buffer = Buffer::new();
    call(|error| function(&mut buffer.0, error))?;
    Ok(buffer.to_vec())
}

/// Owns a handle.
macro_rules! owner {
    ($name:ident, $handle:ident, $free:ident) => {
        struct $name(*mut sys::$handle);
        impl $name {
            fn new(
                function: impl FnOnce(*mut *mut sys::$handle, *mut sys::rowbloom_error) -> i32,
            ) -> Result<$name> {
                let mut handle = ptr::null_mut();
                call(|error| function(&mut handle, error))?;
                Ok($name(handle))
            }
        }
        // Each object may move to another thread; the types below say which
        // calls several threads may make.
        unsafe impl Send for $name {}
        unsafe impl Sync for $name {}
        impl Drop for $name {
            fn drop(&mut self) {
                unsafe { sys::$free(self.0) }
            }
        }
    };
}

owner!(BuilderHandle, rowbloom_builder, rowbloom_builder_free);
owner!(FilterHandle, rowbloom_filter, rowbloom_filter_free);
owner!(WriterHandle, rowbloom_writer, rowbloom_writer_free);
owner!(CacheHandle, rowbloom_cache, rowbloom_cache_free);
owner!(StatsHandle, rowbloom_stats, rowbloom_stats_free);
owner!(ReaderHandle, rowbloom_reader, rowbloom_reader_free);
owner!(CodecHandle, rowbloom_codec, rowbloom_codec_free);
owner!(MemFilterHandle, rowbloom_memfilter, rowbloom_memfilter_free);
owner!(MemoHandle, rowbloom_memo, rowbloom_memo_free);
owner!(BudgetHandle, rowbloom_budget, rowbloom_budget_free);

/// Builds filters over bytes of one's own, from keys in any order.
pub struct FilterBuilder(BuilderHandle);

impl FilterBuilder {
    pub fn new(spec: &str) -> Result<FilterBuilder> {
        let spec = c_text(spec)?;
        let new =
            |out, error| unsafe { sys::rowbloom_builder_new(spec.as_ptr().cast(), out, error) };
        BuilderHandle::new(new).map(FilterBuilder)
    }
    pub fn add(&mut self, key: Key<'_>) {
        with_key!(sys::rowbloom_builder_add, self.0 .0, key)
    }
    /// The filter's bytes; the builder is empty again.
    pub fn finish(&mut self) -> Result<Vec<u8>> {
        fill(|to, error| unsafe { sys::rowbloom_builder_finish(self.0 .0, to, error) })
    }
}

impl<'k> Extend<Key<'k>> for FilterBuilder {
    fn extend<Keys: IntoIterator<Item = Key<'k>>>(&mut self, keys: Keys) {
        keys.into_iter().for_each(|key| self.add(key))
    }
}

/// A view over a filter's bytes.
pub struct Filter<'a> {
    handle: FilterHandle,
    bytes: &'a [u8],
}

impl<'a> Filter<'a> {
    /// Compares all checksums first.
    pub fn open(bytes: &'a [u8]) -> Result<Filter<'a>> {
        verify_filter(bytes)?;
        Filter::open_unverified(bytes)
    }
    /// Checks the structure of the bytes alone, for a caller that has compared
    /// checksums of them already. Otherwise damage may answer "no" for a key
    /// that was added.
    pub fn open_unverified(bytes: &'a [u8]) -> Result<Filter<'a>> {
        let open = |out, error| unsafe {
            sys::rowbloom_filter_open(bytes.as_ptr().cast(), bytes.len(), out, error)
        };
        let handle = FilterHandle::new(open)?;
        Ok(Filter { handle, bytes })
    }
    pub fn may_contain(&self, key: Key<'_>) -> bool {
        with_key!(sys::rowbloom_filter_may_contain, self.handle.0, key)
    }
    /// Compares all checksums.
    pub fn verify(&self) -> Result<()> {
        verify_filter(self.bytes)
    }
}

fn verify_filter(bytes: &[u8]) -> Result<()> {
    let (bytes, size) = (bytes.as_ptr().cast(), bytes.len());
    call(|error| unsafe { sys::rowbloom_filter_verify(bytes, size, error) })
}

/// Runs a callback, out of which no panic may reach C.
fn caught<T>(callback: impl FnOnce() -> T) -> std::result::Result<T, ()> {
    catch_unwind(AssertUnwindSafe(callback)).map_err(|carried| {
        // Dropping what it carries may panic, too. That one's is leaked.
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(carried)));
        dropped.unwrap_or_else(std::mem::forget)
    })
}

/// Runs a callback. Its error, or its panic, becomes one of the library's.
fn guarded(error: *mut sys::rowbloom_error, callback: impl FnOnce() -> Result<()>) -> i32 {
    let result = caught(callback)
        .unwrap_or_else(|()| Err(Error::new(Code::Internal, "a callback panicked")));
    let failed = match result {
        Ok(()) => return sys::ROWBLOOM_OK,
        Err(failed) => failed,
    };
    // The library has set all of it to zero.
    let message = unsafe { &mut (*error).message };
    let size = failed.message.len().min(message.len() - 1);
    message[..size].copy_from_slice(&failed.message.as_bytes()[..size]);
    failed.code as i32
}

// A value whose address the library has. A Box would assert, whenever it moves,
// that nothing else points to its value.
struct Pinned<T>(*mut T);

impl<T> Pinned<T> {
    fn new(value: T) -> Pinned<T> {
        Pinned(Box::into_raw(Box::new(value)))
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        drop(unsafe { Box::from_raw(self.0) })
    }
}

unsafe impl<T: Send> Send for Pinned<T> {}
unsafe impl<T: Sync> Sync for Pinned<T> {}

/// Appends bytes to where a filter block is written.
pub type Append<'a> = dyn FnMut(&[u8]) -> Result<()> + Send + 'a;

/// Writes the filter block of an SST, from cells in order.
pub struct BlockWriter<'a> {
    handle: WriterHandle, // Is dropped first.
    _append: Pinned<Box<Append<'a>>>,
}

unsafe extern "C" fn append(
    context: *mut c_void,
    bytes: *const c_void,
    size: usize,
    error: *mut sys::rowbloom_error,
) -> i32 {
    guarded(error, || {
        let append = &mut *context.cast::<Box<Append<'_>>>();
        append(std::slice::from_raw_parts(bytes.cast(), size))
    })
}

impl<'a> BlockWriter<'a> {
    pub fn new(
        options: &str,
        sink: impl FnMut(&[u8]) -> Result<()> + Send + 'a,
    ) -> Result<BlockWriter<'a>> {
        let options = c_text(options)?;
        let _append: Pinned<Box<Append<'a>>> = Pinned::new(Box::new(sink));
        let context = _append.0;
        let new = |out, error| unsafe {
            sys::rowbloom_writer_new(options.as_ptr().cast(), append, context.cast(), out, error)
        };
        let handle = WriterHandle::new(new)?;
        Ok(BlockWriter { handle, _append })
    }
    /// Gives the block's chunks to the cache: the first lookups of a reader with
    /// the same cache and `file_id`, which the options must have, load nothing.
    pub fn new_warm(
        options: &str,
        sink: impl FnMut(&[u8]) -> Result<()> + Send + 'a,
        cache: &Cache,
    ) -> Result<BlockWriter<'a>> {
        let options = c_text(options)?;
        let _append: Pinned<Box<Append<'a>>> = Pinned::new(Box::new(sink));
        let (context, cache) = (_append.0.cast(), cache.0 .0);
        let new = |out, error| unsafe {
            let options = options.as_ptr().cast();
            sys::rowbloom_writer_new_warm(options, append, context, cache, out, error)
        };
        let handle = WriterHandle::new(new)?;
        Ok(BlockWriter { handle, _append })
    }
    pub fn add(&mut self, cell: Key<'_>) {
        with_key!(sys::rowbloom_writer_add, self.handle.0, cell)
    }
    pub fn finish(self) -> Result<BlockInfo> {
        let mut info = BlockInfo::default();
        call(|error| unsafe { sys::rowbloom_writer_finish(self.handle.0, &mut info, error) })?;
        Ok(info)
    }
}

impl<'k> Extend<Key<'k>> for BlockWriter<'_> {
    fn extend<Cells: IntoIterator<Item = Key<'k>>>(&mut self, cells: Cells) {
        cells.into_iter().for_each(|cell| self.add(cell))
    }
}

/// The cache of filter chunks that readers share.
pub struct Cache(CacheHandle);

impl Cache {
    pub fn new(capacity_bytes: u64) -> Result<Cache> {
        let new = |out, error| unsafe { sys::rowbloom_cache_new(capacity_bytes, out, error) };
        CacheHandle::new(new).map(Cache)
    }
    pub fn set_capacity(&self, capacity_bytes: u64) {
        unsafe { sys::rowbloom_cache_set_capacity(self.0 .0, capacity_bytes) }
    }
    pub fn erase_file(&self, file_id: u64) {
        unsafe { sys::rowbloom_cache_erase_file(self.0 .0, file_id) }
    }
    /// One line `name value` for each number.
    pub fn usage_text(&self) -> Result<String> {
        fill(|to, error| unsafe { sys::rowbloom_cache_usage(self.0 .0, to, error) }).map(text_of)
    }
    pub fn usage(&self) -> Usage {
        let mut numbers = [0; sys::ROWBLOOM_REJECTIONS + 1];
        unsafe { sys::rowbloom_cache_numbers(self.0 .0, numbers.as_mut_ptr(), numbers.len()) };
        Usage {
            capacity_bytes: numbers[sys::ROWBLOOM_CAPACITY_BYTES],
            usage_bytes: numbers[sys::ROWBLOOM_USAGE_BYTES],
            pinned_bytes: numbers[sys::ROWBLOOM_PINNED_BYTES],
            retired_bytes: numbers[sys::ROWBLOOM_RETIRED_BYTES],
            index_bytes_outside: numbers[sys::ROWBLOOM_INDEX_BYTES_OUTSIDE],
            resident_bytes: numbers[sys::ROWBLOOM_RESIDENT_BYTES],
            chunk_bytes: numbers[sys::ROWBLOOM_CHUNK_BYTES],
            index_bytes: numbers[sys::ROWBLOOM_INDEX_BYTES],
            entries: numbers[sys::ROWBLOOM_ENTRIES],
            hits: numbers[sys::ROWBLOOM_HITS],
            misses: numbers[sys::ROWBLOOM_MISSES],
            inserts: numbers[sys::ROWBLOOM_INSERTS],
            evictions: numbers[sys::ROWBLOOM_EVICTIONS],
            shrinks: numbers[sys::ROWBLOOM_SHRINKS],
            rejections: numbers[sys::ROWBLOOM_REJECTIONS],
        }
    }
}

/// What a cache holds and did; `FilterCache::Usage` of `rowbloom/filter_cache.h`
/// says what each is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    pub capacity_bytes: u64,
    pub usage_bytes: u64,
    pub pinned_bytes: u64,
    pub retired_bytes: u64,
    /// Above 0: the cache is too small for its readers.
    pub index_bytes_outside: u64,
    pub resident_bytes: u64,
    pub chunk_bytes: u64,
    pub index_bytes: u64,
    pub entries: u64,
    pub hits: u64,
    pub misses: u64,
    pub inserts: u64,
    pub evictions: u64,
    pub shrinks: u64,
    pub rejections: u64,
}

/// A counter of [`Stats`]; `rowbloom/c.h` says more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Counter {
    Lookups = sys::ROWBLOOM_LOOKUPS as isize,
    Negatives = sys::ROWBLOOM_NEGATIVES as isize,
    TruePositives = sys::ROWBLOOM_TRUE_POSITIVES as isize,
    FalsePositives = sys::ROWBLOOM_FALSE_POSITIVES as isize,
    /// "Maybe", because the chunk was not in memory.
    Unloaded = sys::ROWBLOOM_UNLOADED as isize,
    ChunkLoads = sys::ROWBLOOM_CHUNK_LOADS as isize,
    ChunkLoadBytes = sys::ROWBLOOM_CHUNK_LOAD_BYTES as isize,
    LoadErrors = sys::ROWBLOOM_LOAD_ERRORS as isize,
    /// Only [`Stats::add`] counts these.
    OpenErrors = sys::ROWBLOOM_OPEN_ERRORS as isize,
    /// Lookups of prefixes that have an answer.
    PrefixLookups = sys::ROWBLOOM_PREFIX_LOOKUPS as isize,
    PrefixNegatives = sys::ROWBLOOM_PREFIX_NEGATIVES as isize,
}

/// What filters answered and cost.
pub struct Stats(StatsHandle);

impl Stats {
    pub fn new() -> Result<Stats> {
        StatsHandle::new(|out, error| unsafe { sys::rowbloom_stats_new(out, error) }).map(Stats)
    }
    pub fn add(&self, counter: Counter, delta: u64) {
        unsafe { sys::rowbloom_stats_add(self.0 .0, counter as i32, delta) }
    }
    pub fn get(&self, counter: Counter) -> u64 {
        unsafe { sys::rowbloom_stats_get(self.0 .0, counter as i32) }
    }
    /// The levels of the tree that were counted, in order; -1 is the unknown one.
    pub fn levels(&self) -> Vec<i32> {
        let mut levels = Vec::new();
        loop {
            let room = levels.len();
            let count = unsafe { sys::rowbloom_stats_levels(self.0 .0, levels.as_mut_ptr(), room) };
            levels.resize(count, -1);
            if count <= room {
                return levels;
            }
        }
    }
    pub fn get_of_level(&self, level: i32, counter: Counter) -> u64 {
        unsafe { sys::rowbloom_stats_get_of_level(self.0 .0, level, counter as i32) }
    }
    /// A counter of prefixes, of one key level alone; the first is 1.
    pub fn get_of_key_level(&self, key_level: usize, counter: Counter) -> u64 {
        unsafe { sys::rowbloom_stats_get_of_key_level(self.0 .0, key_level, counter as i32) }
    }
    pub fn prometheus(&self) -> Result<String> {
        fill(|to, error| unsafe { sys::rowbloom_stats_prometheus(self.0 .0, to, error) })
            .map(text_of)
    }
}

/// The bytes of a file that does not change.
pub trait Source: Send + Sync {
    /// Fills `to` with the bytes at `offset`, or returns an error.
    fn read(&self, offset: u64, to: &mut [u8]) -> Result<()>;
    fn size_bytes(&self) -> u64;
    /// For messages, usually a path.
    fn name(&self) -> &str {
        "source"
    }
}

impl Source for Vec<u8> {
    fn read(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        let from = usize::try_from(offset).ok();
        let end = from.and_then(|from| from.checked_add(to.len()));
        let bytes = from.zip(end).and_then(|(from, end)| self.get(from..end));
        let short = || Error::new(Code::OutOfRange, "a read beyond the end");
        to.copy_from_slice(bytes.ok_or_else(short)?);
        Ok(())
    }
    fn size_bytes(&self) -> u64 {
        self.len() as u64
    }
}

impl Source for File {
    fn read(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        Ok(self.read_exact_at(to, offset)?)
    }
    /// 0, in which no block lies, if the system does not know.
    fn size_bytes(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.len())
    }
}

/// One of the reads of a [`ReadGroup`].
pub struct Read<'a, S> {
    raw: &'a mut sys::rowbloom_read,
    source: &'a S,
}

// Its pointers are to memory of this read alone.
unsafe impl<S: Sync> Send for Read<'_, S> {}

impl<S> Read<'_, S> {
    pub fn source(&self) -> &S {
        self.source
    }
    pub fn offset(&self) -> u64 {
        self.raw.offset
    }
    /// Where the bytes go: all of it has to be filled.
    pub fn to(&mut self) -> &mut [u8] {
        unsafe { std::slice::from_raw_parts_mut(self.raw.to.cast(), self.raw.size) }
    }
    /// Says how the read ended; without it, it failed.
    pub fn finish(&mut self, result: Result<()>) {
        self.raw.code = result.map_or_else(|error| error.code as i32, |_| sys::ROWBLOOM_OK);
    }
}

type ReadMany<S> = dyn Fn(&mut [Read<'_, S>]) + Send + Sync;

/// Makes the reads of its readers' sources at once, when
/// [`BlockReader::may_contain_many`] needs many. These sources may not ask its
/// readers: their reads could wait for each other.
pub struct ReadGroup<S>(Arc<Box<ReadMany<S>>>);

impl<S: Source> ReadGroup<S> {
    /// `read_many` makes all reads before it returns, io_uring's way for example.
    pub fn new(read_many: impl Fn(&mut [Read<'_, S>]) + Send + Sync + 'static) -> ReadGroup<S> {
        ReadGroup(Arc::new(Box::new(read_many)))
    }
    /// Makes up to `limit` reads at once, each in a thread.
    pub fn with_threads(limit: usize) -> ReadGroup<S> {
        ReadGroup::new(move |reads: &mut [Read<'_, S>]| {
            let count = limit.clamp(1, reads.len().max(1));
            let left = Mutex::new(reads.iter_mut());
            let work = || loop {
                let read = match left.lock().map_or(None, |mut left| left.next()) {
                    Some(read) => read,
                    None => return,
                };
                let (source, offset) = (read.source, read.offset());
                let result = caught(|| source.read(offset, read.to()));
                read.finish(result.unwrap_or_else(|()| Err(Error::new(Code::Internal, ""))));
            };
            std::thread::scope(|scope| {
                for _ in 1..count {
                    scope.spawn(work);
                }
                work();
            });
        })
    }
}

unsafe extern "C" fn read_many<S: Source>(
    context: *mut c_void,
    reads: *mut sys::rowbloom_read,
    count: usize,
) {
    let all = std::slice::from_raw_parts_mut(reads, count);
    let mut all: Vec<_> = all
        .iter_mut()
        .map(|raw| {
            ptr::write_bytes(raw.to.cast::<u8>(), 0, raw.size);
            let source = &*raw.context.cast::<S>();
            Read { raw, source }
        })
        .collect();
    let read_many = &*context.cast::<Box<ReadMany<S>>>();
    // Reads that did not end before a panic have failed.
    let _ = caught(|| read_many(&mut all));
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    No,
    Maybe,
    NotInMemory(Load),
}

/// Answers from the filter block of an SST, on any number of threads.
pub struct BlockReader<S: Source> {
    handle: ReaderHandle, // Is dropped first.
    _source: Pinned<S>,
    _group: Option<Arc<Box<ReadMany<S>>>>,
}

unsafe extern "C" fn read<S: Source>(
    context: *mut c_void,
    offset: u64,
    to: *mut c_void,
    size: usize,
    error: *mut sys::rowbloom_error,
) -> i32 {
    guarded(error, || {
        // A source may read what it is given before it writes.
        ptr::write_bytes(to.cast::<u8>(), 0, size);
        let source = &*context.cast::<S>();
        source.read(offset, std::slice::from_raw_parts_mut(to.cast(), size))
    })
}

impl<S: Source> BlockReader<S> {
    /// Opens the block at `offset` of the source, of `size_bytes`.
    pub fn open(
        source: S,
        offset: u64,
        size_bytes: u64,
        options: &str,
        cache: Option<&Cache>,
        stats: Option<&Stats>,
    ) -> Result<BlockReader<S>> {
        BlockReader::make(source, None, offset, size_bytes, options, cache, stats)
    }
    /// Opens a block whose reads the group makes.
    pub fn open_in_group(
        source: S,
        group: &ReadGroup<S>,
        offset: u64,
        size_bytes: u64,
        options: &str,
        cache: Option<&Cache>,
        stats: Option<&Stats>,
    ) -> Result<BlockReader<S>> {
        BlockReader::make(
            source,
            Some(group),
            offset,
            size_bytes,
            options,
            cache,
            stats,
        )
    }
    fn make(
        source: S,
        group: Option<&ReadGroup<S>>,
        offset: u64,
        size_bytes: u64,
        options: &str,
        cache: Option<&Cache>,
        stats: Option<&Stats>,
    ) -> Result<BlockReader<S>> {
        let text = c_text(options)?;
        let name = c_text(source.name())?;
        let source_size = source.size_bytes();
        let _source = Pinned::new(source);
        let _group = group.map(|group| group.0.clone());
        let c_source = sys::rowbloom_source {
            read: read::<S>,
            context: _source.0.cast(),
            size_bytes: source_size,
            name: name.as_ptr().cast(),
        };
        let c_group = _group.as_ref().map(|group| sys::rowbloom_read_group {
            read_many: read_many::<S>,
            context: Arc::as_ptr(group) as *mut c_void,
        });
        let cache = cache.map_or(ptr::null_mut(), |cache| cache.0 .0);
        let stats = stats.map_or(ptr::null_mut(), |stats| stats.0 .0);
        let text = text.as_ptr().cast();
        let handle = ReaderHandle::new(|out, error| unsafe {
            match &c_group {
                None => sys::rowbloom_reader_open(
                    &c_source, offset, size_bytes, text, cache, stats, out, error,
                ),
                Some(group) => sys::rowbloom_reader_open_in_group(
                    &c_source, group, offset, size_bytes, text, cache, stats, out, error,
                ),
            }
        })?;
        Ok(BlockReader {
            handle,
            _source,
            _group,
        })
    }
    /// False: the SST does not hold the key. May read in this thread.
    pub fn may_contain(&self, key: Key<'_>) -> bool {
        with_key!(sys::rowbloom_reader_may_contain, self.handle.0, key)
    }
    /// One key in many SSTs, hashed once: the answers in order.
    pub fn may_contain_each(readers: &[&BlockReader<S>], key: Key<'_>) -> Vec<bool> {
        let handles: Vec<_> = readers
            .iter()
            .map(|reader| reader.handle.0 as *const _)
            .collect();
        let mut answers = vec![true; readers.len()];
        let (qualifier, size) = key.qualifier();
        unsafe {
            sys::rowbloom_readers_may_contain(
                handles.as_ptr(),
                handles.len(),
                key.row.as_ptr().cast(),
                key.row.len(),
                qualifier,
                size,
                answers.as_mut_ptr(),
            )
        }
        answers
    }
    /// Many keys in many SSTs: the answer of each question, a reader and the
    /// index of its key. Each key is hashed once, and missing chunks are loaded
    /// together. Answers "maybe" if there is no such key.
    pub fn may_contain_many(keys: &[Key<'_>], questions: &[(&Self, usize)]) -> Vec<bool> {
        let keys: Vec<_> = keys
            .iter()
            .map(|key| {
                let (qualifier, qualifier_size) = key.qualifier();
                sys::rowbloom_key {
                    row: key.row.as_ptr().cast(),
                    row_size: key.row.len(),
                    qualifier,
                    qualifier_size,
                }
            })
            .collect();
        let questions: Vec<_> = questions
            .iter()
            .map(|&(reader, key)| sys::rowbloom_question {
                reader: reader.handle.0,
                key,
            })
            .collect();
        let mut answers = vec![true; questions.len()];
        unsafe {
            sys::rowbloom_may_contain_many(
                keys.as_ptr(),
                keys.len(),
                questions.as_ptr(),
                questions.len(),
                answers.as_mut_ptr(),
            )
        }
        answers
    }
    /// The lookup on any executor: `read` makes the load, if there is one, and
    /// no thread waits. A load that is an error answers "maybe".
    pub async fn may_contain_async<Read, Bytes>(&self, key: Key<'_>, read: Read) -> bool
    where
        Read: FnOnce(Load) -> Bytes,
        Bytes: Future<Output = Result<Vec<u8>>>,
    {
        match self.ask(key) {
            Answer::No => false,
            Answer::Maybe => true,
            Answer::NotInMemory(load) => {
                let bytes = read(load).await;
                self.offer(&load, bytes.as_deref().map_err(Error::clone), key)
            }
        }
    }
    /// The lookup that reads nothing.
    pub fn ask(&self, key: Key<'_>) -> Answer {
        let mut load = Load::default();
        let answer = with_key!(sys::rowbloom_reader_ask, self.handle.0, key, &mut load);
        match answer {
            sys::ROWBLOOM_NO => Answer::No,
            sys::ROWBLOOM_NOT_IN_MEMORY => Answer::NotInMemory(load),
            _ => Answer::Maybe,
        }
    }
    /// Offers the bytes of a load, or the error of its read. True: maybe.
    pub fn offer(&self, load: &Load, bytes: Result<&[u8]>, key: Key<'_>) -> bool {
        let (code, bytes) = match &bytes {
            Ok(bytes) => (sys::ROWBLOOM_OK, *bytes),
            Err(error) => (error.code as i32, &[][..]),
        };
        let (qualifier, size) = key.qualifier();
        let answer = unsafe {
            sys::rowbloom_reader_offer(
                self.handle.0,
                load,
                code,
                bytes.as_ptr().cast(),
                bytes.len(),
                key.row.as_ptr().cast(),
                key.row.len(),
                qualifier,
                size,
            )
        };
        answer != sys::ROWBLOOM_NO
    }
    /// After a "maybe": what the engine found, and the bytes it read, if known.
    pub fn tell_outcome(&self, key_was_there: bool, read_bytes: Option<u64>) {
        let bytes = read_bytes.unwrap_or(sys::ROWBLOOM_UNKNOWN_BYTES);
        unsafe { sys::rowbloom_reader_tell_outcome(self.handle.0, key_was_there, bytes) }
    }
    /// A counter of this reader alone.
    pub fn get(&self, counter: Counter) -> u64 {
        unsafe { sys::rowbloom_reader_get(self.handle.0, counter as i32) }
    }
    fn number(&self, property: i32) -> Result<u64> {
        let mut number = 0;
        call(|error| unsafe {
            sys::rowbloom_reader_number(self.handle.0, property, &mut number, error)
        })?;
        Ok(number)
    }
    fn bytes(&self, property: i32) -> Result<Vec<u8>> {
        fill(|to, error| unsafe { sys::rowbloom_reader_bytes(self.handle.0, property, to, error) })
    }
    /// Decodes what is in memory, and reads nothing.
    pub fn properties(&self) -> Result<Properties> {
        Ok(Properties {
            cells: self.number(sys::ROWBLOOM_BLOCK_CELLS)?,
            keys: self.number(sys::ROWBLOOM_BLOCK_KEYS)?,
            chunks: self.number(sys::ROWBLOOM_BLOCK_CHUNKS)?,
            filter_bytes: self.number(sys::ROWBLOOM_BLOCK_FILTER_BYTES)?,
            prefix_length_bytes: self.number(sys::ROWBLOOM_BLOCK_PREFIX_LENGTH_BYTES)?,
            has_row_keys: self.number(sys::ROWBLOOM_BLOCK_HAS_ROW_KEYS)? != 0,
            file_id: self.number(sys::ROWBLOOM_BLOCK_FILE_ID)?,
            is_within_capacity: self.number(sys::ROWBLOOM_BLOCK_IS_WITHIN_CAPACITY)? != 0,
            bloom_type: text_of(self.bytes(sys::ROWBLOOM_BLOCK_BLOOM_TYPE)?),
            key_codec: text_of(self.bytes(sys::ROWBLOOM_BLOCK_KEY_CODEC)?),
            filter_spec: text_of(self.bytes(sys::ROWBLOOM_BLOCK_FILTER_SPEC)?),
            writer: text_of(self.bytes(sys::ROWBLOOM_BLOCK_WRITER)?),
            first_row: self.bytes(sys::ROWBLOOM_BLOCK_FIRST_ROW)?,
            first_qualifier: self.bytes(sys::ROWBLOOM_BLOCK_FIRST_QUALIFIER)?,
            last_row: self.bytes(sys::ROWBLOOM_BLOCK_LAST_ROW)?,
            last_qualifier: self.bytes(sys::ROWBLOOM_BLOCK_LAST_QUALIFIER)?,
        })
    }
    /// Reads the whole block and checks every checksum.
    pub fn verify(&self) -> Result<()> {
        call(|error| unsafe { sys::rowbloom_reader_verify(self.handle.0, error) })
    }
}

/// Properties of a block; `FilterBlockProperties` of `rowbloom/filter_reader.h`
/// says what each is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Properties {
    pub cells: u64,
    pub keys: u64,
    pub chunks: u64,
    pub filter_bytes: u64,
    pub prefix_length_bytes: u64,
    /// A row alone can be asked.
    pub has_row_keys: bool,
    /// The reader's.
    pub file_id: u64,
    /// False: the cache is too small for its readers.
    pub is_within_capacity: bool,
    pub bloom_type: String,
    pub key_codec: String,
    pub filter_spec: String,
    pub writer: String,
    pub first_row: Vec<u8>,
    pub first_qualifier: Vec<u8>,
    pub last_row: Vec<u8>,
    pub last_qualifier: Vec<u8>,
}

/// Remembers which files were found not to have a key, so that a key that is
/// absent and asked again and again costs one read.
pub struct Memo(MemoHandle);

impl Memo {
    pub fn new(capacity_bytes: u64) -> Result<Memo> {
        let new = |out, error| unsafe { sys::rowbloom_memo_new(capacity_bytes, out, error) };
        MemoHandle::new(new).map(Memo)
    }
    /// True: the file was found not to have the key.
    pub fn denies(&self, file_id: u64, key: Key<'_>) -> bool {
        let (qualifier, size) = key.qualifier();
        let (row, row_size) = (key.row.as_ptr().cast(), key.row.len());
        unsafe { sys::rowbloom_memo_denies(self.0 .0, file_id, row, row_size, qualifier, size) }
    }
    /// Call it only if the file has no cell of the key, not even a tombstone or
    /// one of another time: otherwise rows are lost. A `file_id` must never name
    /// a second file.
    pub fn remember(&self, file_id: u64, key: Key<'_>) {
        let (qualifier, size) = key.qualifier();
        let (row, row_size) = (key.row.as_ptr().cast(), key.row.len());
        unsafe { sys::rowbloom_memo_remember(self.0 .0, file_id, row, row_size, qualifier, size) }
    }
    pub fn erase_file(&self, file_id: u64) {
        unsafe { sys::rowbloom_memo_erase_file(self.0 .0, file_id) }
    }
}

/// Gives each SST, when it is written, the bits per key that save the most
/// reads. The options are those of `rowbloom_budget_new` in `rowbloom/c.h`.
pub struct Budget(BudgetHandle);

impl Budget {
    pub fn new(options: &str) -> Result<Budget> {
        let options = c_text(options)?;
        let new =
            |out, error| unsafe { sys::rowbloom_budget_new(options.as_ptr().cast(), out, error) };
        BudgetHandle::new(new).map(Budget)
    }
    /// Tells the tree's filters, whenever it changed; `runs`, if they are known,
    /// the newest first.
    pub fn set_live(&mut self, options: &str, runs: Option<&[Run]>) -> Result<()> {
        let options = c_text(options)?;
        let (runs, count) = runs.map_or((ptr::null(), 0), |runs| (runs.as_ptr(), runs.len()));
        call(|error| unsafe {
            let options = options.as_ptr().cast();
            sys::rowbloom_budget_set_live(self.0 .0, options, runs, count, error)
        })
    }
    /// The `filter_spec` of an SST that is to be written. None: it is to have no
    /// filter.
    pub fn for_file(&mut self, options: &str) -> Result<Option<String>> {
        let options = c_text(options)?;
        let spec = fill(|to, error| unsafe {
            sys::rowbloom_budget_for_file(self.0 .0, options.as_ptr().cast(), to, error)
        })?;
        Ok(Some(text_of(spec)).filter(|spec| !spec.is_empty()))
    }
}

/// How a flat key holds its segments: (row, qualifier), or up to 8.
pub struct KeyCodec(CodecHandle);

impl KeyCodec {
    pub fn new(text: &str) -> Result<KeyCodec> {
        let text = c_text(text)?;
        let new = |out, error| unsafe { sys::rowbloom_codec_new(text.as_ptr().cast(), out, error) };
        CodecHandle::new(new).map(KeyCodec)
    }
    pub fn encode(&self, row: &[u8], qualifier: &[u8]) -> Result<Vec<u8>> {
        let key = Key::cell(row, qualifier);
        fill(|to, error| with_key!(sys::rowbloom_codec_encode, self.0 .0, key, to, error))
    }
    pub fn decode(&self, key: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        let (mut row, mut qualifier) = (Buffer::new(), Buffer::new());
        let (bytes, size) = (key.as_ptr().cast(), key.len());
        call(|error| unsafe {
            let (row, qualifier) = (&mut row.0, &mut qualifier.0);
            sys::rowbloom_codec_decode(self.0 .0, bytes, size, row, qualifier, error)
        })?;
        Ok((row.to_vec(), qualifier.to_vec()))
    }
    /// Keys of the row are at or above the first and below the second; if that
    /// is empty, to the end.
    pub fn bounds(&self, row: &[u8]) -> Result<(Vec<u8>, Vec<u8>)> {
        let (mut lower, mut upper) = (Buffer::new(), Buffer::new());
        let (bytes, size) = (row.as_ptr().cast(), row.len());
        call(|error| unsafe {
            let (lower, upper) = (&mut lower.0, &mut upper.0);
            sys::rowbloom_codec_bounds(self.0 .0, bytes, size, lower, upper, error)
        })?;
        Ok((lower.to_vec(), upper.to_vec()))
    }
    /// The sizes of the key's row prefix and column prefix.
    pub fn prefix_sizes(&self, key: &[u8]) -> (usize, usize) {
        let (mut row, mut column) = (0, 0);
        let (bytes, size) = (key.as_ptr().cast(), key.len());
        unsafe { sys::rowbloom_codec_prefix_sizes(self.0 .0, bytes, size, &mut row, &mut column) }
        (row, column)
    }
    pub fn segment_count(&self) -> usize {
        unsafe { sys::rowbloom_codec_segment_count(self.0 .0) }
    }
    /// The flat key of the first segments, up to all.
    pub fn encode_segments(&self, segments: &[&[u8]]) -> Result<Vec<u8>> {
        let (codec, list) = (self.0 .0, c_list(segments));
        fill(|to, error| unsafe {
            sys::rowbloom_codec_encode_segments(codec, list.as_ptr(), list.len(), to, error)
        })
    }
    /// The prefix for [`Key::prefix`]: all keys that begin with these segments,
    /// of which the last ends a key level.
    pub fn encode_prefix(&self, segments: &[&[u8]]) -> Result<Vec<u8>> {
        let (codec, list) = (self.0 .0, c_list(segments));
        fill(|to, error| unsafe {
            sys::rowbloom_codec_encode_prefix(codec, list.as_ptr(), list.len(), to, error)
        })
    }
    pub fn decode_segments(&self, key: &[u8]) -> Result<Vec<Vec<u8>>> {
        let mut segments: [Buffer; 8] = Default::default();
        let count = self.segment_count();
        let (bytes, size) = (key.as_ptr().cast(), key.len());
        // A Buffer has the layout of its only field.
        call(|error| unsafe {
            let to = segments.as_mut_ptr().cast();
            sys::rowbloom_codec_decode_segments(self.0 .0, bytes, size, to, count, error)
        })?;
        Ok(segments.iter().take(count).map(Buffer::to_vec).collect())
    }
    /// As [`KeyCodec::bounds`], for all keys that begin with these segments.
    pub fn bounds_of_segments(&self, segments: &[&[u8]]) -> Result<(Vec<u8>, Vec<u8>)> {
        let (codec, list) = (self.0 .0, c_list(segments));
        let (mut lower, mut upper) = (Buffer::new(), Buffer::new());
        call(|error| unsafe {
            let (lower, upper, list, count) =
                (&mut lower.0, &mut upper.0, list.as_ptr(), list.len());
            sys::rowbloom_codec_bounds_of_segments(codec, list, count, lower, upper, error)
        })?;
        Ok((lower.to_vec(), upper.to_vec()))
    }
    /// The size of the key's prefix of each key level that it holds whole, the
    /// shortest first.
    pub fn key_levels(&self, key: &[u8]) -> Vec<usize> {
        let mut sizes = vec![0; 8];
        let (bytes, size) = (key.as_ptr().cast(), key.len());
        let count = unsafe {
            let (to, room) = (sizes.as_mut_ptr(), sizes.len());
            sys::rowbloom_codec_key_levels(self.0 .0, bytes, size, to, room)
        };
        sizes.truncate(count);
        sizes
    }
}

fn c_list(segments: &[&[u8]]) -> Vec<sys::rowbloom_bytes> {
    segments
        .iter()
        .map(|segment| sys::rowbloom_bytes {
            data: segment.as_ptr().cast(),
            size: segment.len(),
        })
        .collect()
}

fn new_memfilter(options: &str) -> Result<MemFilterHandle> {
    let options = c_text(options)?;
    let new =
        |out, error| unsafe { sys::rowbloom_memfilter_new(options.as_ptr().cast(), out, error) };
    MemFilterHandle::new(new)
}

fn add_to(filter: &MemFilterHandle, key: Key<'_>) -> Result<bool> {
    let mut added = false;
    call(|error| {
        with_key!(
            sys::rowbloom_memfilter_add,
            filter.0,
            key,
            &mut added,
            error
        )
    })?;
    Ok(added)
}

fn save(filter: &MemFilterHandle) -> Result<Vec<u8>> {
    fill(|to, error| unsafe { sys::rowbloom_memfilter_save(filter.0, to, error) })
}

/// A filter in memory that grows, to which one thread adds.
pub struct MemFilter(MemFilterHandle);

impl MemFilter {
    pub fn new(options: &str) -> Result<MemFilter> {
        new_memfilter(options).map(MemFilter)
    }
    pub fn load(saved: &[u8]) -> Result<MemFilter> {
        let load = |out, error| unsafe {
            sys::rowbloom_memfilter_load(saved.as_ptr().cast(), saved.len(), out, error)
        };
        MemFilterHandle::new(load).map(MemFilter)
    }
    /// False if the key may have been there already.
    pub fn add(&mut self, key: Key<'_>) -> Result<bool> {
        add_to(&self.0, key)
    }
    pub fn may_contain(&self, key: Key<'_>) -> bool {
        with_key!(sys::rowbloom_memfilter_may_contain, self.0 .0, key)
    }
    pub fn save(&self) -> Result<Vec<u8>> {
        save(&self.0)
    }
}

/// A filter in memory of one size, to which any number of threads add.
pub struct ConcurrentFilter(MemFilterHandle);

impl ConcurrentFilter {
    pub fn new(key_count: u64, target_fpr: f64) -> Result<ConcurrentFilter> {
        new_memfilter(&format!(
            "kind=concurrent;key_count={};target_fpr={}",
            key_count, target_fpr
        ))
        .map(ConcurrentFilter)
    }
    /// False if the key may have been there already.
    pub fn add(&self, key: Key<'_>) -> Result<bool> {
        add_to(&self.0, key)
    }
    pub fn may_contain(&self, key: Key<'_>) -> bool {
        with_key!(sys::rowbloom_memfilter_may_contain, self.0 .0, key)
    }
    /// For [`MemFilter::load`], to which one thread adds.
    pub fn save(&self) -> Result<Vec<u8>> {
        save(&self.0)
    }
}
