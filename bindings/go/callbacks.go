// SPDX-License-Identifier: Apache-2.0

package rowbloom

// #include "rowbloom_go.h"
import "C"

import (
	"errors"
	"fmt"
	"io"
	"runtime/cgo"
	"sync"
	"unsafe"
)

// codeOf is what C is told of an error: a code that it knows, since it takes
// others modulo 2^32, to OK even.
func codeOf(err error) C.rowbloom_code {
	var code Code
	if err == nil {
		return C.ROWBLOOM_OK
	}
	if errors.As(err, &code) && code >= 1 && code <= 16 {
		return C.rowbloom_code(code)
	}
	return C.ROWBLOOM_UNKNOWN
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
	return codeOf(err)
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

func readFull(source cgo.Handle, offset C.uint64_t, to unsafe.Pointer, size C.size_t) error {
	n, err := source.Value().(io.ReaderAt).ReadAt(unsafe.Slice((*byte)(to), size), int64(offset))
	if n == int(size) { // Then io.EOF is no error.
		return nil
	}
	if err == nil {
		err = io.ErrUnexpectedEOF
	}
	return err
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
	return tell(e, func() error { return readFull(cgo.Handle(source), offset, to, size) })
}

//export rowbloomGoReadMany
func rowbloomGoReadMany(group C.uintptr_t, reads *C.rowbloom_read, count C.size_t) {
	limit := cgo.Handle(group).Value().(*ReadGroup).limit
	list := unsafe.Slice(reads, count)
	var all sync.WaitGroup
	for i := range list {
		read := &list[i]
		limit <- struct{}{}
		all.Add(1)
		go func() {
			defer all.Done()
			defer func() { <-limit }()
			read.code = codeOf(guarded(func() error {
				return readFull(cgo.Handle(uintptr(read.context)), read.offset, read.to, read.size)
			}))
		}()
	}
	all.Wait()
}
