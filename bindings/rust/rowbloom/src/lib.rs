// SPDX-License-Identifier: Apache-2.0
//
//! rowbloom for Rust: the safe form of its C API, whose header
//! `rowbloom/c.h` has the contract of each call.
//!
//! ```
//! use rowbloom::{Filter, FilterBuilder, Key};
//!
//! let mut builder = FilterBuilder::new("compact:bits_per_key=10")?;
//! builder.add(Key::cell(b"user17", b"email"));
//! let bytes = builder.finish()?;
//! let filter = Filter::open(&bytes)?;
//! assert!(filter.may_contain(Key::cell(b"user17", b"email")));
//! # Ok::<(), rowbloom::Error>(())
//! ```
//!
//! Types are `Send`, and `Sync` where several threads may call at once; what
//! only one may do takes `&mut self`. A callback that panics is an error.

use std::ffi::{c_void, CStr, CString};
use std::fmt;
use std::mem::MaybeUninit;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;

use rowbloom_sys as sys;
pub use rowbloom_sys::rowbloom_block_info as BlockInfo;
pub use rowbloom_sys::rowbloom_load as Load;

/// The version of the library that the program runs with.
pub fn version() -> &'static str {
    unsafe { CStr::from_ptr(sys::rowbloom_version().cast()) }
        .to_str()
        .unwrap_or("")
}

/// A code of `rowbloom_sys` and the library's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    pub code: i32,
    pub message: String,
}

impl Error {
    pub fn new(code: i32, message: impl Into<String>) -> Error {
        let message = message.into();
        Error { code, message }
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
        Err(Error::new((*error).code, text.to_string_lossy()))
    }
}

fn c_text(text: &str) -> Result<CString> {
    CString::new(text).map_err(|_| {
        let code = sys::ROWBLOOM_INVALID_ARGUMENT;
        Error::new(code, format!("{:?} has a zero byte", text))
    })
}

/// A buffer of the library's.
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

/// A view over a filter's bytes.
pub struct Filter<'a> {
    handle: FilterHandle,
    bytes: &'a [u8],
}

impl<'a> Filter<'a> {
    pub fn open(bytes: &'a [u8]) -> Result<Filter<'a>> {
        let open = |out, error| unsafe {
            sys::rowbloom_filter_open(bytes.as_ptr().cast(), bytes.len(), out, error)
        };
        let handle = FilterHandle::new(open)?;
        Ok(Filter { handle, bytes })
    }
    pub fn may_contain(&self, key: Key<'_>) -> bool {
        with_key!(sys::rowbloom_filter_may_contain, self.handle.0, key)
    }
    pub fn verify(&self) -> Result<()> {
        let (bytes, size) = (self.bytes.as_ptr().cast(), self.bytes.len());
        call(|error| unsafe { sys::rowbloom_filter_verify(bytes, size, error) })
    }
}

/// Runs a callback. Its error, or its panic, becomes one of the library's.
fn guarded(error: *mut sys::rowbloom_error, callback: impl FnOnce() -> Result<()>) -> i32 {
    let result = catch_unwind(AssertUnwindSafe(callback))
        .unwrap_or_else(|_| Err(Error::new(sys::ROWBLOOM_INTERNAL, "a callback panicked")));
    let failed = match result {
        Ok(()) => return sys::ROWBLOOM_OK,
        Err(failed) => failed,
    };
    // The library has set all of it to zero.
    let message = unsafe { &mut (*error).message };
    let size = failed.message.len().min(message.len() - 1);
    message[..size].copy_from_slice(&failed.message.as_bytes()[..size]);
    match failed.code {
        sys::ROWBLOOM_OK => sys::ROWBLOOM_UNKNOWN,
        code => code,
    }
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
    pub fn usage(&self) -> Result<String> {
        fill(|to, error| unsafe { sys::rowbloom_cache_usage(self.0 .0, to, error) })
            .map(|text| String::from_utf8_lossy(&text).into_owned())
    }
}

/// What filters answered and cost. The counters are `rowbloom_sys`'s.
pub struct Stats(StatsHandle);

impl Stats {
    pub fn new() -> Result<Stats> {
        StatsHandle::new(|out, error| unsafe { sys::rowbloom_stats_new(out, error) }).map(Stats)
    }
    pub fn add(&self, counter: i32, delta: u64) {
        unsafe { sys::rowbloom_stats_add(self.0 .0, counter, delta) }
    }
    pub fn get(&self, counter: i32) -> u64 {
        unsafe { sys::rowbloom_stats_get(self.0 .0, counter) }
    }
    pub fn prometheus(&self) -> Result<String> {
        fill(|to, error| unsafe { sys::rowbloom_stats_prometheus(self.0 .0, to, error) })
            .map(|text| String::from_utf8_lossy(&text).into_owned())
    }
}

/// The bytes of a file that does not change.
pub trait Source: Send + Sync {
    /// Fills `to` with the bytes at `offset`, or returns an error.
    fn read(&self, offset: u64, to: &mut [u8]) -> Result<()>;
    fn size_bytes(&self) -> u64;
    /// For messages, usually a path.
    fn name(&self) -> &str;
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
        let options = c_text(options)?;
        let name = c_text(source.name())?;
        let source_size = source.size_bytes();
        let _source = Pinned::new(source);
        let c_source = sys::rowbloom_source {
            read: read::<S>,
            context: _source.0.cast(),
            size_bytes: source_size,
            name: name.as_ptr().cast(),
        };
        let handle = ReaderHandle::new(|out, error| unsafe {
            sys::rowbloom_reader_open(
                &c_source,
                offset,
                size_bytes,
                options.as_ptr().cast(),
                cache.map_or(ptr::null_mut(), |cache| cache.0 .0),
                stats.map_or(ptr::null_mut(), |stats| stats.0 .0),
                out,
                error,
            )
        })?;
        Ok(BlockReader { handle, _source })
    }
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
            Err(error) => (error.code, &[][..]),
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
    pub fn verify(&self) -> Result<()> {
        call(|error| unsafe { sys::rowbloom_reader_verify(self.handle.0, error) })
    }
}

/// How a flat key holds (row, qualifier).
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
    pub fn save(&self) -> Result<Vec<u8>> {
        save(&self.0)
    }
}
