// SPDX-License-Identifier: Apache-2.0

// grocksdb_options DB OPTIONS: Go's grocksdb with a filter policy that only an
// options string can name. Does what ../options.c does.
package main

import (
	"fmt"
	"os"
	"regexp"
	"strconv"

	"github.com/linxGnu/grocksdb"
)

const rows = 50000

// filtered returns how many files the filters kept gets from reading.
func filtered(options *grocksdb.Options) (int, error) {
	ticker := regexp.MustCompile(
		`rocksdb\.bloom\.filter\.useful COUNT : (\d+)`)
	match := ticker.FindStringSubmatch(options.GetStatisticsString())
	if match == nil {
		return 0, fmt.Errorf("the statistics have no such ticker")
	}
	return strconv.Atoi(match[1])
}

func fill(db *grocksdb.DB) error {
	write := grocksdb.NewDefaultWriteOptions()
	defer write.Destroy()
	for i := 0; i < rows; i++ {
		key := fmt.Sprintf("user%06d/name", 2*i)
		if err := db.Put(write, []byte(key), []byte("value")); err != nil {
			return err
		}
	}
	flush := grocksdb.NewDefaultFlushOptions()
	defer flush.Destroy()
	return db.Flush(flush)
}

func run(path, text string) (bool, error) {
	defaults := grocksdb.NewDefaultOptions()
	defer defaults.Destroy()
	defaults.SetCreateIfMissing(true)
	options, err := grocksdb.GetOptionsFromString(defaults, text)
	if err != nil {
		return false, err
	}
	defer options.Destroy()
	options.EnableStatistics()
	db, err := grocksdb.OpenDb(options, path)
	if err != nil {
		return false, err
	}
	defer db.Close()
	if err := fill(db); err != nil {
		return false, err
	}

	read := grocksdb.NewDefaultReadOptions()
	defer read.Destroy()
	lost, wrong := 0, 0
	count := func(row int, column string, wanted bool, counter *int) error {
		key := fmt.Sprintf("user%06d/%s", row, column)
		value, err := db.Get(read, []byte(key))
		if err != nil {
			return err
		}
		defer value.Free()
		if value.Exists() != wanted {
			*counter++
		}
		return nil
	}
	for i := 0; i < rows; i++ {
		if err := count(2*i, "name", true, &lost); err != nil {
			return false, err
		}
		if err := count(2*i, "mail", false, &wrong); err != nil {
			return false, err
		}
		if err := count(2*i+1, "name", false, &wrong); err != nil {
			return false, err
		}
	}
	useful, err := filtered(options)
	if err != nil {
		return false, err
	}
	fmt.Printf("lost %d, filtered %d\n", lost, useful)
	return lost == 0 && wrong == 0 && useful >= 2*rows*98/100, nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintf(os.Stderr, "usage: %s DB OPTIONS\n", os.Args[0])
		os.Exit(2)
	}
	ok, err := run(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}
