// SPDX-License-Identifier: Apache-2.0

// A million rows in a filter block, those of even numbers, and four goroutines
// that ask for them and the others. docs/bindings.md has other languages.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"rowbloom"
)

const (
	keys    = 1000000
	threads = 4
)

func row(i int) []byte { return []byte(fmt.Sprintf("user%08d", i)) }

func run() error {
	fmt.Println("rowbloom", rowbloom.Version())
	var file bytes.Buffer // An engine's file, in memory.
	_, err := rowbloom.NewBlockWriter("filter_spec=ribbon", &file)
	var told *rowbloom.Error
	if errors.As(err, &told) {
		fmt.Printf("error %d: %s\n", told.Code, told.Message)
	}

	writer, err := rowbloom.NewBlockWriter("filter_spec=compact:bits_per_key=10", &file)
	if err != nil {
		return err
	}
	defer writer.Close()
	for i := 0; i < 2*keys; i += 2 {
		writer.Add(rowbloom.Row(row(i)))
	}
	info, err := writer.Finish()
	if err != nil {
		return err
	}
	fmt.Printf("%d keys in %d bytes, %d chunks\n", info.KeyCount, info.SizeBytes, info.ChunkCount)

	cache, err := rowbloom.NewCache(64 << 20)
	if err != nil {
		return err
	}
	defer cache.Close()
	stats, err := rowbloom.NewStats()
	if err != nil {
		return err
	}
	defer stats.Close()
	reader, err := rowbloom.OpenBlock(bytes.NewReader(file.Bytes()), info.SizeBytes,
		rowbloom.ReaderOptions{Name: "000012.sst", SizeBytes: info.SizeBytes,
			Options: "prefetch=true", Cache: cache, Stats: stats})
	if err != nil {
		return err
	}
	defer reader.Close()

	var falseNegatives, falsePositives int64
	var group sync.WaitGroup
	const count = 2 * keys / threads
	for t := 0; t < threads; t++ {
		group.Add(1)
		go func(first int) {
			defer group.Done()
			for i := first; i < first+count; i++ {
				maybe := reader.MayContain(rowbloom.Row(row(i)))
				if i%2 == 0 && !maybe {
					atomic.AddInt64(&falseNegatives, 1)
				} else if i%2 == 1 && maybe {
					atomic.AddInt64(&falsePositives, 1)
				}
			}
		}(t * count)
	}
	group.Wait()
	fmt.Printf("%d threads: %d false negatives, %d false positives (%.3f%%)\n",
		threads, falseNegatives, falsePositives, 100*float64(falsePositives)/keys)
	fmt.Printf("%d lookups, %d negatives\n", stats.Get(rowbloom.Lookups),
		stats.Get(rowbloom.Negatives))
	if falseNegatives != 0 {
		return errors.New("a key was lost")
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
