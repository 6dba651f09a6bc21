// SPDX-License-Identifier: Apache-2.0

package rowbloom

// #include "rowbloom_go.h"
import "C"

import "unsafe"

// FilterBuilder builds filters over bytes of one's own, from keys in any order.
type FilterBuilder struct{ handle *C.rowbloom_builder }

// NewFilterBuilder takes "FAMILY", "FAMILY:bits_per_key=B" or
// "FAMILY:target_fpr=R".
func NewFilterBuilder(spec string) (*FilterBuilder, error) {
	b := new(FilterBuilder)
	return made(spec, b, func(spec *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_builder_new(spec, &b.handle, e)
	})
}

// Add adds a key. Finish returns the first mistake.
func (b *FilterBuilder) Add(k Key) {
	C.builder_add(b.handle, k.c)
}

// AddMany adds keys by one call of C.
func (b *FilterBuilder) AddMany(keys []Key) {
	withKeys(keys, func(cKeys *C.rowbloom_key, count C.size_t) {
		C.rowbloom_builder_add_many(b.handle, cKeys, count)
	})
}

// Finish returns the filter's bytes; the builder is empty again.
func (b *FilterBuilder) Finish() ([]byte, error) {
	return fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_builder_finish(b.handle, to, e)
	})
}

// Close frees the builder and returns nil.
func (b *FilterBuilder) Close() error {
	C.rowbloom_builder_free(b.handle)
	b.handle = nil
	return nil
}

// Filter answers from a filter's bytes. It has a copy of them in C's memory,
// where C may keep a pointer.
type Filter struct {
	handle *C.rowbloom_filter
	bytes  unsafe.Pointer
	size   C.size_t
}

// OpenFilter compares all checksums first.
func OpenFilter(bytes []byte) (*Filter, error) {
	return openFilter(bytes, (*Filter).Verify)
}

// OpenFilterUnverified checks the structure of the bytes alone, for a caller
// that has compared checksums of them already. Otherwise damage may answer "no"
// for a key that was added.
func OpenFilterUnverified(bytes []byte) (*Filter, error) {
	return openFilter(bytes, func(*Filter) error { return nil })
}

func openFilter(bytes []byte, verify func(*Filter) error) (*Filter, error) {
	f := &Filter{bytes: C.CBytes(bytes), size: C.size_t(len(bytes))}
	err := verify(f)
	if err == nil {
		err = call(func(e *C.rowbloom_error) C.rowbloom_code {
			return C.rowbloom_filter_open(f.bytes, f.size, &f.handle, e)
		})
	}
	if err != nil {
		C.free(f.bytes)
		return nil, err
	}
	return f, nil
}

// MayContain is false if the key was certainly not added.
func (f *Filter) MayContain(k Key) bool {
	return bool(C.filter_may_contain(f.handle, k.c))
}

// Verify compares all checksums.
func (f *Filter) Verify() error {
	return call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_filter_verify(f.bytes, f.size, e)
	})
}

// Close frees the filter and returns nil.
func (f *Filter) Close() error {
	C.rowbloom_filter_free(f.handle)
	C.free(f.bytes)
	*f = Filter{}
	return nil
}
