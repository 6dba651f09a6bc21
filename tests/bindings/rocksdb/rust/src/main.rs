// SPDX-License-Identifier: Apache-2.0
//
// rust_rocksdb_options DB OPTIONS: rust-rocksdb with a filter policy that only
// an options string can name. Does what ../options.c does.
//
// rust-rocksdb from 0.25 on has Options::get_options_from_string(). Before, the
// string makes the database by the C function of librocksdb-sys, and
// Options::load_latest() reads the policy from the OPTIONS file at each open.

mod rows;

use librocksdb_sys as ffi;
use rocksdb::{Cache, Env, Options, DB};
use std::ffi::{c_char, CStr, CString};
use std::process::ExitCode;
use std::ptr::null_mut;

fn check(error: *mut c_char) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: RocksDB returns a string that ends with 0 and is the caller's.
    unsafe {
        let message = CStr::from_ptr(error).to_string_lossy().into_owned();
        ffi::rocksdb_free(error.cast());
        Err(message)
    }
}

/// Makes an empty database with the options of the string, and closes it.
fn create(path: &str, text: &str) -> Result<(), String> {
    let path = CString::new(path).map_err(|e| e.to_string())?;
    let text = CString::new(text).map_err(|e| e.to_string())?;
    let mut error = null_mut();
    // SAFETY: each object is destroyed once, after its last use.
    unsafe {
        let defaults = ffi::rocksdb_options_create();
        ffi::rocksdb_options_set_create_if_missing(defaults, 1);
        let options = ffi::rocksdb_options_create();
        ffi::rocksdb_get_options_from_string(defaults, text.as_ptr(), options, &mut error);
        let mut result = check(error);
        if result.is_ok() {
            let db = ffi::rocksdb_open(options, path.as_ptr(), &mut error);
            result = check(error);
            if result.is_ok() {
                ffi::rocksdb_close(db);
            }
        }
        ffi::rocksdb_options_destroy(options);
        ffi::rocksdb_options_destroy(defaults);
        result
    }
}

fn load(path: &str) -> Result<(DB, Options), rocksdb::Error> {
    let cache = Cache::new_lru_cache(8 << 20)?;
    let (mut options, families) = Options::load_latest(path, Env::new()?, false, cache)?;
    options.enable_statistics();
    let db = DB::open_cf_descriptors(&options, path, families)?;
    Ok((db, options))
}

fn open(path: &str, text: &str) -> Result<(DB, Options), String> {
    create(path, text)?;
    load(path).map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    rows::main_with(open)
}
