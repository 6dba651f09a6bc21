// SPDX-License-Identifier: Apache-2.0

package rowbloom

// #include "rowbloom_go.h"
import "C"

import "unsafe"

const maxSegments = 8

// KeyCodec says how a flat key holds its 1 to 8 segments, row and qualifier for
// example.
type KeyCodec struct{ handle *C.rowbloom_codec }

// NewKeyCodec takes "ordered", "fixed:8" or "delimiter:|", of two segments, or a
// list such as "tenant.fixed:4,user.delimiter:/,at.rest".
func NewKeyCodec(codec string) (*KeyCodec, error) {
	c := new(KeyCodec)
	return made(codec, c, func(codec *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_codec_new(codec, &c.handle, e)
	})
}

// Encode makes the flat key of a row and a qualifier, for a codec of two segments.
func (c *KeyCodec) Encode(row, qualifier []byte) ([]byte, error) {
	return fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.codec_encode(c.handle, Cell(row, qualifier).c, to, e)
	})
}

// Decode is the inverse of Encode.
func (c *KeyCodec) Decode(key []byte) (row, qualifier []byte, err error) {
	return two(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.codec_decode(c.handle, Row(key).c, to, e)
	})
}

// Bounds returns those of all keys of a row, and no others: at or above `lower`
// and below `upper`. An empty `upper` means "to the end".
func (c *KeyCodec) Bounds(row []byte) (lower, upper []byte, err error) {
	return two(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.codec_bounds(c.handle, Row(row).c, to, e)
	})
}

func two(f func(*C.rowbloom_buffer, *C.rowbloom_error) C.rowbloom_code) ([]byte, []byte, error) {
	filled, err := fillMany(2, f)
	if err != nil {
		return nil, nil, err
	}
	return filled[0], filled[1], nil
}

// PrefixSizes are those of the key's row prefix and column prefix; 0 if it has
// none.
func (c *KeyCodec) PrefixSizes(key []byte) (row, column int) {
	var sizes [2]C.size_t
	C.codec_prefix_sizes(c.handle, Row(key).c, &sizes[0])
	return int(sizes[0]), int(sizes[1])
}

// SegmentCount is 0 for a closed codec.
func (c *KeyCodec) SegmentCount() int {
	return int(C.rowbloom_codec_segment_count(c.handle))
}

// withSegments passes a copy of the segments to f: C may not be given pointers to
// Go's memory inside an array.
func withSegments(segments [][]byte, f func(*C.rowbloom_bytes, C.size_t)) {
	size := len(segments) * C.sizeof_rowbloom_bytes
	bytes := size
	for _, s := range segments {
		bytes += len(s)
	}
	memory := C.calloc(1, C.size_t(bytes)+1) // Go writes pointers over zeros only.
	defer C.free(memory)
	list := unsafe.Slice((*C.rowbloom_bytes)(memory), len(segments))
	all := unsafe.Slice((*byte)(memory), bytes+1)
	for i, s := range segments {
		list[i] = C.rowbloom_bytes{data: unsafe.Pointer(&all[size]), size: C.size_t(len(s))}
		size += copy(all[size:], s)
	}
	f((*C.rowbloom_bytes)(memory), C.size_t(len(segments)))
}

// EncodeSegments makes the flat key of the first segments, up to all.
func (c *KeyCodec) EncodeSegments(segments ...[]byte) (key []byte, err error) {
	withSegments(segments, func(list *C.rowbloom_bytes, count C.size_t) {
		key, err = fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
			return C.rowbloom_codec_encode_segments(c.handle, list, count, to, e)
		})
	})
	return key, err
}

// EncodePrefix makes the bytes for Prefix, of all keys that begin with these
// segments; the last of them ends a key level.
func (c *KeyCodec) EncodePrefix(segments ...[]byte) (prefix []byte, err error) {
	withSegments(segments, func(list *C.rowbloom_bytes, count C.size_t) {
		prefix, err = fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
			return C.rowbloom_codec_encode_prefix(c.handle, list, count, to, e)
		})
	})
	return prefix, err
}

// DecodeSegments is the inverse of EncodeSegments.
func (c *KeyCodec) DecodeSegments(key []byte) ([][]byte, error) {
	count := c.SegmentCount()
	return fillMany(count, func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.codec_decode_segments(c.handle, Row(key).c, to, C.size_t(count), e)
	})
}

// BoundsOfSegments is as Bounds, for all keys that begin with these segments.
func (c *KeyCodec) BoundsOfSegments(segments ...[]byte) (lower, upper []byte, err error) {
	withSegments(segments, func(list *C.rowbloom_bytes, count C.size_t) {
		lower, upper, err = two(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
			return C.codec_bounds_of_segments(c.handle, list, count, to, e)
		})
	})
	return lower, upper, err
}

// KeyLevels are the sizes of the key's prefix of each key level that it holds
// whole, the shortest first.
func (c *KeyCodec) KeyLevels(key []byte) []int {
	var sizes [maxSegments]C.size_t
	levels := make([]int, C.codec_key_levels(c.handle, Row(key).c, &sizes[0], maxSegments))
	for i := range levels {
		levels[i] = int(sizes[i])
	}
	return levels
}

// Close frees the codec and returns nil.
func (c *KeyCodec) Close() error {
	C.rowbloom_codec_free(c.handle)
	c.handle = nil
	return nil
}
