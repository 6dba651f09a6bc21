// SPDX-License-Identifier: Apache-2.0

package rowbloom

// #include "rowbloom_go.h"
import "C"

import (
	"io"
	"runtime/cgo"
)

// BlockInfo has the two sizes that the caller keeps with the SST, and counts.
type BlockInfo struct {
	SizeBytes     uint64 // All bytes that were written.
	TailSizeBytes uint64 // The last bytes, for the option tail_size_bytes of OpenBlock.
	KeyCount      uint64 // Distinct filter keys.
	ChunkCount    uint64
}

// BlockWriter writes the filter block of an SST, from cells in order.
type BlockWriter struct {
	handle *C.rowbloom_writer
	sink   cgo.Handle
}

// NewBlockWriter appends the block to the sink, in the goroutine that calls it.
// The options are those of rowbloom_writer_new in rowbloom/c.h.
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
	if sink == nil {
		return nil, &Error{InvalidArgument, "the sink is nil"}
	}
	w := &BlockWriter{sink: cgo.NewHandle(sink)}
	_, err := made(options, w, func(options *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_go_writer_new(options, C.uintptr_t(w.sink), cache, &w.handle, e)
	})
	if err != nil {
		w.sink.Delete()
		return nil, err
	}
	return w, nil
}

// Add adds a cell, in bytewise order of (row, qualifier); cells may repeat. Every
// entry of the SST must be added, deletes too. Finish returns the first mistake.
func (w *BlockWriter) Add(k Key) {
	C.writer_add(w.handle, k.c)
}

// AddMany adds cells by one call of C.
func (w *BlockWriter) AddMany(cells []Key) {
	withKeys(cells, func(cCells *C.rowbloom_key, count C.size_t) {
		C.rowbloom_writer_add_many(w.handle, cCells, count)
	})
}

// Finish ends the block. If it fails, what was written is no filter block.
func (w *BlockWriter) Finish() (BlockInfo, error) {
	var i C.rowbloom_block_info
	err := call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_writer_finish(w.handle, &i, e)
	})
	return BlockInfo{uint64(i.size_bytes), uint64(i.tail_size_bytes),
		uint64(i.key_count), uint64(i.chunk_count)}, err
}

// Close frees the writer, but neither finishes the block nor closes the sink, and
// returns nil.
func (w *BlockWriter) Close() error {
	if w.handle != nil {
		C.rowbloom_writer_free(w.handle)
		w.sink.Delete()
	}
	*w = BlockWriter{}
	return nil
}
