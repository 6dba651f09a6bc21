// SPDX-License-Identifier: Apache-2.0

package rowbloom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func row(i int) []byte { return []byte(fmt.Sprintf("row%06d", i)) }

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expectError(t *testing.T, err error, code Code, message string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, code) || !strings.HasPrefix(e.Message, message) {
		t.Errorf("%#v is not error %d: %s", err, code, message)
	}
}

func expect(t *testing.T, got, want interface{}) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v is not %v", got, want)
	}
}

func TestFilter(t *testing.T) {
	builder, err := NewFilterBuilder("compact:bits_per_key=20")
	ok(t, err)
	defer builder.Close()
	builder.Add(Row(nil))
	builder.Add(Cell([]byte("row"), nil))
	encoded, err := builder.Finish()
	ok(t, err)
	filter, err := OpenFilter(encoded)
	ok(t, err)
	defer filter.Close()
	ok(t, filter.Verify())
	if !filter.MayContain(Row(nil)) || !filter.MayContain(Cell([]byte("row"), []byte{})) {
		t.Error("a key was lost")
	}
	if filter.MayContain(Row([]byte("row"))) {
		t.Error("the row was not added")
	}
	_, err = OpenFilter(nil)
	expectError(t, err, DataLoss, "")
	_, err = NewFilterBuilder("ribbon")
	expectError(t, err, InvalidArgument, `unknown filter family "ribbon"; known: `)
}

func TestDamagedFilterIsNotOpened(t *testing.T) {
	builder, err := NewFilterBuilder("compact")
	ok(t, err)
	defer builder.Close()
	for i := 0; i < 1000; i++ {
		builder.Add(Row(row(i)))
	}
	encoded, err := builder.Finish()
	ok(t, err)
	filter, err := OpenFilterUnverified(encoded)
	ok(t, err)
	defer filter.Close()
	for i := 0; i < 1000; i++ {
		if !filter.MayContain(Row(row(i))) {
			t.Fatal("a key was lost")
		}
	}
	copy(encoded, make([]byte, 64))
	_, err = OpenFilter(encoded)
	expectError(t, err, DataLoss, "")
	damaged, err := OpenFilterUnverified(encoded)
	ok(t, err)
	defer damaged.Close()
	expectError(t, damaged.Verify(), DataLoss, "")
}

func TestManyAddsAreThoseOfSingleAdds(t *testing.T) {
	keys := []Key{Row(nil), Cell([]byte("a"), nil), Cell([]byte("b"), []byte("q"))}
	builder, err := NewFilterBuilder("compact")
	ok(t, err)
	defer builder.Close()
	var blocks [2]bytes.Buffer
	var writers [2]*BlockWriter
	for i := range writers {
		writers[i], err = NewBlockWriter("", &blocks[i])
		ok(t, err)
		defer writers[i].Close()
	}
	for _, key := range keys {
		builder.Add(key)
		writers[0].Add(key)
	}
	filter, err := builder.Finish()
	ok(t, err)
	builder.AddMany(nil)
	builder.AddMany(keys)
	writers[1].AddMany(keys)
	same, err := builder.Finish()
	ok(t, err)
	expect(t, same, filter)
	for _, writer := range writers {
		_, err := writer.Finish()
		ok(t, err)
	}
	expect(t, blocks[1].Bytes(), blocks[0].Bytes())
}

type brokenSink struct{ err error }

func (s brokenSink) Write([]byte) (int, error) {
	if s.err == nil {
		panic("a broken sink")
	}
	return 0, s.err
}

