// SPDX-License-Identifier: Apache-2.0
//
//! The declarations of `rowbloom/c.h`, which has the contract of each.
//! The crate `rowbloom` is the safe form.

#![no_std]
#![allow(non_camel_case_types)]

use core::ffi::c_void;

/// Rust names C's types in `core` since 1.64. `char` has 8 bits everywhere.
pub type c_char = u8;

pub const ROWBLOOM_ABI: u32 = 1;

pub type rowbloom_code = i32;
pub const ROWBLOOM_OK: rowbloom_code = 0;
pub const ROWBLOOM_UNKNOWN: rowbloom_code = 2;
pub const ROWBLOOM_INVALID_ARGUMENT: rowbloom_code = 3;
pub const ROWBLOOM_NOT_FOUND: rowbloom_code = 5;
pub const ROWBLOOM_RESOURCE_EXHAUSTED: rowbloom_code = 8;
pub const ROWBLOOM_FAILED_PRECONDITION: rowbloom_code = 9;
pub const ROWBLOOM_OUT_OF_RANGE: rowbloom_code = 11;
pub const ROWBLOOM_UNIMPLEMENTED: rowbloom_code = 12;
pub const ROWBLOOM_INTERNAL: rowbloom_code = 13;
pub const ROWBLOOM_UNAVAILABLE: rowbloom_code = 14;
pub const ROWBLOOM_DATA_LOSS: rowbloom_code = 15;

pub const ROWBLOOM_LOOKUPS: i32 = 0;
pub const ROWBLOOM_NEGATIVES: i32 = 1;
pub const ROWBLOOM_TRUE_POSITIVES: i32 = 2;
pub const ROWBLOOM_FALSE_POSITIVES: i32 = 3;
pub const ROWBLOOM_UNLOADED: i32 = 4;
pub const ROWBLOOM_CHUNK_LOADS: i32 = 5;
pub const ROWBLOOM_CHUNK_LOAD_BYTES: i32 = 6;
pub const ROWBLOOM_LOAD_ERRORS: i32 = 7;
pub const ROWBLOOM_OPEN_ERRORS: i32 = 8;
pub const ROWBLOOM_PREFIX_LOOKUPS: i32 = 9;
pub const ROWBLOOM_PREFIX_NEGATIVES: i32 = 10;

pub const ROWBLOOM_CAPACITY_BYTES: usize = 0;
pub const ROWBLOOM_USAGE_BYTES: usize = 1;
pub const ROWBLOOM_PINNED_BYTES: usize = 2;
pub const ROWBLOOM_RETIRED_BYTES: usize = 3;
pub const ROWBLOOM_INDEX_BYTES_OUTSIDE: usize = 4;
pub const ROWBLOOM_RESIDENT_BYTES: usize = 5;
pub const ROWBLOOM_CHUNK_BYTES: usize = 6;
pub const ROWBLOOM_INDEX_BYTES: usize = 7;
pub const ROWBLOOM_ENTRIES: usize = 8;
pub const ROWBLOOM_HITS: usize = 9;
pub const ROWBLOOM_MISSES: usize = 10;
pub const ROWBLOOM_INSERTS: usize = 11;
pub const ROWBLOOM_EVICTIONS: usize = 12;
pub const ROWBLOOM_SHRINKS: usize = 13;
pub const ROWBLOOM_REJECTIONS: usize = 14;

pub const ROWBLOOM_BLOCK_CELLS: i32 = 0;
pub const ROWBLOOM_BLOCK_KEYS: i32 = 1;
pub const ROWBLOOM_BLOCK_CHUNKS: i32 = 2;
pub const ROWBLOOM_BLOCK_FILTER_BYTES: i32 = 3;
pub const ROWBLOOM_BLOCK_PREFIX_LENGTH_BYTES: i32 = 4;
pub const ROWBLOOM_BLOCK_HAS_ROW_KEYS: i32 = 5;
pub const ROWBLOOM_BLOCK_FILE_ID: i32 = 6;
pub const ROWBLOOM_BLOCK_IS_WITHIN_CAPACITY: i32 = 7;
pub const ROWBLOOM_BLOCK_BLOOM_TYPE: i32 = 100;
pub const ROWBLOOM_BLOCK_KEY_CODEC: i32 = 101;
pub const ROWBLOOM_BLOCK_FILTER_SPEC: i32 = 102;
pub const ROWBLOOM_BLOCK_WRITER: i32 = 103;
pub const ROWBLOOM_BLOCK_FIRST_ROW: i32 = 104;
pub const ROWBLOOM_BLOCK_FIRST_QUALIFIER: i32 = 105;
pub const ROWBLOOM_BLOCK_LAST_ROW: i32 = 106;
pub const ROWBLOOM_BLOCK_LAST_QUALIFIER: i32 = 107;

