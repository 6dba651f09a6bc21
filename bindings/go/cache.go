// SPDX-License-Identifier: Apache-2.0

package rowbloom

// #include "rowbloom_go.h"
import "C"

import "unsafe"

// Cache keeps the filter chunks that readers share.
type Cache struct{ handle *C.rowbloom_cache }

// NewCache bounds the memory of chunks and open readers.
func NewCache(capacityBytes uint64) (*Cache, error) {
	c := new(Cache)
	return made("", c, func(_ *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_cache_new(C.uint64_t(capacityBytes), &c.handle, e)
	})
}

// SetCapacity changes the bound.
func (c *Cache) SetCapacity(bytes uint64) {
	C.rowbloom_cache_set_capacity(c.handle, C.uint64_t(bytes))
}

// EraseFile drops the chunks of a file_id that the caller chose.
func (c *Cache) EraseFile(id uint64) {
	C.rowbloom_cache_erase_file(c.handle, C.uint64_t(id))
}

// Usage has the numbers of a cache; FilterCache::Usage of rowbloom/filter_cache.h
// says what each is.
type Usage struct { // In the order of rowbloom_cache_numbers().
	CapacityBytes, UsageBytes, PinnedBytes, RetiredBytes uint64
	// IndexBytesOutside above 0: the cache is too small for its readers.
	IndexBytesOutside, ResidentBytes, ChunkBytes, IndexBytes uint64
	Entries, Hits, Misses, Inserts                           uint64
	Evictions, Shrinks, Rejections                           uint64
}

// Usage returns what the cache holds and did; zeros for a closed one.
func (c *Cache) Usage() Usage {
	var u Usage
	C.rowbloom_cache_numbers(c.handle, (*C.uint64_t)(&u.CapacityBytes),
		C.size_t(unsafe.Sizeof(u)/unsafe.Sizeof(u.Hits)))
	return u
}

// UsageText has one line "name value" for each number.
func (c *Cache) UsageText() (string, error) {
	usage, err := fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_cache_usage(c.handle, to, e)
	})
	return string(usage), err
}

// Close frees the cache and returns nil. Readers and writers keep it.
func (c *Cache) Close() error {
	C.rowbloom_cache_free(c.handle)
	c.handle = nil
	return nil
}

// Counter is one of Stats.
type Counter int32

const (
	Lookups         Counter = C.ROWBLOOM_LOOKUPS
	Negatives       Counter = C.ROWBLOOM_NEGATIVES // Answered "no".
	TruePositives   Counter = C.ROWBLOOM_TRUE_POSITIVES
	FalsePositives  Counter = C.ROWBLOOM_FALSE_POSITIVES
	Unloaded        Counter = C.ROWBLOOM_UNLOADED // "Maybe", because the chunk was not in memory.
	ChunkLoads      Counter = C.ROWBLOOM_CHUNK_LOADS
	ChunkLoadBytes  Counter = C.ROWBLOOM_CHUNK_LOAD_BYTES
	LoadErrors      Counter = C.ROWBLOOM_LOAD_ERRORS
	OpenErrors      Counter = C.ROWBLOOM_OPEN_ERRORS    // Only Add counts these.
	PrefixLookups   Counter = C.ROWBLOOM_PREFIX_LOOKUPS // Lookups of prefixes that have an answer.
	PrefixNegatives Counter = C.ROWBLOOM_PREFIX_NEGATIVES
)

// Stats counts what filters answered and cost.
type Stats struct{ handle *C.rowbloom_stats }

// NewStats has zeros.
func NewStats() (*Stats, error) {
	s := new(Stats)
	return made("", s, func(_ *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_stats_new(&s.handle, e)
	})
}

// Add adds to a counter.
func (s *Stats) Add(counter Counter, delta uint64) {
	C.rowbloom_stats_add(s.handle, C.int32_t(counter), C.uint64_t(delta))
}

// Get sums over all files.
func (s *Stats) Get(counter Counter) uint64 {
	return uint64(C.rowbloom_stats_get(s.handle, C.int32_t(counter)))
}

// Levels are those of the tree that were counted, in order; -1 is the unknown one.
func (s *Stats) Levels() []int {
	levels := make([]C.int32_t, 16)
	count := len(levels) + 1
	for count > len(levels) { // Another goroutine may count a new one.
		levels = make([]C.int32_t, count)
		count = int(C.rowbloom_stats_levels(s.handle, &levels[0], C.size_t(len(levels))))
	}
	found := make([]int, count)
	for i := range found {
		found[i] = int(levels[i])
	}
	return found
}

// GetOfLevel sums over the files of one level of the tree.
func (s *Stats) GetOfLevel(level int, counter Counter) uint64 {
	if int(C.int32_t(level)) != level { // C would take it for another one.
		return 0
	}
	return uint64(C.rowbloom_stats_get_of_level(s.handle, C.int32_t(level), C.int32_t(counter)))
}

// GetOfKeyLevel is PrefixLookups or PrefixNegatives of a key level, from 1.
func (s *Stats) GetOfKeyLevel(keyLevel int, counter Counter) uint64 {
	return uint64(C.rowbloom_stats_get_of_key_level(s.handle, C.size_t(keyLevel), C.int32_t(counter)))
}

// Prometheus has all counters by level.
func (s *Stats) Prometheus() (string, error) {
	metrics, err := fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_stats_prometheus(s.handle, to, e)
	})
	return string(metrics), err
}

// Close frees the statistics and returns nil. Readers keep them.
func (s *Stats) Close() error {
	C.rowbloom_stats_free(s.handle)
	s.handle = nil
	return nil
}

// Memo remembers which files were found not to have a key: a key that is absent
// and asked again and again then costs one read.
type Memo struct{ handle *C.rowbloom_memo }

// NewMemo bounds the memory of all entries.
func NewMemo(capacityBytes uint64) (*Memo, error) {
	m := new(Memo)
	return made("", m, func(_ *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_memo_new(C.uint64_t(capacityBytes), &m.handle, e)
	})
}

// Denies is true if the file was found not to have the key.
func (m *Memo) Denies(fileID uint64, k Key) bool {
	return bool(C.memo_denies(m.handle, C.uint64_t(fileID), k.c))
}

// Remember may be called only if the file has no cell of the key, not even a
// tombstone or one of another time: otherwise rows are lost. A file ID must never
// name a second file.
func (m *Memo) Remember(fileID uint64, k Key) {
	C.memo_remember(m.handle, C.uint64_t(fileID), k.c)
}

// EraseFile forgets a file.
func (m *Memo) EraseFile(id uint64) {
	C.rowbloom_memo_erase_file(m.handle, C.uint64_t(id))
}

// Close frees the memo and returns nil.
func (m *Memo) Close() error {
	C.rowbloom_memo_free(m.handle)
	m.handle = nil
	return nil
}
