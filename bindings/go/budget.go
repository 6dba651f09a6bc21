// SPDX-License-Identifier: Apache-2.0

package rowbloom

// #include "rowbloom_go.h"
import "C"

// UnknownShare is for AbsentAsks.
const UnknownShare = C.ROWBLOOM_UNKNOWN_SHARE

// Run is a part of the tree that a get asks once: a level, or an SST of level 0.
type Run struct {
	KeyCount       uint64
	BlockMissShare float64 // The share of its data blocks read from storage.
	AbsentAsks     float64 // The share of gets that ask it for a key that it does not have.
}

// FileBudget gives each SST, when it is written, the bits per key that save the
// most reads. The options are those of rowbloom_budget_new in rowbloom/c.h.
type FileBudget struct{ handle *C.rowbloom_budget }

// NewFileBudget makes the budget of a tree.
func NewFileBudget(options string) (*FileBudget, error) {
	b := new(FileBudget)
	return made(options, b, func(options *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_budget_new(options, &b.handle, e)
	})
}

// SetLive tells the tree's filters, whenever it changed; runs, the newest first,
// are nil if they are not known. An error changes nothing.
func (b *FileBudget) SetLive(options string, runs []Run) error {
	cRuns := make([]C.rowbloom_run, len(runs)+1)
	for i, r := range runs {
		cRuns[i] = C.rowbloom_run{key_count: C.uint64_t(r.KeyCount),
			block_miss_share: C.double(r.BlockMissShare), absent_asks: C.double(r.AbsentAsks)}
	}
	list := &cRuns[0]
	if runs == nil {
		list = nil
	}
	_, err := made(options, b, func(options *C.char, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_budget_set_live(b.handle, options, list, C.size_t(len(runs)), e)
	})
	return err
}

// ForFile is the filter_spec of an SST that is to be written, and empty if it is
// to have no filter.
func (b *FileBudget) ForFile(options string) (string, error) {
	cOptions, err := text(options)
	if err != nil {
		return "", err
	}
	defer free(cOptions)
	spec, err := fill(func(to *C.rowbloom_buffer, e *C.rowbloom_error) C.rowbloom_code {
		return C.rowbloom_budget_for_file(b.handle, cOptions, to, e)
	})
	return string(spec), err
}

// Close frees the budget and returns nil.
func (b *FileBudget) Close() error {
	C.rowbloom_budget_free(b.handle)
	b.handle = nil
	return nil
}