func TestErrorsOfCallbacks(t *testing.T) {
	for _, c := range []struct {
		sink    brokenSink
		code    Code
		message string
	}{
		{brokenSink{errors.New("disk full")}, Unknown, "disk full"},
		{brokenSink{&Error{Unavailable, "away"}}, Unavailable, "away"},
		{brokenSink{&Error{1, "first"}}, 1, "first"},
		{brokenSink{&Error{16, "last"}}, 16, "last"},
		{brokenSink{&Error{0, "odd"}}, Unknown, "odd"},
		{brokenSink{&Error{-1, "odd"}}, Unknown, "odd"},
		{brokenSink{&Error{17, "odd"}}, Unknown, "odd"},
		{brokenSink{&Error{math.MinInt, "odd"}}, Unknown, "odd"}, // 0 modulo 2^32.
		{brokenSink{fmt.Errorf("disk: %w", DataLoss)}, DataLoss, "disk: rowbloom: code 15"},
		{brokenSink{errors.New(strings.Repeat("x", 2000))}, Unknown, strings.Repeat("x", 1019)},
		{brokenSink{}, Internal, "a callback panicked: a broken sink"},
	} {
		writer, err := NewBlockWriter("", c.sink)
		ok(t, err)
		_, err = writer.Finish()
		expectError(t, err, c.code, c.message)
		writer.Close()
	}
	_, err := OpenBlock(bytes.NewReader(nil), 1000, ReaderOptions{SizeBytes: 1000})
	expectError(t, err, Unknown, "EOF")
	_, err = OpenBlock(bytes.NewReader(nil), 1000, ReaderOptions{})
	expectError(t, err, NotFound, "source: ")
}

type panickingError struct{}

func (panickingError) Error() string { panic("no text") }

// short writes and reads one byte less, without an error.
type short struct{}

func (short) Write(b []byte) (int, error)           { return len(b) - 1, nil }
func (short) ReadAt(b []byte, _ int64) (int, error) { return len(b) - 1, nil }

func TestCallbacksThatBreakTheirContract(t *testing.T) {
	writer, err := NewBlockWriter("", short{})
	ok(t, err)
	_, err = writer.Finish()
	expectError(t, err, Unknown, io.ErrShortWrite.Error())
	writer.Close()
	writer.Close()
	_, err = writer.Finish()
	expectError(t, err, InvalidArgument, "writer is NULL")
	_, err = OpenBlock(short{}, 1000, ReaderOptions{SizeBytes: 1000})
	expectError(t, err, Unknown, io.ErrUnexpectedEOF.Error())
	writer, err = NewBlockWriter("", brokenSink{panickingError{}})
	ok(t, err)
	defer writer.Close()
	_, err = writer.Finish()
	expectError(t, err, Internal, "a callback panicked: no text")
}

func TestZeroBytesInTexts(t *testing.T) {
	_, err := NewFilterBuilder("fast\x00:bits_per_key=10")
	expectError(t, err, InvalidArgument, `a zero byte in "fast\x00`)
	_, err = NewBlockWriter("\x00", short{})
	expectError(t, err, InvalidArgument, "a zero byte")
	_, err = OpenBlock(short{}, 1000, ReaderOptions{Name: "\x00"})
	expectError(t, err, InvalidArgument, "a zero byte")
}

// cgo must not see the pointer beside the bytes.
func TestKeysInsideObjects(t *testing.T) {
	type object struct {
		bytes [8]byte
		next  *object
	}
	o := &object{next: new(object)}
	copy(o.bytes[:], "key00001")
	builder, err := NewFilterBuilder("compact")
	ok(t, err)
	defer builder.Close()
	builder.Add(Cell(o.bytes[:], o.bytes[1:]))
	encoded, err := builder.Finish()
	ok(t, err)
	filter, err := OpenFilter(encoded)
	ok(t, err)
	defer filter.Close()
	if !filter.MayContain(Cell(o.bytes[:], o.bytes[1:])) {
		t.Error("a key was lost")
	}
	runtime.KeepAlive(o)
}

