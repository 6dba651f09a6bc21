// SPDX-License-Identifier: Apache-2.0

package rowbloom

// #include "rowbloom_go.h"
import "C"

import (
	"io"
	"runtime/cgo"
	"unsafe"
)

// Answer is that of Ask and Offer.
type Answer int32

const (
	No          Answer = C.ROWBLOOM_NO            // The SST does not hold the key.
	Maybe       Answer = C.ROWBLOOM_MAYBE         // Read the SST.
	NotInMemory Answer = C.ROWBLOOM_NOT_IN_MEMORY // The load would answer.
)

// UnknownBytes is for TellOutcome.
const UnknownBytes = ^uint64(0)

// ToTheEnd is the SizeBytes of a block that ends with its source.
const ToTheEnd = ^uint64(0)

// Load is the read that would answer.
type Load struct {
	Chunk, Offset, SizeBytes uint64 // Offset is that in the source.
	Steps                    uint32
}

// ReadGroup lets the reads of its readers run at once, each in a goroutine, when
// MayContainMany needs many. Its sources may not ask its readers: their reads
// could wait for each other.
type ReadGroup struct {
	handle cgo.Handle
	limit  chan struct{}
}

// NewReadGroup bounds the reads that are under way at once.
func NewReadGroup(reads int) (*ReadGroup, error) {
	if reads < 1 {
		return nil, &Error{InvalidArgument, "a group needs at least 1 read at once"}
	}
	g := &ReadGroup{limit: make(chan struct{}, reads)}
	g.handle = cgo.NewHandle(g)
	return g, nil
}

// Close is called after the group's readers were closed; it returns nil.
func (g *ReadGroup) Close() error {
	if g.handle != 0 {
		g.handle.Delete()
	}
	g.handle = 0
	return nil
}

// BlockReader answers from the filter block of an SST.
type BlockReader struct {
	handle *C.rowbloom_reader
	source cgo.Handle
}

// ReaderOptions says where a block lies. The zero values of Name, Cache, Stats
// and Group leave them out.
type ReaderOptions struct {
	Name              string // For messages, usually a path.
	Offset, SizeBytes uint64 // Of the block; 0 bytes are an SST without a filter.
	Options           string // Those of rowbloom_reader_open in rowbloom/c.h.
	Cache             *Cache
	Stats             *Stats
	Group             *ReadGroup
}

// OpenBlock reads the block's tail from the source, which has `size` bytes that
// never change. Lookups read from it, in any goroutine.
func OpenBlock(source io.ReaderAt, size uint64, options ReaderOptions) (*BlockReader, error) {
	if source == nil {
		return nil, &Error{InvalidArgument, "the source is nil"}
	}
	var cName *C.char
	if options.Name != "" {
		name, err := text(options.Name)
		if err != nil {
			return nil, err
		}
		defer free(name)
		cName = name
	}
	var cache *C.rowbloom_cache
	if options.Cache != nil {
		if cache = options.Cache.handle; cache == nil {
			return nil, &Error{InvalidArgument, "the cache is closed"}
		}
	}
	var stats *C.rowbloom_stats
	if options.Stats != nil {
		if stats = options.Stats.handle; stats == nil {
			return nil, &Error{InvalidArgument, "the stats are closed"}
		}
	}
	var group cgo.Handle
	if options.Group != nil {
		if group = options.Group.handle; group == 0 {
			return nil, &Error{InvalidArgument, "the group is closed"}
		}
	}
	r := &BlockReader{source: cgo.NewHandle(source)}
	_, err := made(options.Options, r, func(text *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_go_reader_open(C.uintptr_t(r.source), C.uintptr_t(group),
			C.uint64_t(size), cName, C.uint64_t(options.Offset),
			C.uint64_t(options.SizeBytes), text, cache, stats, &r.handle, e)
	})
	if err != nil {
		r.source.Delete()
		return nil, err
	}
	return r, nil
}

// MayContain is false if the SST does not hold the key. It may read.
func (r *BlockReader) MayContain(k Key) bool {
	return bool(C.reader_may_contain(r.handle, k.c))
}

