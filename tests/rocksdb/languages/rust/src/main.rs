// SPDX-License-Identifier: Apache-2.0
//
// rust_rocksdb_options DB OPTIONS: rust-rocksdb with a filter policy that only
// an options string can name. Does what ../options.c does.
//
// rust-rocksdb from 0.25 on has Options::get_options_from_string(). Before, the
// string makes the database by the C function of librocksdb-sys, and
// Options::load_latest() reads the policy from the OPTIONS file at each open.

use librocksdb_sys as ffi;
use rocksdb::{Cache, Env, Options, DB};
use std::ffi::{c_char, CStr, CString};
use std::process::ExitCode;
use std::ptr::null_mut;

const ROWS: usize = 50_000;

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

/// Returns how many files the filters kept gets from reading.
fn filtered(options: &Options) -> usize {
    let text = options.get_statistics().expect("statistics are enabled");
    let start = "rocksdb.bloom.filter.useful COUNT : ";
    text.lines()
        .find_map(|line| line.strip_prefix(start))
        .and_then(|count| count.trim().parse().ok())
        .expect("the ticker is a number")
}

fn key(row: usize, column: &str) -> String {
    format!("user{row:06}/{column}")
}

fn run(path: &str, text: &str) -> Result<bool, String> {
    create(path, text)?;
    let cache = Cache::new_lru_cache(8 << 20).map_err(|e| e.to_string())?;
    let env = Env::new().map_err(|e| e.to_string())?;
    let (mut options, families) =
        Options::load_latest(path, env, false, cache).map_err(|e| e.to_string())?;
    options.enable_statistics();
    let db = DB::open_cf_descriptors(&options, path, families).map_err(|e| e.to_string())?;
    for i in 0..ROWS {
        db.put(key(2 * i, "name"), b"value")
            .map_err(|e| e.to_string())?;
    }
    db.flush().map_err(|e| e.to_string())?;

    let exists = |row: usize, column: &str| -> Result<bool, String> {
        let value = db.get_pinned(key(row, column));
        Ok(value.map_err(|e| e.to_string())?.is_some())
    };
    let (mut lost, mut wrong) = (0, 0);
    for i in 0..ROWS {
        lost += usize::from(!exists(2 * i, "name")?);
        wrong += usize::from(exists(2 * i, "mail")?);
        wrong += usize::from(exists(2 * i + 1, "name")?);
    }
    let filtered = filtered(&options);
    println!("lost {lost}, filtered {filtered}");
    Ok(lost == 0 && wrong == 0 && filtered >= 2 * ROWS * 98 / 100)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        eprintln!("usage: {} DB OPTIONS", arguments[0]);
        return ExitCode::from(2);
    }
    match run(&arguments[1], &arguments[2]) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