// block has the even ones of the rows.
func block(t testing.TB, rows int) ([]byte, BlockInfo) {
	var file bytes.Buffer
	writer, err := NewBlockWriter("bloom_type=ROWCOL;filter_spec=compact;chunk_size_bytes=4096", &file)
	ok(t, err)
	defer writer.Close()
	for i := 0; i < rows; i += 2 {
		writer.Add(Cell(row(i), []byte("q")))
	}
	info, err := writer.Finish()
	ok(t, err)
	return file.Bytes(), info
}

func TestReader(t *testing.T) {
	const rows = 10000
	file, info := block(t, rows)
	cache, err := NewCache(1 << 20)
	ok(t, err)
	stats, err := NewStats()
	ok(t, err)
	defer stats.Close()
	reader, err := OpenBlock(bytes.NewReader(file), info.SizeBytes, ReaderOptions{
		SizeBytes: info.SizeBytes, Options: "always_load=true", Cache: cache, Stats: stats})
	ok(t, err)
	defer reader.Close()

	answer, load := reader.Ask(Row(row(1)))
	if answer != NotInMemory {
		t.Fatal(answer)
	}
	chunk := file[load.Offset : load.Offset+load.SizeBytes]
	expect(t, reader.Offer(load, nil, io.ErrUnexpectedEOF, Row(row(1))), Maybe)
	expect(t, reader.Offer(load, chunk, io.ErrUnexpectedEOF, Row(row(1))), Maybe)
	expect(t, reader.Offer(load, chunk[1:], nil, Row(row(1))), Maybe)
	expect(t, reader.Offer(load, chunk, nil, Row(row(1))), No)
	for i := 0; i < rows; i += 2 {
		if !reader.MayContain(Row(row(i))) || !reader.MayContain(Cell(row(i), []byte("q"))) {
			t.Fatalf("row %d was lost", i)
		}
	}
	answers := make([]bool, 2)
	MayContainEach([]*BlockReader{reader, reader}, Row(row(1)), answers)
	if answers[0] || answers[1] {
		t.Error("row 1 is there")
	}
	MayContainEach([]*BlockReader{reader, reader}, Row(row(2)), answers)
	if !answers[0] || !answers[1] {
		t.Error("row 2 was lost")
	}
	reader.TellOutcome(true, 4096)
	reader.TellOutcome(false, UnknownBytes)
	stats.Add(OpenErrors, 2)
	if stats.Get(TruePositives) != 1 || stats.Get(OpenErrors) != 2 || stats.Get(LoadErrors) != 3 {
		t.Error(stats.Prometheus())
	}
	metrics, err := stats.Prometheus()
	ok(t, err)
	if !strings.Contains(metrics, "rowbloom_lookups_total") {
		t.Error(metrics)
	}
	usage, err := cache.UsageText()
	ok(t, err)
	numbers := reflect.ValueOf(cache.Usage())
	for i := 0; i < numbers.NumField(); i++ {
		name := regexp.MustCompile("(.)([A-Z])").ReplaceAllString(numbers.Type().Field(i).Name, "${1}_$2")
		name = strings.Replace(strings.ToLower(name), "entries", "entry_count", 1)
		if line := fmt.Sprintf("\n%s %d\n", name, numbers.Field(i).Uint()); !strings.Contains("\n"+usage, line) {
			t.Errorf("%s is not in\n%s", line, usage)
		}
	}
	expect(t, cache.Usage().CapacityBytes, uint64(1<<20))
	if cache.Usage().ChunkBytes == 0 {
		t.Error(usage)
	}
	cache.EraseFile(1)
	cache.SetCapacity(0)
	cache.Close() // The reader keeps it.
	if !reader.MayContain(Row(row(0))) {
		t.Error("row 0 was lost")
	}
	ok(t, reader.Verify())
}

