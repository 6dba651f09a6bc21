// SPDX-License-Identifier: Apache-2.0

// Package rowbloom calls rowbloom's C API, whose header rowbloom/c.h has
// the contract of each call.
//
//	builder, err := rowbloom.NewFilterBuilder("compact:bits_per_key=10")
//	builder.Add(rowbloom.Cell(row, qualifier))
//	bytes, err := builder.Finish()
//	filter, err := rowbloom.OpenFilter(bytes)
//	if !filter.MayContain(rowbloom.Row(row)) { ... }
//
// Every object is closed, when no goroutine uses it; afterwards its calls return
// errors and its lookups "maybe". Filters, readers, caches and statistics may be
// used by any number of goroutines, builders and writers by one. pkg-config finds
// the library.
package rowbloom

/*
#cgo pkg-config: rowbloom-c
#include <stdlib.h>
#include <rowbloom/c.h>

// In callbacks.c.
rowbloom_code rowbloom_go_writer_new(const char* options, uintptr_t sink,
                                     rowbloom_cache* cache,
                                     rowbloom_writer** out,
                                     rowbloom_error* error);
rowbloom_code rowbloom_go_reader_open(uintptr_t source, uint64_t source_size,
                                      const char* name, uint64_t offset,
                                      uint64_t size, const char* options,
                                      rowbloom_cache* cache,
                                      rowbloom_stats* stats,
                                      rowbloom_reader** out,
                                      rowbloom_error* error);

// Keys are passed as these structs: for a void* Go would look through all of
// the memory around the bytes, and refuse it if it holds pointers of Go.
typedef struct key {
  const char* row;
  size_t row_size;
  const char* qualifier;
  size_t qualifier_size;
} key;
#define KEY k.row, k.row_size, k.qualifier, k.qualifier_size

static inline void add(rowbloom_builder* builder, key k) {
  rowbloom_builder_add(builder, KEY);
}
static inline bool filter_may_contain(const rowbloom_filter* filter, key k) {
  return rowbloom_filter_may_contain(filter, KEY);
}
static inline void write_key(rowbloom_writer* writer, key k) {
  rowbloom_writer_add(writer, KEY);
}
static inline bool may_contain(const rowbloom_reader* reader, key k) {
  return rowbloom_reader_may_contain(reader, KEY);
}
static inline void may_contain_each(const rowbloom_reader* const* readers,
                                    size_t count, key k, bool* answers) {
  rowbloom_readers_may_contain(readers, count, KEY, answers);
}
static inline int32_t ask(const rowbloom_reader* reader, key k,
                          rowbloom_load* load) {
  return rowbloom_reader_ask(reader, KEY, load);
}
static inline int32_t offer(const rowbloom_reader* reader,
                            const rowbloom_load* load, const char* bytes,
                            size_t size, key k) {
  return rowbloom_reader_offer(reader, load, ROWBLOOM_OK, bytes, size, KEY);
}
*/
import "C"

import (
	"errors"
	"fmt"
	"io"
	"runtime/cgo"
	"strings"
	"unsafe"
)

// Codes of errors.
const (
	Unknown            = C.ROWBLOOM_UNKNOWN
	InvalidArgument    = C.ROWBLOOM_INVALID_ARGUMENT
	NotFound           = C.ROWBLOOM_NOT_FOUND
	ResourceExhausted  = C.ROWBLOOM_RESOURCE_EXHAUSTED
	FailedPrecondition = C.ROWBLOOM_FAILED_PRECONDITION
	OutOfRange         = C.ROWBLOOM_OUT_OF_RANGE
	Unimplemented      = C.ROWBLOOM_UNIMPLEMENTED
	Internal           = C.ROWBLOOM_INTERNAL
	Unavailable        = C.ROWBLOOM_UNAVAILABLE
	DataLoss           = C.ROWBLOOM_DATA_LOSS
)

// Counters of Stats.
const (
	Lookups         = C.ROWBLOOM_LOOKUPS
	Negatives       = C.ROWBLOOM_NEGATIVES
	TruePositives   = C.ROWBLOOM_TRUE_POSITIVES
	FalsePositives  = C.ROWBLOOM_FALSE_POSITIVES
	Unloaded        = C.ROWBLOOM_UNLOADED
	ChunkLoads      = C.ROWBLOOM_CHUNK_LOADS
	ChunkLoadBytes  = C.ROWBLOOM_CHUNK_LOAD_BYTES
	LoadErrors      = C.ROWBLOOM_LOAD_ERRORS
	OpenErrors      = C.ROWBLOOM_OPEN_ERRORS
	PrefixLookups   = C.ROWBLOOM_PREFIX_LOOKUPS
	PrefixNegatives = C.ROWBLOOM_PREFIX_NEGATIVES
)

