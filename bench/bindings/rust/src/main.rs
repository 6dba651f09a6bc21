// SPDX-License-Identifier: Apache-2.0
//
// costs.py has what the programs of each language measure.

use rowbloom::{BlockReader, BlockWriter, Cache, Key, Result};

const FILES: usize = 8;
const KEYS_OF_A_BATCH: usize = 32;

extern "C" {
    fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
}

fn thread_nanoseconds() -> i64 {
    let mut time = [0; 2];
    unsafe { clock_gettime(3, &mut time) }; // CLOCK_THREAD_CPUTIME_ID of Linux.
    1_000_000_000 * time[0] + time[1]
}

fn nanoseconds(passes: usize, calls: usize, mut pass: impl FnMut()) -> f64 {
    let mut times: Vec<_> = (0..passes)
        .map(|_| {
            let begin = thread_nanoseconds();
            pass();
            (thread_nanoseconds() - begin) as f64 / calls as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().unwrap());
    let (count, passes) = (arguments.next().unwrap(), arguments.next().unwrap());
    let row = |i: usize| format!("user{:08}", i).into_bytes();
    let rows: Vec<_> = (0..count).map(|i| row(2 * i)).collect();
    let asked: Vec<_> = (0..count).map(|i| row(i * 7919 % (2 * count))).collect();
    let mut block = Vec::new();
    let add = nanoseconds(passes, count, || {
        block.clear();
        let mut writer = BlockWriter::new("", |bytes| {
            block.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
        for row in &rows {
            writer.add(Key::row(row));
        }
        writer.finish().unwrap();
    });

    let cache = Cache::new(64 << 20)?;
    let readers = (0..FILES)
        .map(|_| {
            let size = block.len() as u64;
            BlockReader::open(block.clone(), 0, size, "prefetch=true", Some(&cache), None)
        })
        .collect::<Result<Vec<_>>>()?;
    let files: Vec<_> = readers.iter().collect();
    let mut maybes = 0;
    let lookup = nanoseconds(passes, count, || {
        for row in &asked {
            maybes += usize::from(readers[0].may_contain(Key::row(row)));
        }
    });
    let each = nanoseconds(passes, count, || {
        for row in &asked[..count / FILES] {
            let answers = BlockReader::may_contain_each(&files, Key::row(row));
            maybes += answers.iter().filter(|answer| **answer).count();
        }
    });
    let batch = nanoseconds(passes, count, || {
        for rows in asked[..count / FILES].chunks_exact(KEYS_OF_A_BATCH) {
            let keys: Vec<_> = rows.iter().map(|row| Key::row(row)).collect();
            let questions: Vec<_> = (0..keys.len())
                .flat_map(|key| readers.iter().map(move |reader| (reader, key)))
                .collect();
            let answers = BlockReader::may_contain_many(&keys, &questions);
            maybes += answers.iter().filter(|answer| **answer).count();
        }
    });
    println!(
        "{{\"add\": {:.2}, \"lookup\": {:.2}, \"each_of_8\": {:.2}, \"batch\": {:.2}, \"maybes\": {}}}",
        add, lookup, each, batch, maybes
    );
    Ok(())
}
