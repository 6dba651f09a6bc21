// SPDX-License-Identifier: Apache-2.0

package rowbloom

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
)

func row(i int) []byte { return []byte(fmt.Sprintf("row%06d", i)) }

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func expectError(t *testing.T, err error, code int, message string) {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) || e.Code != code || !strings.HasPrefix(e.Message, message) {
		t.Errorf("%#v is not error %d: %s", err, code, message)
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
		code    int
		message string
	}{
		{brokenSink{errors.New("disk full")}, Unknown, "disk full"},
		{brokenSink{&Error{Unavailable, "away"}}, Unavailable, "away"},
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
	if reader.Offer(load, chunk[1:], Row(row(1))) != Maybe ||
		reader.Offer(load, chunk, Row(row(1))) != No {
		t.Error("an offer was not checked")
	}
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
	if stats.Get(TruePositives) != 1 || stats.Get(OpenErrors) != 2 || stats.Get(LoadErrors) != 1 {
		t.Error(stats.Prometheus())
	}
	metrics, err := stats.Prometheus()
	ok(t, err)
	if !strings.Contains(metrics, "rowbloom_lookups_total") {
		t.Error(metrics)
	}
	usage, err := cache.Usage()
	ok(t, err)
	if !strings.Contains(usage, "capacity_bytes 1048576\n") {
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

// The cost of a call beside that of a lookup.
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
	reads int
}

func (s *countingSource) ReadAt(to []byte, offset int64) (int, error) {
	s.reads++
	return bytes.NewReader(s.data).ReadAt(to, offset)
}

func TestPrefix(t *testing.T) {
	var sink bytes.Buffer
	writer, err := NewBlockWriter("key_codec=tenant.fixed:4,user.delimiter:/,at.rest", &sink)
	ok(t, err)
	defer writer.Close()
	writer.Add(Row([]byte("acmeann/17:04")))
	_, err = writer.Finish()
	ok(t, err)
	size := uint64(sink.Len())
	reader, err := OpenBlock(bytes.NewReader(sink.Bytes()), size,
		ReaderOptions{SizeBytes: size, Options: "always_load=true"})
	ok(t, err)
	defer reader.Close()
	for prefix, is := range map[string]bool{"acme": true, "acmeann/": true, "corp": false, "acmebob/": false} {
		if reader.MayContain(Prefix([]byte(prefix))) != is {
			t.Errorf("prefix %s: not %v", prefix, is)
		}
	}
	builder, err := NewFilterBuilder("fast")
	ok(t, err)
	defer builder.Close()
	builder.Add(Prefix([]byte("acme")))
	_, err = builder.Finish()
	expectError(t, err, InvalidArgument, "a prefix is no key to add")
}

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
	b.Run("row", func(b *testing.B) {
		for i := 0; i < b.N; i++ {
			reader.MayContain(Row(keys[i&(len(keys)-1)]))
		}
	})
}