func handleOf(r *BlockReader) *C.rowbloom_reader {
	if r == nil {
		return nil
	}
	return r.handle
}

// MayContainEach asks one key of many readers by one call of C, as a point get
// does: answers[i] is that of readers[i], and true if that is nil.
func MayContainEach(readers []*BlockReader, k Key, answers []bool) {
	if len(readers) == 0 {
		return
	}
	handles := make([]*C.rowbloom_reader, len(readers))
	for i, r := range readers {
		handles[i] = handleOf(r)
	}
	_ = answers[len(readers)-1]
	C.readers_may_contain(&handles[0], C.size_t(len(readers)), k.c, (*C.bool)(&answers[0]))
}

// Question is a lookup of a key in one of many SSTs.
type Question struct {
	Reader *BlockReader
	Key    int // The index of one of the keys.
}

// MayContainMany asks many keys of many readers by one call of C, which hashes
// each key once and makes the reads together: answers[i] is that of questions[i],
// and true if that has no reader or no key.
func MayContainMany(keys []Key, questions []Question, answers []bool) {
	if len(questions) == 0 {
		return
	}
	_ = answers[len(questions)-1]
	asked := make([]C.rowbloom_question, len(questions))
	for i, q := range questions {
		asked[i] = C.rowbloom_question{reader: handleOf(q.Reader), key: C.size_t(q.Key)}
	}
	withKeys(keys, func(cKeys *C.rowbloom_key, count C.size_t) {
		C.rowbloom_may_contain_many(cKeys, count, &asked[0], C.size_t(len(asked)),
			(*C.bool)(&answers[0]))
	})
}

// withKeys passes a copy of the keys to f: C may not be given pointers to Go's
// memory inside an array.
func withKeys(keys []Key, f func(*C.rowbloom_key, C.size_t)) {
	size := len(keys) * C.sizeof_rowbloom_key
	bytes := size
	for i := range keys {
		bytes += keys[i].size()
	}
	memory := C.calloc(1, C.size_t(bytes)+1) // Go writes pointers over zeros only.
	defer C.free(memory)
	cKeys := unsafe.Slice((*C.rowbloom_key)(memory), len(keys))
	rest := unsafe.Slice((*byte)(memory), bytes)[size:]
	for i := range keys {
		rest = keys[i].copyTo(&cKeys[i], rest)
	}
	f((*C.rowbloom_key)(memory), C.size_t(len(keys)))
}

func (k *Key) size() int {
	if k.c.qualifier == nil {
		return int(k.c.row_size)
	}
	return int(k.c.row_size + k.c.qualifier_size)
}

// copyTo copies the bytes to the front of `rest`, and returns what is left.
func (k *Key) copyTo(to *C.rowbloom_key, rest []byte) []byte {
	place := func(from *C.char, size C.size_t) unsafe.Pointer {
		if from == nil {
			return nil
		}
		if size == 0 { // Any pointer into C's memory.
			return unsafe.Pointer(to)
		}
		n := copy(rest, unsafe.Slice((*byte)(unsafe.Pointer(from)), size))
		at := unsafe.Pointer(&rest[0])
		rest = rest[n:]
		return at
	}
	to.row, to.row_size = place(k.c.row, k.c.row_size), k.c.row_size
	to.qualifier, to.qualifier_size = place(k.c.qualifier, k.c.qualifier_size), k.c.qualifier_size
	return rest
}

// Ask reads nothing. NotInMemory comes with the load that would answer: make the
// read and offer it, or go on as for Maybe.
func (r *BlockReader) Ask(k Key) (Answer, Load) {
	a := C.reader_ask(r.handle, k.c)
	return Answer(a.answer), Load{uint64(a.load.chunk), uint64(a.load.offset),
		uint64(a.load.size_bytes), uint32(a.load.steps)}
}

// Offer gives the reader the bytes of a load, or the error of its read, which
// answers Maybe.
func (r *BlockReader) Offer(load Load, bytes []byte, failure error, k Key) Answer {
	l := C.rowbloom_load{chunk: C.uint64_t(load.Chunk), offset: C.uint64_t(load.Offset),
		size_bytes: C.uint64_t(load.SizeBytes), steps: C.uint32_t(load.Steps)}
	return Answer(C.reader_offer(r.handle, l, codeOf(failure), pointer(bytes),
		C.size_t(len(bytes)), k.c))
}