func TestWarmBlockReadsOnlyItsTail(t *testing.T) {
	cache, err := NewCache(1 << 20)
	ok(t, err)
	defer cache.Close()
	var sink bytes.Buffer
	writer, err := NewWarmBlockWriter("file_id=9;chunk_size_bytes=1024", &sink, cache)
	ok(t, err)
	defer writer.Close()
	for i := 0; i < 5000; i += 2 {
		writer.Add(Row(row(i)))
	}
	info, err := writer.Finish()
	ok(t, err)
	options := fmt.Sprintf("file_id=9;tail_size_bytes=%d", info.TailSizeBytes)
	source := &countingSource{data: sink.Bytes()}
	reader, err := OpenBlock(source, info.SizeBytes,
		ReaderOptions{SizeBytes: info.SizeBytes, Options: options, Cache: cache})
	ok(t, err)
	defer reader.Close()
	if !reader.MayContain(Row(row(2))) || reader.MayContain(Row(row(1))) {
		t.Error("wrong answers")
	}
	if source.reads != 1 {
		t.Errorf("%d reads", source.reads)
	}
	_, err = NewWarmBlockWriter("", &sink, cache)
	expectError(t, err, InvalidArgument, "writer options: file_id=0 is not")
	_, err = NewWarmBlockWriter("file_id=9", &sink, nil)
	expectError(t, err, InvalidArgument, "the cache is nil")
}

type countingSource struct {
	data  []byte
	reads int64
}

func (s *countingSource) ReadAt(to []byte, offset int64) (int, error) {
	atomic.AddInt64(&s.reads, 1)
	return bytes.NewReader(s.data).ReadAt(to, offset)
}

// open is a reader of a block of the rows, which are in order.
func open(t testing.TB, rows [][]byte, writerOptions string, options ReaderOptions) (*BlockReader, *countingSource) {
	var sink bytes.Buffer
	writer, err := NewBlockWriter(writerOptions, &sink)
	ok(t, err)
	defer writer.Close()
	for _, r := range rows {
		writer.Add(Row(r))
	}
	info, err := writer.Finish()
	ok(t, err)
	source := &countingSource{data: sink.Bytes()}
	options.SizeBytes = ToTheEnd
	reader, err := OpenBlock(source, info.SizeBytes, options)
	ok(t, err)
	t.Cleanup(func() { reader.Close() })
	return reader, source
}