// Answer is that of Ask and Offer.
type Answer int32

const (
	No          Answer = C.ROWBLOOM_NO
	Maybe       Answer = C.ROWBLOOM_MAYBE
	NotInMemory Answer = C.ROWBLOOM_NOT_IN_MEMORY
)

// UnknownBytes is for TellOutcome.
const UnknownBytes = ^uint64(0)

// Error has the library's message.
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

// Version is that of the library that the program runs with.
func Version() string { return C.GoString(C.rowbloom_version()) }

func abi() uint32 { return uint32(C.rowbloom_abi()) }

// Key is a row or a cell. A flat key is a row.
type Key struct{ c C.key }

var noBytes C.char

func pointer(bytes []byte) *C.char {
	if len(bytes) == 0 {
		return &noBytes
	}
	return (*C.char)(unsafe.Pointer(&bytes[0]))
}

// Row is valid as long as its bytes do not change.
func Row(row []byte) Key {
	return Key{C.key{row: pointer(row), row_size: C.size_t(len(row))}}
}

// Cell is valid as long as its bytes do not change.
func Cell(row, qualifier []byte) Key {
	return Key{C.key{pointer(row), C.size_t(len(row)), pointer(qualifier),
		C.size_t(len(qualifier))}}
}

// Prefix is all rows that begin with it, for lookups of readers: a block answers
// if it was written with a key_codec, or for prefixes of a fixed length. It is
// valid as long as its bytes do not change.
func Prefix(prefix []byte) Key {
	return Key{C.key{row: pointer(prefix), row_size: C.size_t(len(prefix)),
		qualifier_size: C.ROWBLOOM_PREFIX}}
}

// text is a C string to be freed. C's would end at a zero byte.
func text(s string) (*C.char, error) {
	if strings.IndexByte(s, 0) >= 0 {
		return nil, &Error{InvalidArgument, fmt.Sprintf("a zero byte in %q", s)}
	}
	return C.CString(s), nil
}

func free(s *C.char) { C.free(unsafe.Pointer(s)) }

// call passes an error to f and returns it if f fails.
func call(f func(*C.rowbloom_error) C.rowbloom_code) error {
	var e C.rowbloom_error
	if f(&e) == C.ROWBLOOM_OK {
		return nil
	}
	return &Error{int(e.code), C.GoString(&e.message[0])}
}

// fill returns the bytes that f puts into a buffer.
func fill(f func(*C.rowbloom_buffer, *C.rowbloom_error) C.rowbloom_code) ([]byte, error) {
	// The library's pointer is in it, so it lies in C's memory.
	buffer := (*C.rowbloom_buffer)(C.calloc(1, C.sizeof_rowbloom_buffer))
	defer C.free(unsafe.Pointer(buffer))
	defer C.rowbloom_buffer_free(buffer)
	err := call(func(e *C.rowbloom_error) C.rowbloom_code { return f(buffer, e) })
	if err != nil {
		return nil, err
	}
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(buffer.data)), buffer.size)...), nil
}

// FilterBuilder builds filters from keys in any order.
type FilterBuilder struct{ handle *C.rowbloom_builder }

func NewFilterBuilder(spec string) (*FilterBuilder, error) {
	cSpec, err := text(spec)
	if err != nil {
		return nil, err
	}
	defer free(cSpec)
	b := new(FilterBuilder)
	return b, call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_builder_new(cSpec, &b.handle, e)
	})
}

func (b *FilterBuilder) Add(k Key) {
	C.add(b.handle, k.c)
}

// Finish returns the filter's bytes; the builder is empty again.
func (b *FilterBuilder) Finish() ([]byte, error) {
	return fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_builder_finish(b.handle, to, e)
	})
}

func (b *FilterBuilder) Close() {
	C.rowbloom_builder_free(b.handle)
	b.handle = nil
}

// Filter has a copy of its bytes in C's memory, where C may keep a pointer.
type Filter struct {
	handle *C.rowbloom_filter
	bytes  unsafe.Pointer
	size   C.size_t
}

func OpenFilter(bytes []byte) (*Filter, error) {
	f := &Filter{bytes: C.CBytes(bytes), size: C.size_t(len(bytes))}
	err := call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_filter_open(f.bytes, f.size, &f.handle, e)
	})
	if err != nil {
		C.free(f.bytes)
		return nil, err
	}
	return f, nil
}

func (f *Filter) MayContain(k Key) bool {
	return bool(C.filter_may_contain(f.handle, k.c))
}

func (f *Filter) Verify() error {
	return call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_filter_verify(f.bytes, f.size, e)
	})
}

