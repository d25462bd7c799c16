package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/store"
	"miglab/harness/strictjson"
	"miglab/harness/wholefile"
)

// A submission holds the file submission.json of a folder of results.
type submission struct {
	By       string   `json:"by"`
	Machine  string   `json:"machine"`
	Miglab   string   `json:"miglab"`
	Licence  string   `json:"licence"`
	Division string   `json:"division"`
	Declared []string `json:"declared"`
}

// A handIn is the report on a submission.
type handIn struct {
	Submission submission `json:"submission"`
	// Files are the SHA-256 of the files by name.
	Files map[string]string `json:"files"`
	// Miglab is the program that verifies.
	Miglab   string   `json:"miglab"`
	Series   int      `json:"series"`
	Computed int      `json:"computed"`
	Problems []string `json:"problems"`
}

// handIn reports on what is there, before anything is computed again: the files, what submission.json must say, and the
// rules of the division. Without --report it is empty. If something is wrong, the report is written, and is the error.
func (f *verifyFlags) handIn(c *cobra.Command, db *store.DB) (*handIn, error) {
	h := &handIn{Files: map[string]string{}, Miglab: version(), Problems: []string{}}
	if f.report.path == "" {
		return h, nil
	}
	all, err := db.Series(store.Filter{})
	if err != nil {
		return nil, err
	}
	h.Series = len(all)
	for _, name := range []string{"submission.json", store.FileName(0, 1)} {
		sum, err := wholefile.SHA256(filepath.Join(f.results, name))
		if h.Files[name] = sum; err != nil {
			h.Problems = append(h.Problems, err.Error())
		}
	}
	s := &h.Submission
	if text, err := wholefile.Read(filepath.Join(f.results, "submission.json"), 1<<20); err == nil {
		if err := strictjson.Unmarshal(text, s); err != nil {
			h.Problems = append(h.Problems, fmt.Sprintf("submission.json: %v", err))
		}
	}
	if slices.Contains([]string{s.By, s.Machine, s.Miglab, s.Licence}, "") {
		h.Problems = append(h.Problems, "submission.json must say by whom, the machine, miglab and the licence")
	}
	if s.Division != "closed" && s.Division != "open" {
		h.Problems = append(h.Problems, fmt.Sprintf("the division is %q; there are closed and open", s.Division))
	}
	for _, one := range all {
		if s.Division == "closed" && one.Weights != "" && !slices.Contains(s.Declared, one.Algorithm) {
			h.Problems = append(h.Problems, one.Algorithm+
				` may have learned from the suite; in the closed division "declared" says that it has not`)
		}
	}
	if slices.Sort(h.Problems); len(h.Problems) == 0 {
		return h, nil
	}
	h.Problems = slices.Compact(h.Problems)
	return nil, errors.Join(h.write(c, &f.report), cli.FailedError{Err: fmt.Errorf(
		"%s is refused, and nothing was computed:\n%s", f.results, strings.Join(h.Problems, "\n"))})
}

// write writes the report if it is wanted.
func (h *handIn) write(c *cobra.Command, to *output) error {
	if to.path == "" {
		return nil
	}
	return to.emit(c, func(w io.Writer) error { return encodeJSON(w, h) })
}