func TestSchemaOfFourLevelsAnswersForEach(t *testing.T) {
	const events = "tenant.fixed:4,user.delimiter:0x2f,day.fixed:2,at.rest"
	codec, err := NewKeyCodec(events)
	ok(t, err)
	expect(t, codec.SegmentCount(), 4)
	segments := [][]byte{[]byte("acme"), []byte("ann"), []byte("07"), []byte("login")}
	key, err := codec.EncodeSegments(segments...)
	ok(t, err)
	expect(t, string(key), "acmeann/07login")
	decoded, err := codec.DecodeSegments(key)
	ok(t, err)
	expect(t, decoded, segments)
	expect(t, codec.KeyLevels(key), []int{4, 8, 10, 15})
	lower, upper, err := codec.BoundsOfSegments(segments[:2]...)
	ok(t, err)
	expect(t, []string{string(lower), string(upper)}, []string{"acmeann/", "acmeann0"})

	stats, err := NewStats()
	ok(t, err)
	defer stats.Close()
	reader, _ := open(t, [][]byte{key}, "filter_spec=compact:bits_per_key=20;key_codec="+events,
		ReaderOptions{Options: "always_load=true;level=3;file_id=5", Stats: stats})
	for count, other := range map[int]string{1: "corp", 2: "bob", 3: "99"} {
		absent := append([][]byte{}, segments[:count]...)
		absent[count-1] = []byte(other)
		for _, asked := range []struct {
			segments [][]byte
			answer   bool
		}{{segments[:count], true}, {absent, false}} {
			prefix, err := codec.EncodePrefix(asked.segments...)
			ok(t, err)
			if reader.MayContain(Prefix(prefix)) != asked.answer {
				t.Errorf("prefix %s: not %v", prefix, asked.answer)
			}
		}
		expect(t, stats.GetOfKeyLevel(count, PrefixLookups), uint64(2))
		expect(t, stats.GetOfKeyLevel(count, PrefixNegatives), uint64(1))
	}
	expect(t, stats.Levels(), []int{3})
	expect(t, stats.GetOfLevel(3, PrefixNegatives), uint64(3))
	expect(t, stats.GetOfLevel(2, PrefixNegatives), uint64(0))
	expect(t, stats.GetOfLevel(math.MinInt+3, PrefixNegatives), uint64(0))
	expect(t, reader.Get(PrefixNegatives), uint64(3))

	properties, err := reader.Properties()
	ok(t, err)
	if properties.FilterBytes == 0 {
		t.Error(properties)
	}
	properties.FilterBytes = 0
	expect(t, properties, Properties{Cells: 1, Keys: 4, Chunks: 1, FileID: 5, HasRowKeys: true,
		IsWithinCapacity: true, BloomType: "ROW", KeyCodec: events,
		FilterSpec: "compact:bits_per_key=20", Writer: "rowbloom " + Version(), FirstRow: []byte("acme"), FirstQualifier: []byte{},
		LastRow: key, LastQualifier: []byte{}})

	_, err = codec.DecodeSegments([]byte("ac"))
	expectError(t, err, InvalidArgument, "")
	_, err = codec.EncodePrefix([]byte("acme corp"))
	expectError(t, err, InvalidArgument, "")
	_, err = codec.EncodePrefix()
	expectError(t, err, InvalidArgument, "")
	_, err = codec.EncodeSegments(make([][]byte, 9)...)
	expectError(t, err, InvalidArgument, "")
	_, _, err = codec.Bounds(nil)
	expectError(t, err, InvalidArgument, "")
	expect(t, codec.KeyLevels(nil), []int{})
	ok(t, codec.Close())
	expect(t, codec.SegmentCount(), 0)
	_, err = codec.DecodeSegments(key)
	expectError(t, err, InvalidArgument, "codec is NULL")

	builder, err := NewFilterBuilder("fast")
	ok(t, err)
	defer builder.Close()
	builder.Add(Prefix([]byte("acme")))
	_, err = builder.Finish()
	expectError(t, err, InvalidArgument, "a prefix is no key to add")
}

func TestCodecsOfRowAndColumn(t *testing.T) {
	codec, err := NewKeyCodec("ordered")
	ok(t, err)
	defer codec.Close()
	key, err := codec.Encode([]byte("row\x00"), []byte("q"))
	ok(t, err)
	expect(t, string(key), "row\x00\xff\x00\x01q\x00\x01")
	r, q, err := codec.Decode(key)
	ok(t, err)
	expect(t, []string{string(r), string(q)}, []string{"row\x00", "q"})
	lower, upper, err := codec.Bounds([]byte("row\x00"))
	ok(t, err)
	if bytes.Compare(lower, key) > 0 || bytes.Compare(key, upper) >= 0 {
		t.Errorf("%q is not in %q to %q", key, lower, upper)
	}
	rowSize, columnSize := codec.PrefixSizes(key)
	expect(t, []int{rowSize, columnSize}, []int{6, 9})
}

func reads(sources []*countingSource) (sum int64) {
	for _, s := range sources {
		sum += atomic.LoadInt64(&s.reads)
	}
	return sum
}