func (f *Filter) Close() {
	C.rowbloom_filter_free(f.handle)
	C.free(f.bytes)
	*f = Filter{}
}

// tell passes what a callback returned, or its panic, to the library.
func tell(e *C.rowbloom_error, f func() error) C.rowbloom_code {
	var message string
	err := guarded(func() error {
		err := f()
		if err != nil {
			message = err.Error()
		}
		return err
	})
	if err == nil {
		return C.ROWBLOOM_OK
	}
	if message == "" { // f or Error() panicked.
		message = err.Error()
	}
	to := unsafe.Slice((*byte)(unsafe.Pointer(&e.message[0])), len(e.message)-1)
	copy(to, message) // The library has set the rest to zero.
	var ours *Error
	if errors.As(err, &ours) && ours.Code != C.ROWBLOOM_OK {
		return C.rowbloom_code(ours.Code)
	}
	return C.ROWBLOOM_UNKNOWN
}

// guarded turns a panic into an error: none may cross C.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Error{Internal, fmt.Sprint("a callback panicked: ", p)}
		}
	}()
	return f()
}

//export rowbloomGoAppend
func rowbloomGoAppend(sink C.uintptr_t, bytes unsafe.Pointer, size C.size_t, e *C.rowbloom_error) C.rowbloom_code {
	return tell(e, func() error {
		n, err := cgo.Handle(sink).Value().(io.Writer).Write(unsafe.Slice((*byte)(bytes), size))
		if n < int(size) && err == nil {
			err = io.ErrShortWrite
		}
		return err
	})
}

//export rowbloomGoRead
func rowbloomGoRead(source C.uintptr_t, offset C.uint64_t, to unsafe.Pointer, size C.size_t, e *C.rowbloom_error) C.rowbloom_code {
	return tell(e, func() error {
		n, err := cgo.Handle(source).Value().(io.ReaderAt).ReadAt(unsafe.Slice((*byte)(to), size), int64(offset))
		if n == int(size) { // Then io.EOF is no error.
			return nil
		}
		if err == nil {
			err = io.ErrUnexpectedEOF
		}
		return err
	})
}

// BlockInfo has the sizes that an SST keeps.
type BlockInfo struct {
	SizeBytes, TailSizeBytes, KeyCount, ChunkCount uint64
}

// BlockWriter writes the filter block of an SST, from cells in order.
type BlockWriter struct {
	handle *C.rowbloom_writer
	sink   cgo.Handle
}

func NewBlockWriter(options string, sink io.Writer) (*BlockWriter, error) {
	return newBlockWriter(options, sink, nil)
}

// NewWarmBlockWriter gives the block's chunks to the cache: the first lookups of
// a reader with the same cache and file_id, which the options must have, load
// nothing.
func NewWarmBlockWriter(options string, sink io.Writer, cache *Cache) (*BlockWriter, error) {
	if cache == nil || cache.handle == nil {
		return nil, &Error{InvalidArgument, "the cache is nil or closed"}
	}
	return newBlockWriter(options, sink, cache.handle)
}

func newBlockWriter(options string, sink io.Writer, cache *C.rowbloom_cache) (*BlockWriter, error) {
	cOptions, err := text(options)
	if err != nil {
		return nil, err
	}
	defer free(cOptions)
	w := &BlockWriter{sink: cgo.NewHandle(sink)}
	err = call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_go_writer_new(cOptions, C.uintptr_t(w.sink), cache, &w.handle, e)
	})
	if err != nil {
		w.sink.Delete()
		return nil, err
	}
	return w, nil
}

func (w *BlockWriter) Add(k Key) {
	C.write_key(w.handle, k.c)
}

func (w *BlockWriter) Finish() (BlockInfo, error) {
	var i C.rowbloom_block_info
	err := call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_writer_finish(w.handle, &i, e)
	})
	return BlockInfo{uint64(i.size_bytes), uint64(i.tail_size_bytes),
		uint64(i.key_count), uint64(i.chunk_count)}, err
}

func (w *BlockWriter) Close() {
	if w.handle != nil {
		C.rowbloom_writer_free(w.handle)
		w.sink.Delete()
	}
	*w = BlockWriter{}
}

// Cache keeps the filter chunks that readers share.
type Cache struct{ handle *C.rowbloom_cache }

func NewCache(capacityBytes uint64) (*Cache, error) {
	c := new(Cache)
	return c, call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_cache_new(C.uint64_t(capacityBytes), &c.handle, e)
	})
}

func (c *Cache) SetCapacity(bytes uint64) {
	C.rowbloom_cache_set_capacity(c.handle, C.uint64_t(bytes))
}

