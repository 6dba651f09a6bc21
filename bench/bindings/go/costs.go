// SPDX-License-Identifier: Apache-2.0

// costs.py has what the programs of each language measure.
package main

import (
	"bytes"
	"fmt"
	"log"
	"os"
	"runtime"
	"sort"
	"strconv"
	"syscall"
	"unsafe"

	"rowbloom"
)

const (
	files        = 8
	keysOfABatch = 32
	adds         = 1000
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func threadNanoseconds() int64 {
	var time syscall.Timespec
	const clock = 3 // CLOCK_THREAD_CPUTIME_ID of Linux.
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clock, uintptr(unsafe.Pointer(&time)), 0)
	return time.Nano()
}

func nanoseconds(passes, calls int, pass func()) float64 {
	var times []float64
	for i := 0; i < passes; i++ {
		begin := threadNanoseconds()
		pass()
		times = append(times, float64(threadNanoseconds()-begin)/float64(calls))
	}
	sort.Float64s(times)
	return times[len(times)/2]
}

func main() {
	runtime.LockOSThread()
	count, err := strconv.Atoi(os.Args[1])
	check(err)
	passes, err := strconv.Atoi(os.Args[2])
	check(err)
	var rows, asked [][]byte
	for i := 0; i < count; i++ {
		rows = append(rows, []byte(fmt.Sprintf("user%08d", 2*i)))
		asked = append(asked, []byte(fmt.Sprintf("user%08d", i*7919%(2*count))))
	}
	var block bytes.Buffer
	write := func(add func(*rowbloom.BlockWriter)) func() {
		return func() {
			block.Reset()
			writer, err := rowbloom.NewBlockWriter("", &block)
			check(err)
			defer writer.Close()
			add(writer)
			_, err = writer.Finish()
			check(err)
		}
	}
	add := nanoseconds(passes, count, write(func(writer *rowbloom.BlockWriter) {
		for _, row := range rows {
			writer.Add(rowbloom.Row(row))
		}
	}))
	keys := make([]rowbloom.Key, 0, adds)
	addMany := nanoseconds(passes, count, write(func(writer *rowbloom.BlockWriter) {
		for i, row := range rows {
			keys = append(keys, rowbloom.Row(row))
			if len(keys) == adds || i == len(rows)-1 {
				writer.AddMany(keys)
				keys = keys[:0]
			}
		}
	}))

	cache, err := rowbloom.NewCache(64 << 20)
	check(err)
	var readers []*rowbloom.BlockReader
	for i := 0; i < files; i++ {
		reader, err := rowbloom.OpenBlock(bytes.NewReader(block.Bytes()), uint64(block.Len()),
			rowbloom.ReaderOptions{SizeBytes: rowbloom.ToTheEnd, Options: "prefetch=true", Cache: cache})
		check(err)
		readers = append(readers, reader)
	}
	maybes := 0
	sum := func(answers []bool) {
		for _, answer := range answers {
			if answer {
				maybes++
			}
		}
	}
	lookup := nanoseconds(passes, count, func() {
		for _, row := range asked {
			if readers[0].MayContain(rowbloom.Row(row)) {
				maybes++
			}
		}
	})
	answers := make([]bool, files*keysOfABatch)
	each := nanoseconds(passes, count, func() {
		for _, row := range asked[:count/files] {
			rowbloom.MayContainEach(readers, rowbloom.Row(row), answers[:files])
			sum(answers[:files])
		}
	})
	questions := make([]rowbloom.Question, 0, files*keysOfABatch)
	batch := nanoseconds(passes, count, func() {
		for i := 0; i+keysOfABatch <= count/files; i += keysOfABatch {
			keys, questions = keys[:0], questions[:0]
			for k := 0; k < keysOfABatch; k++ {
				keys = append(keys, rowbloom.Row(asked[i+k]))
				for _, reader := range readers {
					questions = append(questions, rowbloom.Question{Reader: reader, Key: k})
				}
			}
			rowbloom.MayContainMany(keys, questions, answers)
			sum(answers)
		}
	})
	fmt.Printf(`{"add": %.2f, "add_many": %.2f, "lookup": %.2f, "each_of_8": %.2f, "batch": %.2f, "maybes": %d}`+"\n",
		add, addMany, lookup, each, batch, maybes)
}
