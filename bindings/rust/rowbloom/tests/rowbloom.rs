// SPDX-License-Identifier: Apache-2.0
//
// Each type once with good arguments, and the ways in which Rust differs:
// errors, panics in callbacks, threads, and what outlives what.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rowbloom::*;

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
            return Err(Error::new(Code::Unavailable, "EIO"));
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
        Code::DataLoss
    );
}

#[test]
fn a_damaged_filter_is_not_opened() {
    let mut builder = FilterBuilder::new("compact").unwrap();
    builder.extend(
        (0..ROWS)
            .map(row)
            .collect::<Vec<_>>()
            .iter()
            .map(|r| Key::row(r)),
    );
    let mut bytes = builder.finish().unwrap();
    let filter = Filter::open_unverified(&bytes).unwrap();
    assert!((0..ROWS).all(|i| filter.may_contain(Key::row(&row(i)))));
    bytes[..64].fill(0);
    assert_eq!(Filter::open(&bytes).err().unwrap().code, Code::DataLoss);
    let filter = Filter::open_unverified(&bytes).unwrap();
    assert_eq!(filter.verify().err().unwrap().code, Code::DataLoss);
}

#[test]
fn errors_have_codes_and_messages() {
    let error = FilterBuilder::new("ribbon").err().unwrap();
    assert_eq!(error.code, Code::InvalidArgument);
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
    let failing = |_: &[u8]| Err(Error::new(Code::ResourceExhausted, "disk full"));
    let writer = BlockWriter::new("", failing).unwrap();
    let error = writer.finish().err().unwrap();
    assert_eq!(error, Error::new(Code::ResourceExhausted, "disk full"));
    let writer = BlockWriter::new("", |_: &[u8]| panic!("a broken sink")).unwrap();
    let error = writer.finish().err().unwrap();
    assert_eq!(error, Error::new(Code::Internal, "a callback panicked"));
    // Dropping what the panic carries would panic again.
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(()));
        }
    }
    let writer = BlockWriter::new("", |_: &[u8]| std::panic::panic_any(Bomb)).unwrap();
    let error = writer.finish().err().unwrap();
    assert_eq!(error, Error::new(Code::Internal, "a callback panicked"));
    let long = "x".repeat(5000);
    let writer =
        BlockWriter::new("", |_: &[u8]| Err(Error::new(Code::Unknown, long.clone()))).unwrap();
    let error = writer.finish().err().unwrap();
    assert_eq!(error, Error::new(Code::Unknown, "x".repeat(1019)));
}

