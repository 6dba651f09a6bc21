// SPDX-License-Identifier: Apache-2.0

package rowbloom

// #include "rowbloom_go.h"
import "C"

// MemFilter is a filter in memory that grows. Any number of goroutines may add to
// one of kind=concurrent and look up at once; of other kinds many may look up, or
// one may add.
type MemFilter struct{ handle *C.rowbloom_memfilter }

// NewMemFilter takes the options of rowbloom_memfilter_new in rowbloom/c.h.
func NewMemFilter(options string) (*MemFilter, error) {
	f := new(MemFilter)
	return made(options, f, func(options *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_memfilter_new(options, &f.handle, e)
	})
}

// LoadMemFilter loads a saved filter of any kind.
func LoadMemFilter(saved []byte) (*MemFilter, error) {
	f := new(MemFilter)
	return made("", f, func(_ *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.memfilter_load(pointer(saved), C.size_t(len(saved)), &f.handle, e)
	})
}

// Add is false if the key may have been there already. After an error the filter
// does not have the key.
func (f *MemFilter) Add(k Key) (bool, error) {
	if added := C.memfilter_add(f.handle, k.c); added >= 0 {
		return added != 0, nil
	}
	// The second attempt has room for a message.
	err := call(func(e *C.rowbloom_error) C.rowbloom_code {
		return C.memfilter_add_error(f.handle, k.c, e)
	})
	return err == nil, err
}

// MayContain is false if the key was certainly not added.
func (f *MemFilter) MayContain(k Key) bool {
	return bool(C.memfilter_may_contain(f.handle, k.c))
}

// Save returns bytes for LoadMemFilter.
func (f *MemFilter) Save() ([]byte, error) {
	return fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_memfilter_save(f.handle, to, e)
	})
}

// Close frees the filter and returns nil.
func (f *MemFilter) Close() error {
	C.rowbloom_memfilter_free(f.handle)
	f.handle = nil
	return nil
}