// Asks each of eight files for each key of all.
func TestBatchOverEightFilesAnswersAsSingleLookupsDo(t *testing.T) {
	group, err := NewReadGroup(4)
	ok(t, err)
	defer group.Close()
	var rows [][]byte
	var keys []Key
	for i := 0; i < 4000; i++ {
		rows = append(rows, row(i))
		keys = append(keys, Row(rows[i]))
	}
	for _, g := range []*ReadGroup{nil, group} {
		var readers []*BlockReader
		var sources []*countingSource
		for i := 0; i < len(rows); i += 500 {
			reader, source := open(t, rows[i:i+500], "chunk_size_bytes=256",
				ReaderOptions{Options: "always_load=true", Group: g})
			defer reader.Close() // Before the group.
			readers, sources = append(readers, reader), append(sources, source)
		}
		var questions []Question
		for i := range keys {
			for _, reader := range readers {
				questions = append(questions, Question{reader, i})
			}
		}
		answers := make([]bool, len(questions))
		MayContainMany(keys, questions, answers)
		before, maybes := reads(sources), 0
		for i, q := range questions {
			if answers[i] != q.Reader.MayContain(keys[q.Key]) || (!answers[i] && i%8 == q.Key/500) {
				t.Fatalf("question %d", i)
			}
			if answers[i] {
				maybes++
			}
		}
		if maybes > 5000 {
			t.Errorf("%d maybes", maybes)
		}
		expect(t, reads(sources), before) // The batch loaded all.
	}
}

func TestOddQuestionsAnswerMaybe(t *testing.T) {
	reader, _ := open(t, [][]byte{row(1)}, "", ReaderOptions{Options: "always_load=true"})
	keys := []Key{Row(row(1)), Row(row(2)), Cell(row(2), nil), Prefix(row(2)), Row(nil)}
	answers := make([]bool, 9)
	MayContainMany(keys, []Question{{reader, 0}, {reader, 1}, {reader, 2}, {reader, 3},
		{reader, 4}, {nil, 1}, {&BlockReader{}, 1}, {reader, 5}, {reader, -1}}, answers)
	expect(t, answers, []bool{true, false, false, true, false, true, true, true, true})
	MayContainMany(nil, nil, nil)
	MayContainMany(nil, []Question{{reader, 0}}, answers[1:])
	expect(t, answers[1], true)
	MayContainEach(nil, keys[1], nil)
	MayContainEach([]*BlockReader{reader, nil, {}}, keys[1], answers)
	expect(t, answers[:3], []bool{false, true, true})
}

// failing has reads that fail, or panic, after the first.
type failing struct {
	countingSource
	panics bool
}

func (s *failing) ReadAt(to []byte, offset int64) (int, error) {
	if atomic.LoadInt64(&s.reads) == 0 {
		return s.countingSource.ReadAt(to, offset)
	}
	if s.panics {
		panic("a broken source")
	}
	return 0, errors.New("EIO")
}

func TestFailingReadsOfAGroupAnswerMaybe(t *testing.T) {
	group, err := NewReadGroup(2)
	ok(t, err)
	file, _ := block(t, 10000)
	for _, panics := range []bool{false, true} {
		source := &failing{countingSource{data: file}, panics}
		reader, err := OpenBlock(source, uint64(len(file)), ReaderOptions{SizeBytes: ToTheEnd,
			Options: "always_load=true;tail_size_bytes=1000", Group: group})
		ok(t, err)
		answers := make([]bool, 2)
		MayContainMany([]Key{Row(row(1)), Row(row(7001))}, []Question{{reader, 0}, {reader, 1}}, answers)
		expect(t, answers, []bool{true, true})
		expect(t, reader.Get(LoadErrors), uint64(2))
		ok(t, reader.Close())
	}
	ok(t, group.Close())
	ok(t, group.Close())
}

func TestMemo(t *testing.T) {
	memo, err := NewMemo(1 << 20)
	ok(t, err)
	key := Cell([]byte("row"), []byte("q"))
	memo.Remember(7, key)
	if !memo.Denies(7, key) || memo.Denies(8, key) || memo.Denies(7, Row([]byte("row"))) {
		t.Error("wrong answers")
	}
	memo.EraseFile(7)
	expect(t, memo.Denies(7, key), false)
	memo.Remember(7, key)
	ok(t, memo.Close())
	memo.Remember(7, key)
	expect(t, memo.Denies(7, key), false)
}

