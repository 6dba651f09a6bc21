// SPDX-License-Identifier: Apache-2.0

// Package rowbloom has filters that say which files of a store cannot hold a
// row, or a column of a row. It calls rowbloom's C API, whose header rowbloom/c.h
// has the contract of each call and the options of each text.
//
//	builder, err := rowbloom.NewFilterBuilder("compact:bits_per_key=10")
//	builder.Add(rowbloom.Cell(row, qualifier))
//	bytes, err := builder.Finish()
//	filter, err := rowbloom.OpenFilter(bytes)
//	if !filter.MayContain(rowbloom.Row(row)) { ... }
//
// The caller closes each object, once no goroutine uses it; afterwards its calls
// return errors and its lookups "maybe". Lookups answer "maybe" after any mistake.
//
// Any number of goroutines may use a Filter, a BlockReader, a Cache, a Memo, a
// KeyCodec and Stats at once; one at a time uses a FilterBuilder, a BlockWriter
// and a FileBudget. MemFilter says it for its kinds.
//
// pkg-config finds the library, as rowbloom-c.
package rowbloom

/*
#cgo pkg-config: rowbloom-c
#include "rowbloom_go.h"
*/
import "C"

import (
	"fmt"
	"strings"
	"unsafe"
)

// Code says what kind of error an Error is. It is an error itself:
// errors.Is(err, rowbloom.DataLoss). The numbers are those of gRPC.
type Code int

const (
	Unknown            Code = C.ROWBLOOM_UNKNOWN
	InvalidArgument    Code = C.ROWBLOOM_INVALID_ARGUMENT
	NotFound           Code = C.ROWBLOOM_NOT_FOUND
	ResourceExhausted  Code = C.ROWBLOOM_RESOURCE_EXHAUSTED
	FailedPrecondition Code = C.ROWBLOOM_FAILED_PRECONDITION
	OutOfRange         Code = C.ROWBLOOM_OUT_OF_RANGE
	Unimplemented      Code = C.ROWBLOOM_UNIMPLEMENTED // A newer format.
	Internal           Code = C.ROWBLOOM_INTERNAL
	Unavailable        Code = C.ROWBLOOM_UNAVAILABLE
	DataLoss           Code = C.ROWBLOOM_DATA_LOSS // Damaged bytes.
)

// Error names the number of the code.
func (c Code) Error() string { return fmt.Sprintf("rowbloom: code %d", int(c)) }

// Error has the library's message.
type Error struct {
	Code    Code
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the code.
func (e *Error) Unwrap() error { return e.Code }

// Version is that of the library that the program runs with.
func Version() string { return C.GoString(C.rowbloom_version()) }

func abi() uint32 { return uint32(C.rowbloom_abi()) }

// Key is a row, or a cell: a row and a qualifier. A flat key is a row. It is
// valid as long as its bytes do not change.
type Key struct{ c C.key }

var noBytes C.char

func pointer(bytes []byte) *C.char {
	if len(bytes) == 0 {
		return &noBytes
	}
	return (*C.char)(unsafe.Pointer(&bytes[0]))
}

// Row is the key of a row. A cell does not add its row to a filter.
func Row(row []byte) Key {
	return Key{C.key{row: pointer(row), row_size: C.size_t(len(row))}}
}

// Cell is the key of a cell; its qualifier may be empty.
func Cell(row, qualifier []byte) Key {
	return Key{C.key{pointer(row), C.size_t(len(row)), pointer(qualifier),
		C.size_t(len(qualifier))}}
}

// Prefix is all rows that begin with it, for lookups of readers: a block answers
// if it was written with a key_codec, or for prefixes of a fixed length.
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
	return &Error{Code(e.code), C.GoString(&e.message[0])}
}

// made returns the object that f made from a text, or the error alone.
func made[Object any](options string, object *Object,
	f func(options *C.char, e *C.rowbloom_error) C.rowbloom_code) (*Object, error) {
	cOptions, err := text(options)
	if err != nil {
		return nil, err
	}
	defer free(cOptions)
	err = call(func(e *C.rowbloom_error) C.rowbloom_code { return f(cOptions, e) })
	if err != nil {
		return nil, err
	}
	return object, nil
}

// fillMany returns the bytes that f puts into an array of buffers.
func fillMany(count int, f func(*C.rowbloom_buffer, *C.rowbloom_error) C.rowbloom_code) ([][]byte, error) {
	// The library's pointers are in it, so it lies in C's memory.
	memory := C.calloc(C.size_t(count)+1, C.sizeof_rowbloom_buffer)
	defer C.free(memory)
	buffers := unsafe.Slice((*C.rowbloom_buffer)(memory), count)
	defer func() {
		for i := range buffers {
			C.rowbloom_buffer_free(&buffers[i])
		}
	}()
	err := call(func(e *C.rowbloom_error) C.rowbloom_code {
		return f((*C.rowbloom_buffer)(memory), e)
	})
	if err != nil {
		return nil, err
	}
	filled := make([][]byte, count)
	for i, b := range buffers {
		filled[i] = append([]byte{}, unsafe.Slice((*byte)(unsafe.Pointer(b.data)), b.size)...)
	}
	return filled, nil
}

func fill(f func(*C.rowbloom_buffer, *C.rowbloom_error) C.rowbloom_code) ([]byte, error) {
	filled, err := fillMany(1, f)
	if err != nil {
		return nil, err
	}
	return filled[0], nil
}