// TellOutcome says what was found after a "maybe": if the SST had the key, even as
// a tombstone, and how many bytes were read for it, or UnknownBytes.
func (r *BlockReader) TellOutcome(keyWasThere bool, readBytes uint64) {
	C.rowbloom_reader_tell_outcome(r.handle, C.bool(keyWasThere), C.uint64_t(readBytes))
}

// Get is a counter of this reader alone.
func (r *BlockReader) Get(counter Counter) uint64 {
	return uint64(C.rowbloom_reader_get(r.handle, C.int32_t(counter)))
}

// Properties of a block; FilterBlockProperties of rowbloom/filter_reader.h says
// what each is.
type Properties struct {
	Cells, Keys, Chunks, FilterBytes, PrefixLengthBytes uint64

	FileID           uint64 // The reader's.
	HasRowKeys       bool   // A row alone can be asked.
	IsWithinCapacity bool   // False: the cache is too small for its readers.

	BloomType, KeyCodec, FilterSpec, Writer          string
	FirstRow, FirstQualifier, LastRow, LastQualifier []byte
}

// Properties decodes what is in memory and reads nothing.
func (r *BlockReader) Properties() (Properties, error) {
	var failure error
	number := func(property C.int32_t) uint64 {
		var n C.uint64_t
		if failure == nil {
			failure = call(func(e *C.rowbloom_error) C.rowbloom_code {
				return C.rowbloom_reader_number(r.handle, property, &n, e)
			})
		}
		return uint64(n)
	}
	bytes := func(property C.int32_t) (found []byte) {
		if failure == nil {
			found, failure = fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
				return C.rowbloom_reader_bytes(r.handle, property, to, e)
			})
		}
		return found
	}
	p := Properties{
		Cells:             number(C.ROWBLOOM_BLOCK_CELLS),
		Keys:              number(C.ROWBLOOM_BLOCK_KEYS),
		Chunks:            number(C.ROWBLOOM_BLOCK_CHUNKS),
		FilterBytes:       number(C.ROWBLOOM_BLOCK_FILTER_BYTES),
		PrefixLengthBytes: number(C.ROWBLOOM_BLOCK_PREFIX_LENGTH_BYTES),
		HasRowKeys:        number(C.ROWBLOOM_BLOCK_HAS_ROW_KEYS) != 0,
		FileID:            number(C.ROWBLOOM_BLOCK_FILE_ID),
		IsWithinCapacity:  number(C.ROWBLOOM_BLOCK_IS_WITHIN_CAPACITY) != 0,
		BloomType:         string(bytes(C.ROWBLOOM_BLOCK_BLOOM_TYPE)),
		KeyCodec:          string(bytes(C.ROWBLOOM_BLOCK_KEY_CODEC)),
		FilterSpec:        string(bytes(C.ROWBLOOM_BLOCK_FILTER_SPEC)),
		Writer:            string(bytes(C.ROWBLOOM_BLOCK_WRITER)),
		FirstRow:          bytes(C.ROWBLOOM_BLOCK_FIRST_ROW),
		FirstQualifier:    bytes(C.ROWBLOOM_BLOCK_FIRST_QUALIFIER),
		LastRow:           bytes(C.ROWBLOOM_BLOCK_LAST_ROW),
		LastQualifier:     bytes(C.ROWBLOOM_BLOCK_LAST_QUALIFIER),
	}
	if failure != nil {
		return Properties{}, failure
	}
	return p, nil
}

// Verify reads the whole block and checks every checksum.
func (r *BlockReader) Verify() error {
	return call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_reader_verify(r.handle, e)
	})
}

// Close frees the reader, but does not close the source, and returns nil.
func (r *BlockReader) Close() error {
	if r.handle != nil {
		C.rowbloom_reader_free(r.handle)
		r.source.Delete()
	}
	*r = BlockReader{}
	return nil
}