pub const ROWBLOOM_NO: i32 = 0;
pub const ROWBLOOM_MAYBE: i32 = 1;
pub const ROWBLOOM_NOT_IN_MEMORY: i32 = 2;

/// The size of a qualifier that is null, if the row is a prefix.
pub const ROWBLOOM_PREFIX: usize = usize::MAX;

pub const ROWBLOOM_UNKNOWN_BYTES: u64 = u64::MAX;

#[repr(C)]
pub struct rowbloom_error {
    pub code: rowbloom_code,
    pub message: [c_char; 1020],
}

#[repr(C)]
pub struct rowbloom_buffer {
    pub data: *mut c_char,
    pub size: usize,
    pub capacity: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct rowbloom_block_info {
    pub size_bytes: u64,
    pub tail_size_bytes: u64,
    pub key_count: u64,
    pub chunk_count: u64,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct rowbloom_load {
    pub chunk: u64,
    pub offset: u64,
    pub size_bytes: u64,
    pub steps: u32,
}

#[repr(C)]
pub struct rowbloom_bytes {
    pub data: *const c_void,
    pub size: usize,
}

pub type rowbloom_append_fn =
    unsafe extern "C" fn(*mut c_void, *const c_void, usize, *mut rowbloom_error) -> rowbloom_code;
pub type rowbloom_read_fn = unsafe extern "C" fn(
    *mut c_void,
    u64,
    *mut c_void,
    usize,
    *mut rowbloom_error,
) -> rowbloom_code;

#[repr(C)]
pub struct rowbloom_source {
    pub read: rowbloom_read_fn,
    pub context: *mut c_void,
    pub size_bytes: u64,
    pub name: *const c_char,
}

#[repr(C)]
pub struct rowbloom_key {
    pub row: *const c_void,
    pub row_size: usize,
    pub qualifier: *const c_void,
    pub qualifier_size: usize,
}

#[repr(C)]
pub struct rowbloom_question {
    pub reader: *const rowbloom_reader,
    pub key: usize,
}

#[repr(C)]
pub struct rowbloom_read {
    pub context: *mut c_void,
    pub offset: u64,
    pub to: *mut c_void,
    pub size: usize,
    pub code: rowbloom_code,
}

pub type rowbloom_read_many_fn = unsafe extern "C" fn(*mut c_void, *mut rowbloom_read, usize);

#[repr(C)]
pub struct rowbloom_read_group {
    pub read_many: rowbloom_read_many_fn,
    pub context: *mut c_void,
}

pub const ROWBLOOM_UNKNOWN_SHARE: f64 = -1.0;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct rowbloom_run {
    pub key_count: u64,
    pub block_miss_share: f64,
    pub absent_asks: f64,
}

macro_rules! handles {
    ($($name:ident)*) => { $(
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )* };
}
handles! {
    rowbloom_builder rowbloom_filter rowbloom_writer rowbloom_cache
    rowbloom_stats rowbloom_reader rowbloom_codec rowbloom_memfilter
    rowbloom_memo rowbloom_budget
}

extern "C" {
    pub fn rowbloom_version() -> *const c_char;
    pub fn rowbloom_abi() -> u32;
    pub fn rowbloom_buffer_free(buffer: *mut rowbloom_buffer);
    pub fn rowbloom_builder_new(
        spec: *const c_char,
        out: *mut *mut rowbloom_builder,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_builder_add(
        builder: *mut rowbloom_builder,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
    );
    pub fn rowbloom_builder_add_many(
        builder: *mut rowbloom_builder,
        keys: *const rowbloom_key,
        count: usize,
    );
    pub fn rowbloom_builder_finish(
        builder: *mut rowbloom_builder,
        filter: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_builder_free(builder: *mut rowbloom_builder);
    pub fn rowbloom_filter_open(
        bytes: *const c_void,
        size: usize,
        out: *mut *mut rowbloom_filter,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_filter_may_contain(
        filter: *const rowbloom_filter,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
    ) -> bool;
    pub fn rowbloom_filter_verify(
        bytes: *const c_void,
        size: usize,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_filter_free(filter: *mut rowbloom_filter);
    pub fn rowbloom_writer_new(
        options: *const c_char,
        append: rowbloom_append_fn,
        context: *mut c_void,
        out: *mut *mut rowbloom_writer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_writer_new_warm(
        options: *const c_char,
        append: rowbloom_append_fn,
        context: *mut c_void,
        cache: *mut rowbloom_cache,
        out: *mut *mut rowbloom_writer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_writer_add(
        writer: *mut rowbloom_writer,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
    );
    pub fn rowbloom_writer_add_many(
        writer: *mut rowbloom_writer,
        cells: *const rowbloom_key,
        count: usize,
    );
    pub fn rowbloom_writer_finish(
        writer: *mut rowbloom_writer,
        info: *mut rowbloom_block_info,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_writer_free(writer: *mut rowbloom_writer);
    pub fn rowbloom_cache_new(
        capacity: u64,
        out: *mut *mut rowbloom_cache,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_cache_set_capacity(cache: *mut rowbloom_cache, capacity: u64);
    pub fn rowbloom_cache_erase_file(cache: *mut rowbloom_cache, file_id: u64);
    pub fn rowbloom_cache_usage(
        cache: *const rowbloom_cache,
        text: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_cache_numbers(
        cache: *const rowbloom_cache,
        numbers: *mut u64,
        count: usize,
    ) -> usize;
    pub fn rowbloom_cache_free(cache: *mut rowbloom_cache);
    pub fn rowbloom_stats_new(
        out: *mut *mut rowbloom_stats,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_stats_add(stats: *mut rowbloom_stats, counter: i32, delta: u64);
    pub fn rowbloom_stats_get(stats: *const rowbloom_stats, counter: i32) -> u64;
    pub fn rowbloom_stats_get_of_level(
        stats: *const rowbloom_stats,
        level: i32,
        counter: i32,
    ) -> u64;
    pub fn rowbloom_stats_levels(
        stats: *const rowbloom_stats,
        levels: *mut i32,
        count: usize,
    ) -> usize;
    pub fn rowbloom_stats_get_of_key_level(
        stats: *const rowbloom_stats,
        key_level: usize,
        counter: i32,
    ) -> u64;
    pub fn rowbloom_stats_prometheus(
        stats: *const rowbloom_stats,
        text: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_stats_free(stats: *mut rowbloom_stats);
    pub fn rowbloom_reader_open(
        source: *const rowbloom_source,
        offset: u64,
        size: u64,
        options: *const c_char,
        cache: *mut rowbloom_cache,
        stats: *mut rowbloom_stats,
        out: *mut *mut rowbloom_reader,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_reader_may_contain(
        reader: *const rowbloom_reader,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
    ) -> bool;
    pub fn rowbloom_readers_may_contain(
        readers: *const *const rowbloom_reader,
        count: usize,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
        may_contain: *mut bool,
    );
    pub fn rowbloom_may_contain_many(
        keys: *const rowbloom_key,
        key_count: usize,
        questions: *const rowbloom_question,
        count: usize,
        may_contain: *mut bool,
    );
    pub fn rowbloom_reader_open_in_group(
        source: *const rowbloom_source,
        group: *const rowbloom_read_group,
        offset: u64,
        size: u64,
        options: *const c_char,
        cache: *mut rowbloom_cache,
        stats: *mut rowbloom_stats,
        out: *mut *mut rowbloom_reader,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_reader_ask(
        reader: *const rowbloom_reader,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
        load: *mut rowbloom_load,
    ) -> i32;
    pub fn rowbloom_reader_offer(
        reader: *const rowbloom_reader,
        load: *const rowbloom_load,
        code: rowbloom_code,
        bytes: *const c_void,
        size: usize,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
    ) -> i32;
    pub fn rowbloom_reader_tell_outcome(
        reader: *const rowbloom_reader,
        key_was_there: bool,
        read_bytes: u64,
    );
    pub fn rowbloom_reader_get(reader: *const rowbloom_reader, counter: i32) -> u64;
    pub fn rowbloom_reader_number(
        reader: *const rowbloom_reader,
        property: i32,
        number: *mut u64,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_reader_bytes(
        reader: *const rowbloom_reader,
        property: i32,
        bytes: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_reader_verify(
        reader: *const rowbloom_reader,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_reader_free(reader: *mut rowbloom_reader);
    pub fn rowbloom_memo_new(
        capacity: u64,
        out: *mut *mut rowbloom_memo,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_memo_denies(
        memo: *const rowbloom_memo,
        file_id: u64,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
    ) -> bool;
    pub fn rowbloom_memo_remember(
        memo: *mut rowbloom_memo,
        file_id: u64,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
    );
    pub fn rowbloom_memo_erase_file(memo: *mut rowbloom_memo, file_id: u64);
    pub fn rowbloom_memo_free(memo: *mut rowbloom_memo);
    pub fn rowbloom_budget_new(
        options: *const c_char,
        out: *mut *mut rowbloom_budget,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_budget_set_live(
        budget: *mut rowbloom_budget,
        options: *const c_char,
        runs: *const rowbloom_run,
        count: usize,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_budget_for_file(
        budget: *const rowbloom_budget,
        options: *const c_char,
        filter_spec: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_budget_free(budget: *mut rowbloom_budget);
    pub fn rowbloom_codec_new(
        text: *const c_char,
        out: *mut *mut rowbloom_codec,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_codec_encode(
        codec: *const rowbloom_codec,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
        key: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_codec_decode(
        codec: *const rowbloom_codec,
        key: *const c_void,
        key_size: usize,
        row: *mut rowbloom_buffer,
        qualifier: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_codec_bounds(
        codec: *const rowbloom_codec,
        row: *const c_void,
        row_size: usize,
        lower: *mut rowbloom_buffer,
        upper: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_codec_prefix_sizes(
        codec: *const rowbloom_codec,
        key: *const c_void,
        key_size: usize,
        row_prefix: *mut usize,
        column_prefix: *mut usize,
    );
    pub fn rowbloom_codec_segment_count(codec: *const rowbloom_codec) -> usize;
    pub fn rowbloom_codec_encode_segments(
        codec: *const rowbloom_codec,
        segments: *const rowbloom_bytes,
        count: usize,
        key: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_codec_encode_prefix(
        codec: *const rowbloom_codec,
        segments: *const rowbloom_bytes,
        count: usize,
        prefix: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_codec_decode_segments(
        codec: *const rowbloom_codec,
        key: *const c_void,
        key_size: usize,
        segments: *mut rowbloom_buffer,
        count: usize,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_codec_bounds_of_segments(
        codec: *const rowbloom_codec,
        segments: *const rowbloom_bytes,
        count: usize,
        lower: *mut rowbloom_buffer,
        upper: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_codec_key_levels(
        codec: *const rowbloom_codec,
        key: *const c_void,
        key_size: usize,
        prefix_sizes: *mut usize,
        count: usize,
    ) -> usize;
    pub fn rowbloom_codec_free(codec: *mut rowbloom_codec);
    pub fn rowbloom_memfilter_new(
        options: *const c_char,
        out: *mut *mut rowbloom_memfilter,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_memfilter_load(
        bytes: *const c_void,
        size: usize,
        out: *mut *mut rowbloom_memfilter,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_memfilter_add(
        filter: *mut rowbloom_memfilter,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
        added: *mut bool,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_memfilter_may_contain(
        filter: *const rowbloom_memfilter,
        row: *const c_void,
        row_size: usize,
        qualifier: *const c_void,
        qualifier_size: usize,
    ) -> bool;
    pub fn rowbloom_memfilter_save(
        filter: *const rowbloom_memfilter,
        bytes: *mut rowbloom_buffer,
        error: *mut rowbloom_error,
    ) -> rowbloom_code;
    pub fn rowbloom_memfilter_free(filter: *mut rowbloom_memfilter);
}
