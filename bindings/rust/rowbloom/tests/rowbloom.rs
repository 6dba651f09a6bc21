// SPDX-License-Identifier: Apache-2.0
//
// Each type once with good arguments, and the ways in which Rust differs:
// errors, panics in callbacks, threads, and what outlives what.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rowbloom::*;
use rowbloom_sys as sys;

const ROWS: usize = 20_000;

fn row(i: usize) -> Vec<u8> {
    format!("row{:06}", i).into_bytes()
}

#[derive(Default)]
struct Faults {
    fails: AtomicBool,
    panics: AtomicBool,
    reads: AtomicUsize,
}

struct Bytes(Vec<u8>, Arc<Faults>);

impl Source for Bytes {
    fn read(&self, offset: u64, to: &mut [u8]) -> Result<()> {
        self.1.reads.fetch_add(1, Ordering::Relaxed);
        if self.1.fails.load(Ordering::Relaxed) {
            return Err(Error::new(sys::ROWBLOOM_UNAVAILABLE, "EIO"));
        }
        assert!(!self.1.panics.load(Ordering::Relaxed), "a broken source");
        let from = offset as usize;
        to.copy_from_slice(&self.0[from..from + to.len()]);
        Ok(())
    }
    fn size_bytes(&self) -> u64 {
        self.0.len() as u64
    }
    fn name(&self) -> &str {
        "000012.sst"
    }
}

fn block() -> (Vec<u8>, BlockInfo) {
    let mut bytes = Vec::new();
    let options = "bloom_type=ROWCOL;chunk_size_bytes=4096;filter_spec=compact";
    let mut writer = BlockWriter::new(options, |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    for i in (0..ROWS).step_by(2) {
        writer.add(Key::cell(&row(i), b"q"));
    }
    let info = writer.finish().unwrap();
    (bytes, info)
}

#[test]
fn filters_lose_no_key_and_know_absent_ones() {
    let mut builder = FilterBuilder::new("compact:bits_per_key=20").unwrap();
    builder.add(Key::row(b""));
    builder.add(Key::cell(b"row\0", b""));
    let bytes = builder.finish().unwrap();
    let filter = Filter::open(&bytes).unwrap();
    filter.verify().unwrap();
    assert!(filter.may_contain(Key::row(b"")));
    assert!(filter.may_contain(Key::cell(b"row\0", b"")));
    assert!(!filter.may_contain(Key::row(b"row\0")));
    assert!(!filter.may_contain(Key::cell(b"row", b"")));
    assert_eq!(
        Filter::open(&bytes[1..]).err().unwrap().code,
        sys::ROWBLOOM_DATA_LOSS
    );
}

#[test]
fn errors_have_codes_and_messages() {
    let error = FilterBuilder::new("ribbon").err().unwrap();
    assert_eq!(error.code, sys::ROWBLOOM_INVALID_ARGUMENT);
    assert!(error
        .to_string()
        .starts_with("unknown filter family \"ribbon\"; known: "));
    let error = FilterBuilder::new("com\0pact").err().unwrap();
    assert_eq!(error.message, "\"com\\0pact\" has a zero byte");
    let error = BlockWriter::new("rows=7", |_| Ok(())).err().unwrap();
    assert!(error
        .message
        .starts_with("writer options: unknown option \"rows\""));
    assert_eq!(version(), env!("CARGO_PKG_VERSION"));
}

#[test]
fn a_sink_that_fails_or_panics_fails_the_block() {
    let failing = |_: &[u8]| Err(Error::new(sys::ROWBLOOM_RESOURCE_EXHAUSTED, "disk full"));
    let writer = BlockWriter::new("", failing).unwrap();
    let error = writer.finish().err().unwrap();
    assert_eq!(
        error,
        Error::new(sys::ROWBLOOM_RESOURCE_EXHAUSTED, "disk full")
    );
    let writer = BlockWriter::new("", |_: &[u8]| panic!("a broken sink")).unwrap();
    let error = writer.finish().err().unwrap();
    assert_eq!(
        error,
        Error::new(sys::ROWBLOOM_INTERNAL, "a callback panicked")
    );
    let long = "x".repeat(5000);
    let writer = BlockWriter::new("", |_: &[u8]| Err(Error::new(0, long.clone()))).unwrap();
    let error = writer.finish().err().unwrap();
    assert_eq!(error, Error::new(sys::ROWBLOOM_UNKNOWN, "x".repeat(1019)));
}

#[test]
fn readers_answer_on_four_threads() {
    let (bytes, info) = block();
    let faults = Arc::new(Faults::default());
    let stats = Stats::new().unwrap();
    let reader = {
        let cache = Cache::new(1 << 20).unwrap();
        assert!(cache.usage().unwrap().contains("capacity_bytes 1048576"));
        cache.set_capacity(2 << 20);
        cache.erase_file(7);
        let options = format!("always_load=true;tail_size_bytes={}", info.tail_size_bytes);
        let source = Bytes(bytes, faults.clone());
        let size = info.size_bytes;
        BlockReader::open(source, 0, size, &options, Some(&cache), Some(&stats)).unwrap()
    }; // The reader keeps the cache.
    assert_eq!(faults.reads.load(Ordering::Relaxed), 1);
    let false_positives = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for i in 0..ROWS {
                    let there = i % 2 == 0;
                    assert!(reader.may_contain(Key::row(&row(i))) || !there);
                    assert!(reader.may_contain(Key::cell(&row(i), b"q")) || !there);
                    let absent = reader.may_contain(Key::cell(&row(i), b"r"));
                    false_positives.fetch_add(usize::from(absent), Ordering::Relaxed);
                }
            });
        }
    });
    assert!(false_positives.load(Ordering::Relaxed) < 4 * ROWS / 50);
    assert_eq!(stats.get(sys::ROWBLOOM_LOOKUPS), 12 * ROWS as u64);
    let both = [&reader, &reader];
    let answers = BlockReader::may_contain_each(&both, Key::row(&row(0)));
    assert_eq!(answers, [true, true]);
    let answers = BlockReader::may_contain_each(&both, Key::row(b"absent"));
    assert_eq!(answers, [false, false]);
    reader.tell_outcome(true, Some(4096));
    reader.tell_outcome(false, None);
    stats.add(sys::ROWBLOOM_OPEN_ERRORS, 1);
    assert_eq!(stats.get(sys::ROWBLOOM_TRUE_POSITIVES), 1);
    let text = stats.prometheus().unwrap();
    assert!(text.contains("rowbloom_open_errors_total"), "{}", text);
    reader.verify().unwrap();
}

