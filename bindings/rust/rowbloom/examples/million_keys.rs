// SPDX-License-Identifier: Apache-2.0
//
// A million rows in a filter block, those of even numbers, and four threads
// that ask for them and the others. docs/bindings.md has other languages.

use std::thread;

use rowbloom::{BlockReader, BlockWriter, Cache, Counter, Key, Result, Stats};

const KEYS: usize = 1_000_000;
const THREADS: usize = 4;

fn row(i: usize) -> String {
    format!("user{:08}", i)
}

fn main() -> Result<()> {
    println!("rowbloom {}", rowbloom::version());
    if let Err(error) = BlockWriter::new("filter_spec=ribbon", |_| Ok(())) {
        println!("error {}: {}", error.code as i32, error);
    }

    let mut file = Vec::new(); // An engine's, in memory.
    let mut writer = BlockWriter::new("filter_spec=compact:bits_per_key=10", |piece| {
        file.extend_from_slice(piece);
        Ok(())
    })?;
    for i in (0..2 * KEYS).step_by(2) {
        writer.add(Key::row(row(i).as_bytes()));
    }
    let info = writer.finish()?;
    println!(
        "{} keys in {} bytes, {} chunks",
        info.key_count, info.size_bytes, info.chunk_count
    );

    let (cache, stats) = (Cache::new(64 << 20)?, Stats::new()?);
    let options = "prefetch=true";
    let reader = BlockReader::open(
        file,
        0,
        info.size_bytes,
        options,
        Some(&cache),
        Some(&stats),
    )?;
    let count = 2 * KEYS / THREADS;
    let ask = |range: std::ops::Range<usize>| {
        let (mut false_negatives, mut false_positives) = (0, 0);
        for i in range {
            let maybe = reader.may_contain(Key::row(row(i).as_bytes()));
            if i % 2 == 0 {
                false_negatives += usize::from(!maybe);
            } else {
                false_positives += usize::from(maybe);
            }
        }
        (false_negatives, false_positives)
    };
    let (mut false_negatives, mut false_positives) = (0, 0);
    thread::scope(|scope| {
        let ask = &ask;
        let threads: Vec<_> = (0..THREADS)
            .map(|t| scope.spawn(move || ask(t * count..(t + 1) * count)))
            .collect();
        for thread in threads {
            let (negatives, positives) = thread.join().expect("a thread panicked");
            false_negatives += negatives;
            false_positives += positives;
        }
    });
    println!(
        "{} threads: {} false negatives, {} false positives ({:.3}%)",
        THREADS,
        false_negatives,
        false_positives,
        100.0 * false_positives as f64 / KEYS as f64
    );
    println!(
        "{} lookups, {} negatives",
        stats.get(Counter::Lookups),
        stats.get(Counter::Negatives)
    );
    assert_eq!(false_negatives, 0);
    Ok(())
}
