// SPDX-License-Identifier: Apache-2.0
//
// What the programs on rust-rocksdb have in common; does what ../options.c
// does with the database that `open` returns for a path and an options string.

use rocksdb::{Options, DB};
use std::process::ExitCode;

const ROWS: usize = 50_000;

/// Returns how many files the filters kept gets from reading.
fn filtered(options: &Options) -> usize {
    let text = options.get_statistics().expect("statistics are enabled");
    text.lines()
        .find_map(|line| line.strip_prefix("rocksdb.bloom.filter.useful COUNT : "))
        .and_then(|count| count.trim().parse().ok())
        .expect("the ticker is a number")
}

fn key(row: usize, column: &str) -> String {
    format!("user{row:06}/{column}")
}

fn run(db: &DB, options: &Options) -> Result<bool, rocksdb::Error> {
    for i in 0..ROWS {
        db.put(key(2 * i, "name"), b"value")?;
    }
    db.flush()?;
    let (mut lost, mut wrong) = (0, 0);
    for i in 0..ROWS {
        lost += usize::from(db.get_pinned(key(2 * i, "name"))?.is_none());
        wrong += usize::from(db.get_pinned(key(2 * i, "mail"))?.is_some());
        wrong += usize::from(db.get_pinned(key(2 * i + 1, "name"))?.is_some());
    }
    let filtered = filtered(options);
    println!("lost {lost}, filtered {filtered}");
    Ok(lost == 0 && wrong == 0 && filtered >= 2 * ROWS * 98 / 100)
}

/// `open` returns options with statistics.
pub fn main_with(open: fn(&str, &str) -> Result<(DB, Options), String>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        eprintln!("usage: {} DB OPTIONS", arguments[0]);
        return ExitCode::from(2);
    }
    let result = open(&arguments[1], &arguments[2])
        .and_then(|(db, options)| run(&db, &options).map_err(|e| e.to_string()));
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("{message}");
            ExitCode::from(2)
        }
    }
}