#[test]
fn readers_answer_on_four_threads() {
    let (bytes, info) = block();
    let faults = Arc::new(Faults::default());
    let stats = Stats::new().unwrap();
    let reader = {
        let cache = Cache::new(1 << 20).unwrap();
        assert_eq!(cache.usage().capacity_bytes, 1 << 20);
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
    assert_eq!(stats.get(Counter::Lookups), 12 * ROWS as u64);
    let both = [&reader, &reader];
    let answers = BlockReader::may_contain_each(&both, Key::row(&row(0)));
    assert_eq!(answers, [true, true]);
    let answers = BlockReader::may_contain_each(&both, Key::row(b"absent"));
    assert_eq!(answers, [false, false]);
    reader.tell_outcome(true, Some(4096));
    reader.tell_outcome(false, None);
    stats.add(Counter::OpenErrors, 1);
    assert_eq!(stats.get(Counter::TruePositives), 1);
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
    assert_eq!(open().err().unwrap(), Error::new(Code::Unavailable, "EIO"));
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
    let failed = Err(Error::new(Code::Unavailable, "EIO"));
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
    assert_eq!(stats.get(Counter::PrefixNegatives), 2);
    let mut builder = FilterBuilder::new("fast").unwrap();
    builder.add(Key::prefix(b"acme"));
    let error = builder.finish().unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
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
    assert_eq!(error.code, Code::InvalidArgument);
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
    assert_eq!(MemFilter::load(b"").err().unwrap().code, Code::DataLoss);

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

const EVENTS: &str = "tenant.fixed:4,user.delimiter:0x2f,day.fixed:2,at.rest";

// Opens a block of `rows`, which are in order.
fn open_rows(
    rows: &[Vec<u8>],
    writer: &str,
    reader: &str,
    stats: &Stats,
) -> (BlockReader<Bytes>, Arc<Faults>, Vec<u8>) {
    let mut bytes = Vec::new();
    let mut block = BlockWriter::new(writer, |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    rows.iter().for_each(|row| block.add(Key::row(row)));
    let size = block.finish().unwrap().size_bytes;
    let faults = Arc::<Faults>::default();
    let source = Bytes(bytes.clone(), faults.clone());
    let reader = BlockReader::open(source, 0, size, reader, None, Some(stats)).unwrap();
    (reader, faults, bytes)
}

#[test]
fn a_schema_of_four_levels_answers_for_each() {
    let codec = KeyCodec::new(EVENTS).unwrap();
    assert_eq!(codec.segment_count(), 4);
    let segments: [&[u8]; 4] = [b"acme", b"ann", b"07", b"login"];
    let key = codec.encode_segments(&segments).unwrap();
    assert_eq!(key, b"acmeann/07login");
    assert_eq!(codec.decode_segments(&key).unwrap(), segments);
    assert!(codec.decode_segments(b"ac").is_err());
    assert_eq!(codec.key_levels(&key), [4, 8, 10, 15]);
    let (lower, upper) = codec.bounds_of_segments(&segments[..2]).unwrap();
    assert!(lower <= key && key < upper);
    let stats = Stats::new().unwrap();
    let options = format!("key_codec={};filter_spec=compact:bits_per_key=20", EVENTS);
    let (reader, ..) = open_rows(&[key], &options, "always_load=true;level=3", &stats);
    let may_contain = |segments: &[&[u8]]| {
        let prefix = codec.encode_prefix(segments).unwrap();
        reader.may_contain(Key::prefix(&prefix))
    };
    for count in 1..=3 {
        assert!(may_contain(&segments[..count]));
        let mut absent = segments;
        absent[count - 1] = if count == 1 { b"corp" } else { b"99" };
        assert!(!may_contain(&absent[..count]));
        let get = |counter| stats.get_of_key_level(count, counter);
        assert_eq!(get(Counter::PrefixLookups), 2);
        assert_eq!(get(Counter::PrefixNegatives), 1);
    }
    assert_eq!(stats.levels(), [3]);
    assert_eq!(stats.get_of_level(3, Counter::PrefixNegatives), 3);
    assert_eq!(stats.get_of_level(2, Counter::PrefixNegatives), 0);
    assert_eq!(reader.get(Counter::PrefixNegatives), 3);
    let properties = reader.properties().unwrap();
    assert_eq!(properties.key_codec, EVENTS);
    assert_eq!(properties.last_row, b"acmeann/07login");
    assert_eq!((properties.cells, properties.keys), (1, 4));
    assert!(properties.has_row_keys && properties.is_within_capacity);
    assert_eq!(properties.writer, format!("rowbloom {}", version()));
}

/// Asks 4,000 keys of eight readers, each of which has 500 of them in order.
fn ask_all_of_all<S: Source>(keys: &[Key], readers: &[BlockReader<S>]) {
    let questions: Vec<_> = (0..keys.len())
        .flat_map(|key| readers.iter().map(move |reader| (reader, key)))
        .collect();
    let answers = BlockReader::may_contain_many(keys, &questions);
    for (i, &(reader, key)) in questions.iter().enumerate() {
        assert_eq!(answers[i], reader.may_contain(keys[key]));
        assert!(answers[i] || i % 8 != key / 500);
    }
    assert!(answers.iter().filter(|answer| !**answer).count() > 27_000);
}

#[test]
fn a_batch_over_eight_files_answers_as_single_lookups_do() {
    let stats = Stats::new().unwrap();
    let rows: Vec<_> = (0..4000).map(row).collect();
    let readers: Vec<_> = rows
        .chunks(500)
        .map(|rows| open_rows(rows, "chunk_size_bytes=256", "always_load=true", &stats).0)
        .collect();
    let keys: Vec<_> = rows.iter().map(|row| Key::row(row)).collect();
    ask_all_of_all(&keys, &readers);
    let no_such_key = BlockReader::may_contain_many(&keys, &[(&readers[0], keys.len())]);
    assert_eq!(no_such_key, [true]);
}

// An executor of one future.
fn block_on<T>(future: impl std::future::Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark()
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut context = std::task::Context::from_waker(&waker);
    let mut future = Box::pin(future);
    loop {
        match future.as_mut().poll(&mut context) {
            std::task::Poll::Ready(result) => return result,
            std::task::Poll::Pending => thread::park(),
        }
    }
}

// Is pending once, and woken from another thread.
#[derive(Default)]
struct YieldOnce(bool);

impl std::future::Future for YieldOnce {
    type Output = ();
    fn poll(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<()> {
        if std::mem::replace(&mut self.0, true) {
            return std::task::Poll::Ready(());
        }
        let waker = context.waker().clone();
        thread::spawn(move || waker.wake());
        std::task::Poll::Pending
    }
}

#[test]
fn async_lookups_read_by_their_future_alone() {
    let stats = Stats::new().unwrap();
    let rows: Vec<_> = (0..ROWS).step_by(2).map(row).collect();
    let options = "chunk_size_bytes=4096";
    let (reader, faults, bytes) = open_rows(&rows, options, "always_load=true", &stats);
    let reads = faults.reads.load(Ordering::Relaxed);
    let loads = AtomicUsize::new(0);
    let read = |load: Load| {
        let (loads, bytes) = (&loads, &bytes);
        async move {
            YieldOnce::default().await;
            if loads.fetch_add(1, Ordering::Relaxed) == 0 {
                return Err(Error::new(Code::Unavailable, "EIO"));
            }
            let from = load.offset as usize;
            Ok(bytes[from..from + load.size_bytes as usize].to_vec())
        }
    };
    {
        // A lookup that is dropped while it waits leaves nothing behind.
        struct Ignore;
        impl std::task::Wake for Ignore {
            fn wake(self: Arc<Self>) {}
        }
        let waker = Arc::new(Ignore).into();
        let key = row(1);
        let mut dropped = Box::pin(reader.may_contain_async(Key::row(&key), read));
        let mut context = std::task::Context::from_waker(&waker);
        assert!(std::future::Future::poll(dropped.as_mut(), &mut context).is_pending());
    }
    let ask = |key: Vec<u8>| block_on(reader.may_contain_async(Key::row(&key), read));
    assert!(ask(row(1))); // Its read fails.
    assert!(!ask(row(1)));
    assert!(ask(row(2)));
    assert_eq!(loads.load(Ordering::Relaxed), 2);
    assert_eq!(faults.reads.load(Ordering::Relaxed), reads);
    fn is_send<T: Send>(_: &T) {}
    is_send(&reader.may_contain_async(Key::row(b""), |_| std::future::ready(Ok(Vec::new()))));
}

#[test]
fn memos_remember_until_a_file_is_erased() {
    let memo = Memo::new(1 << 20).unwrap();
    let key = Key::cell(b"row", b"q");
    memo.remember(7, key);
    assert!(memo.denies(7, key));
    assert!(!memo.denies(8, key) && !memo.denies(7, Key::row(b"row")));
    memo.erase_file(7);
    assert!(!memo.denies(7, key));
}

#[test]
fn budgets_give_a_spec_or_no_filter() {
    let mut budget = Budget::new("bits_per_key=10;mode=fixed").unwrap();
    let spec = budget.for_file("is_flush=true").unwrap().unwrap();
    assert!(spec.starts_with("compact:"), "{}", spec);
    BlockWriter::new(&format!("filter_spec={}", spec), |_| Ok(())).unwrap();
    let runs = [Run {
        key_count: 1000,
        block_miss_share: 0.5,
        absent_asks: rowbloom_sys::ROWBLOOM_UNKNOWN_SHARE,
    }];
    let live = "key_count=1000;filter_bytes=1250";
    budget.set_live(live, Some(&runs)).unwrap();
    budget.set_live(live, None).unwrap();
    assert!(budget.set_live("keys=1", None).is_err());
    assert!(Budget::new("bits_per_key=-1").is_err());
    let mut none = Budget::new("bits_per_key=0").unwrap();
    // The C API lets one thread at a time call a budget.
    let _: fn(&mut Budget, &str) -> rowbloom::Result<Option<String>> = Budget::for_file;
    assert_eq!(none.for_file("is_flush=true").unwrap(), None);
}

#[test]
fn a_cache_has_its_usage_as_numbers() {
    let cache = Cache::new(1 << 20).unwrap();
    let usage = cache.usage();
    assert_eq!(usage.capacity_bytes, 1 << 20);
    let text = cache.usage_text().unwrap();
    assert!(text.contains(&format!("usage_bytes {}\n", usage.usage_bytes)));
    assert!(text.contains(&format!("rejections {}\n", usage.rejections)));
}

// Opens a block of `rows` in the group.
fn open_in_group<S: Source>(
    rows: &[Vec<u8>],
    group: &ReadGroup<S>,
    source: impl FnOnce(Vec<u8>) -> S,
) -> BlockReader<S> {
    let mut bytes = Vec::new();
    let mut block = BlockWriter::new("chunk_size_bytes=256", |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    block.extend(rows.iter().map(|row| Key::row(row)));
    let size = block.finish().unwrap().size_bytes;
    let options = "always_load=true;tail_size_bytes=1000";
    BlockReader::open_in_group(source(bytes), group, 0, size, options, None, None).unwrap()
}

#[test]
fn a_group_makes_all_reads_of_a_batch_by_one_call() {
    let rows: Vec<_> = (0..4000).map(row).collect();
    let keys: Vec<_> = rows.iter().map(|row| Key::row(row)).collect();
    let calls = Arc::new(AtomicUsize::new(0));
    let called = calls.clone();
    let counted = ReadGroup::new(move |reads: &mut [Read<'_, Vec<u8>>]| {
        called.fetch_add(1, Ordering::Relaxed);
        for read in reads {
            let (from, size) = (read.offset() as usize, read.to().len());
            let bytes = read.source()[from..from + size].to_vec();
            read.to().copy_from_slice(&bytes);
            read.finish(Ok(()));
        }
    });
    for group in [&counted, &ReadGroup::with_threads(4)] {
        let readers: Vec<_> = rows
            .chunks(500)
            .map(|rows| open_in_group(rows, group, |bytes| bytes))
            .collect();
        ask_all_of_all(&keys, &readers);
    }
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn reads_of_a_group_that_fail_or_panic_answer_maybe() {
    let rows: Vec<_> = (0..ROWS).step_by(2).map(row).collect();
    let panicking = ReadGroup::new(|_: &mut [Read<'_, Bytes>]| panic!("a broken group"));
    for (group, panics) in [
        (&ReadGroup::with_threads(2), false),
        (&ReadGroup::with_threads(2), true),
        (&panicking, false),
    ] {
        let faults = Arc::<Faults>::default();
        let reader = open_in_group(&rows, group, |bytes| Bytes(bytes, faults.clone()));
        let broken = if panics {
            &faults.panics
        } else {
            &faults.fails
        };
        broken.store(true, Ordering::Relaxed);
        let (first, last) = (row(1), row(ROWS - 3));
        let keys = [Key::row(&first), Key::row(&last)];
        let questions = [(&reader, 0), (&reader, 1)];
        let answers = BlockReader::may_contain_many(&keys, &questions);
        assert_eq!(answers, [true, true]);
        assert_eq!(reader.get(Counter::LoadErrors), 2);
    }
}

#[test]
fn a_file_and_a_vector_are_sources() {
    let (bytes, info) = block();
    let path = std::env::temp_dir().join(format!("rowbloom_{}", std::process::id()));
    std::fs::write(&path, &bytes).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let size = info.size_bytes;
    let from_file = BlockReader::open(file, 0, size, "prefetch=true", None, None).unwrap();
    let mut short = bytes.clone();
    let from_vector = BlockReader::open(bytes, 0, size, "prefetch=true", None, None).unwrap();
    for i in 0..ROWS {
        let key = row(i);
        let answer = from_file.may_contain(Key::row(&key));
        assert_eq!(answer, from_vector.may_contain(Key::row(&key)));
        assert!(answer || i % 2 == 1);
    }
    short.truncate(100);
    assert_eq!(
        short.read(u64::MAX, &mut [0]).unwrap_err().code,
        Code::OutOfRange
    );
    assert!(short.read(99, &mut [0, 0]).is_err());
}