func TestFileBudget(t *testing.T) {
	budget, err := NewFileBudget("bits_per_key=10")
	ok(t, err)
	live := "key_count=1000000;filter_bytes=1000000;moved_share=0"
	ok(t, budget.SetLive(live, []Run{{1000, 1, UnknownShare}, {999000, 1, UnknownShare}}))
	bits := func(options string) (bits float64) {
		spec, err := budget.ForFile(options)
		ok(t, err)
		if _, err := fmt.Sscanf(spec, "compact:bits_per_key=%g", &bits); err != nil {
			t.Error(spec, err)
		}
		return bits
	}
	if flush, old := bits("is_flush=true"), bits("is_bottommost=true"); flush <= old {
		t.Errorf("%g bits for a flush, %g for the oldest run", flush, old)
	}
	ok(t, budget.SetLive(live, nil))
	expectError(t, budget.SetLive("keys=1", nil), InvalidArgument, "")
	expectError(t, budget.SetLive("\x00", nil), InvalidArgument, "a zero byte")
	_, err = budget.ForFile("run_share=2")
	expectError(t, err, InvalidArgument, "")
	_, err = budget.ForFile("\x00")
	expectError(t, err, InvalidArgument, "a zero byte")
	ok(t, budget.Close())
	_, err = budget.ForFile("")
	expectError(t, err, InvalidArgument, "budget is NULL")
	none, err := NewFileBudget("bits_per_key=0")
	ok(t, err)
	defer none.Close()
	spec, err := none.ForFile("is_flush=true")
	ok(t, err)
	expect(t, spec, "")
}

func TestMemFilter(t *testing.T) {
	filter, err := NewMemFilter("capacity=100;target_fpr=0.001")
	ok(t, err)
	for i := 0; i < 1000; i++ {
		_, err := filter.Add(Row(row(i)))
		ok(t, err)
	}
	added, err := filter.Add(Row(row(0)))
	ok(t, err)
	expect(t, added, false)
	saved, err := filter.Save()
	ok(t, err)
	loaded, err := LoadMemFilter(saved)
	ok(t, err)
	defer loaded.Close()
	for i := 0; i < 1000; i++ {
		if !loaded.MayContain(Row(row(i))) {
			t.Fatalf("row %d was lost", i)
		}
	}
	expect(t, loaded.MayContain(Row([]byte("absent"))), false)
	_, err = filter.Add(Prefix(row(0)))
	expectError(t, err, InvalidArgument, "a prefix is no key to add")
	ok(t, filter.Close())
	_, err = filter.Add(Row(row(0)))
	expectError(t, err, InvalidArgument, "filter is NULL")
	expect(t, filter.MayContain(Row(nil)), true)

	shared, err := NewMemFilter("kind=concurrent;key_count=4000")
	ok(t, err)
	defer shared.Close()
	var group sync.WaitGroup
	var lost int64
	for g := 0; g < 4; g++ {
		group.Add(1)
		go func(first int) {
			defer group.Done()
			for i := first; i < first+1000; i++ {
				if _, err := shared.Add(Row(row(i))); err != nil || !shared.MayContain(Row(row(i))) {
					atomic.AddInt64(&lost, 1)
				}
			}
		}(g * 1000)
	}
	group.Wait()
	expect(t, lost, int64(0))
}

// A constructor that fails has no object, not even one to close.
func TestConstructorsReturnAnObjectOrAnError(t *testing.T) {
	for name, made := range map[string]func() (interface{}, error){
		"builder":   func() (interface{}, error) { return NewFilterBuilder("ribbon") },
		"filter":    func() (interface{}, error) { return OpenFilter([]byte("no filter")) },
		"writer":    func() (interface{}, error) { return NewBlockWriter("bits=1", io.Discard) },
		"sink":      func() (interface{}, error) { return NewBlockWriter("", nil) },
		"source":    func() (interface{}, error) { return OpenBlock(nil, 1, ReaderOptions{}) },
		"reader":    func() (interface{}, error) { return OpenBlock(short{}, 0, ReaderOptions{}) },
		"group":     func() (interface{}, error) { return NewReadGroup(0) },
		"codec":     func() (interface{}, error) { return NewKeyCodec("fixed") },
		"budget":    func() (interface{}, error) { return NewFileBudget("bits_per_key=-1") },
		"memfilter": func() (interface{}, error) { return NewMemFilter("kind=small") },
		"saved":     func() (interface{}, error) { return LoadMemFilter(nil) },
	} {
		object, err := made()
		if err == nil || !reflect.ValueOf(object).IsNil() {
			t.Errorf("%s: %v beside %v", name, object, err)
		}
	}
}