#[test]
fn a_source_that_fails_or_panics_answers_maybe() {
    let (bytes, info) = block();
    let faults = Arc::new(Faults::default());
    let open = || {
        let source = Bytes(bytes.clone(), faults.clone());
        BlockReader::open(source, 0, info.size_bytes, "always_load=true", None, None)
    };
    let reader = open().unwrap();
    faults.fails.store(true, Ordering::Relaxed);
    assert!(reader.may_contain(Key::row(&row(1))));
    assert_eq!(
        open().err().unwrap(),
        Error::new(sys::ROWBLOOM_UNAVAILABLE, "EIO")
    );
    faults.fails.store(false, Ordering::Relaxed);
    faults.panics.store(true, Ordering::Relaxed);
    assert_eq!(open().err().unwrap().message, "a callback panicked");
}

#[test]
fn ask_reads_nothing_and_offer_answers() {
    let (bytes, info) = block();
    let faults = Arc::new(Faults::default());
    let source = Bytes(bytes.clone(), faults.clone());
    let reader =
        BlockReader::open(source, 0, info.size_bytes, "always_load=true", None, None).unwrap();
    let reads = faults.reads.load(Ordering::Relaxed);
    let absent = row(1);
    let load = match reader.ask(Key::row(&absent)) {
        Answer::NotInMemory(load) => load,
        answer => panic!("{:?}", answer),
    };
    let failed = Err(Error::new(sys::ROWBLOOM_UNAVAILABLE, "EIO"));
    assert!(reader.offer(&load, failed, Key::row(&absent)));
    let from = load.offset as usize;
    let chunk = &bytes[from..from + load.size_bytes as usize];
    assert!(!reader.offer(&load, Ok(chunk), Key::row(&absent)));
    assert_eq!(reader.ask(Key::row(&absent)), Answer::No);
    assert_eq!(reader.ask(Key::row(&row(2))), Answer::Maybe);
    assert_eq!(faults.reads.load(Ordering::Relaxed), reads);
}