func (c *Cache) EraseFile(id uint64) {
	C.rowbloom_cache_erase_file(c.handle, C.uint64_t(id))
}

func (c *Cache) Usage() (string, error) {
	usage, err := fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_cache_usage(c.handle, to, e)
	})
	return string(usage), err
}

func (c *Cache) Close() {
	C.rowbloom_cache_free(c.handle)
	c.handle = nil
}

// Stats counts what filters answered and cost.
type Stats struct{ handle *C.rowbloom_stats }

func NewStats() (*Stats, error) {
	s := new(Stats)
	return s, call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_stats_new(&s.handle, e)
	})
}

func (s *Stats) Add(counter int, delta uint64) {
	C.rowbloom_stats_add(s.handle, C.int32_t(counter), C.uint64_t(delta))
}

func (s *Stats) Get(counter int) uint64 {
	return uint64(C.rowbloom_stats_get(s.handle, C.int32_t(counter)))
}

func (s *Stats) Prometheus() (string, error) {
	metrics, err := fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_stats_prometheus(s.handle, to, e)
	})
	return string(metrics), err
}

func (s *Stats) Close() {
	C.rowbloom_stats_free(s.handle)
	s.handle = nil
}

// Load is the read that would answer.
type Load struct {
	Chunk, Offset, SizeBytes uint64
	Steps                    uint32
}

// BlockReader answers from the filter block of an SST.
type BlockReader struct {
	handle *C.rowbloom_reader
	source cgo.Handle
}

// ReaderOptions says where a block lies; Cache and Stats may be nil.
type ReaderOptions struct {
	Name              string // For messages.
	Offset, SizeBytes uint64 // Of the block.
	Options           string
	Cache             *Cache
	Stats             *Stats
}

// OpenBlock reads from `source`, of `size` bytes, in any goroutine.
func OpenBlock(source io.ReaderAt, size uint64, options ReaderOptions) (*BlockReader, error) {
	cName, err := text(options.Name)
	if err != nil {
		return nil, err
	}
	defer free(cName)
	cOptions, err := text(options.Options)
	if err != nil {
		return nil, err
	}
	defer free(cOptions)
	var cache *C.rowbloom_cache
	if options.Cache != nil {
		cache = options.Cache.handle
	}
	var stats *C.rowbloom_stats
	if options.Stats != nil {
		stats = options.Stats.handle
	}
	r := &BlockReader{source: cgo.NewHandle(source)}
	err = call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_go_reader_open(C.uintptr_t(r.source), C.uint64_t(size),
			cName, C.uint64_t(options.Offset), C.uint64_t(options.SizeBytes),
			cOptions, cache, stats, &r.handle, e)
	})
	if err != nil {
		r.source.Delete()
		return nil, err
	}
	return r, nil
}

func (r *BlockReader) MayContain(k Key) bool {
	return bool(C.may_contain(r.handle, k.c))
}

// MayContainEach asks one key of many readers by one call of C; answers[i] is
// that of readers[i].
func MayContainEach(readers []*BlockReader, k Key, answers []bool) {
	if len(readers) == 0 {
		return
	}
	handles := make([]*C.rowbloom_reader, len(readers))
	for i, r := range readers {
		handles[i] = r.handle
	}
	_ = answers[len(readers)-1]
	C.may_contain_each(&handles[0], C.size_t(len(readers)), k.c, (*C.bool)(&answers[0]))
}

// Ask reads nothing. NotInMemory sets the load.
func (r *BlockReader) Ask(k Key) (Answer, Load) {
	var l C.rowbloom_load
	answer := C.ask(r.handle, k.c, &l)
	return Answer(answer), Load{uint64(l.chunk), uint64(l.offset), uint64(l.size_bytes), uint32(l.steps)}
}

// Offer gives the bytes of a load to the reader.
func (r *BlockReader) Offer(load Load, bytes []byte, k Key) Answer {
	l := C.rowbloom_load{chunk: C.uint64_t(load.Chunk), offset: C.uint64_t(load.Offset),
		size_bytes: C.uint64_t(load.SizeBytes), steps: C.uint32_t(load.Steps)}
	return Answer(C.offer(r.handle, &l, pointer(bytes), C.size_t(len(bytes)), k.c))
}

func (r *BlockReader) TellOutcome(keyWasThere bool, readBytes uint64) {
	C.rowbloom_reader_tell_outcome(r.handle, C.bool(keyWasThere), C.uint64_t(readBytes))
}

func (r *BlockReader) Verify() error {
	return call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_reader_verify(r.handle, e)
	})
}

func (r *BlockReader) Close() {
	if r.handle != nil {
		C.rowbloom_reader_free(r.handle)
		r.source.Delete()
	}
	*r = BlockReader{}
}