func TestClosedObjectsAnswerMaybe(t *testing.T) {
	cache, err := NewCache(1 << 20)
	ok(t, err)
	stats, err := NewStats()
	ok(t, err)
	reader, _ := open(t, [][]byte{row(1)}, "", ReaderOptions{Cache: cache, Stats: stats})
	for _, closer := range []io.Closer{cache, stats, reader} {
		ok(t, closer.Close())
		ok(t, closer.Close())
	}
	expect(t, cache.Usage(), Usage{})
	expect(t, stats.Get(Lookups), uint64(0))
	expect(t, stats.Levels(), []int{})
	expect(t, reader.MayContain(Row(row(2))), true)
	answer, _ := reader.Ask(Row(row(2)))
	expect(t, answer, Maybe)
	expect(t, reader.Offer(Load{}, nil, nil, Row(row(2))), Maybe)
	_, err = reader.Properties()
	expectError(t, err, InvalidArgument, "reader is NULL")
	expectError(t, reader.Verify(), InvalidArgument, "reader is NULL")
	_, err = cache.UsageText()
	expectError(t, err, InvalidArgument, "cache is NULL")
	group, err := NewReadGroup(1)
	ok(t, err)
	ok(t, group.Close())
	for message, options := range map[string]ReaderOptions{
		"the cache is closed":  {Cache: cache},
		"the stats are closed": {Stats: stats},
		"the group is closed":  {Group: group},
	} {
		_, err = OpenBlock(bytes.NewReader(nil), 0, options)
		expectError(t, err, InvalidArgument, message)
	}
}

// The cost of a call beside that of a lookup.
func BenchmarkMayContain(b *testing.B) {
	const rows = 1000000
	file, info := block(b, rows)
	reader, err := OpenBlock(bytes.NewReader(file), info.SizeBytes, ReaderOptions{
		SizeBytes: info.SizeBytes, Options: "prefetch=true"})
	ok(b, err)
	defer reader.Close()
	keys := make([][]byte, 1<<16)
	for i := range keys {
		keys[i] = row(i * 7919 % rows)
	}
	b.Run("version", func(b *testing.B) { // A call that does nothing.
		for i := 0; i < b.N; i++ {
			abi()
		}
	})
	readers := []*BlockReader{reader, reader, reader, reader, reader, reader, reader, reader}
	answers := make([]bool, len(readers))
	b.Run("each_of_8", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			for j, r := range readers {
				answers[j] = r.MayContain(Row(keys[i&(len(keys)-1)]))
			}
		}
	})
	b.Run("all_8", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			MayContainEach(readers, Row(keys[i&(len(keys)-1)]), answers)
		}
	})
	many, questions := make([]Key, 32), make([]Question, 256)
	for i := range questions {
		questions[i] = Question{readers[i%8], i / 8}
	}
	answers256 := make([]bool, len(questions))
	b.Run("32_in_8", func(b *testing.B) { // 32 keys in 8 files: 256 answers.
		for i := 0; i < b.N; i++ {
			for j := range many {
				many[j] = Row(keys[(i*32+j)&(len(keys)-1)])
			}
			MayContainMany(many, questions, answers256)
		}
	})
	b.Run("row", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			reader.MayContain(Row(keys[i&(len(keys)-1)]))
		}
	})
}