#[test]
fn prefixes_are_asked_of_readers_alone() {
    let mut bytes = Vec::new();
    let options = "key_codec=tenant.fixed:4,user.delimiter:/,at.rest";
    let mut writer = BlockWriter::new(options, |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    writer.add(Key::row(b"acmeann/17:04"));
    let size = writer.finish().unwrap().size_bytes;
    let source = Bytes(bytes, Arc::default());
    let stats = Stats::new().unwrap();
    let reader =
        BlockReader::open(source, 0, size, "always_load=true", None, Some(&stats)).unwrap();
    assert!(reader.may_contain(Key::prefix(b"acme")));
    assert!(reader.may_contain(Key::prefix(b"acmeann/")));
    assert!(!reader.may_contain(Key::prefix(b"corp")));
    assert!(!reader.may_contain(Key::prefix(b"acmebob/")));
    assert_eq!(stats.get(sys::ROWBLOOM_PREFIX_NEGATIVES), 2);
    let mut builder = FilterBuilder::new("fast").unwrap();
    builder.add(Key::prefix(b"acme"));
    let error = builder.finish().unwrap_err();
    assert_eq!(error.code, sys::ROWBLOOM_INVALID_ARGUMENT);
}

#[test]
fn a_warm_block_reads_only_its_tail() {
    let cache = Cache::new(1 << 20).unwrap();
    let mut bytes = Vec::new();
    let sink = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    let options = "file_id=9;chunk_size_bytes=1024";
    let mut writer = BlockWriter::new_warm(options, sink, &cache).unwrap();
    for i in (0..ROWS).step_by(2) {
        writer.add(Key::row(&row(i)));
    }
    let info = writer.finish().unwrap();
    let faults = Arc::<Faults>::default();
    let source = Bytes(bytes, faults.clone());
    let options = format!("file_id=9;tail_size_bytes={}", info.tail_size_bytes);
    let reader =
        BlockReader::open(source, 0, info.size_bytes, &options, Some(&cache), None).unwrap();
    assert!(reader.may_contain(Key::row(&row(2))));
    assert!(!reader.may_contain(Key::row(&row(1))));
    assert_eq!(faults.reads.load(Ordering::Relaxed), 1);
    assert!(BlockWriter::new_warm("", |_| Ok(()), &cache).is_err());
}

#[test]
fn codecs_encode_and_bound_rows() {
    let codec = KeyCodec::new("ordered").unwrap();
    let key = codec.encode(b"row\0", b"q").unwrap();
    assert_eq!(key, b"row\0\xff\0\x01q\0\x01");
    assert_eq!(
        codec.decode(&key).unwrap(),
        (b"row\0".to_vec(), b"q".to_vec())
    );
    assert_eq!(codec.prefix_sizes(&key), (6, 9));
    let (lower, upper) = codec.bounds(b"row\0").unwrap();
    assert!(lower <= key && key < upper);
    let error = KeyCodec::new("fixed:2")
        .unwrap()
        .encode(b"row", b"")
        .err()
        .unwrap();
    assert_eq!(error.code, sys::ROWBLOOM_INVALID_ARGUMENT);
}

#[test]
fn filters_in_memory_grow_and_are_saved() {
    let mut filter = MemFilter::new("capacity=100;target_fpr=0.001").unwrap();
    for i in 0..1000 {
        filter.add(Key::row(&row(i))).unwrap();
    }
    assert!(!filter.add(Key::row(&row(0))).unwrap());
    let loaded = MemFilter::load(&filter.save().unwrap()).unwrap();
    assert!((0..1000).all(|i| loaded.may_contain(Key::row(&row(i)))));
    assert!(!loaded.may_contain(Key::row(b"absent")));
    assert_eq!(
        MemFilter::load(b"").err().unwrap().code,
        sys::ROWBLOOM_DATA_LOSS
    );

    let shared = ConcurrentFilter::new(4000, 0.01).unwrap();
    let added = Mutex::new(0);
    thread::scope(|scope| {
        for t in 0..4 {
            let (shared, added) = (&shared, &added);
            scope.spawn(move || {
                for i in t * 1000..(t + 1) * 1000 {
                    let is_new = shared.add(Key::row(&row(i))).unwrap();
                    *added.lock().unwrap() += u32::from(is_new);
                    assert!(shared.may_contain(Key::row(&row(i))));
                }
            });
        }
    });
    assert!(added.into_inner().unwrap() > 3900);
    assert!(!shared.save().unwrap().is_empty());
}
