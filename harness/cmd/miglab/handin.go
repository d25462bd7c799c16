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

// A submission is the content of submission.json, which is handed in beside the results.
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
	// Files has the SHA-256 of each file by its name.
	Files map[string]string `json:"files"`
	// Miglab is the version of the program that verifies.
	Miglab   string   `json:"miglab"`
	Series   int      `json:"series"`
	Computed int      `json:"computed"`
	Problems []string `json:"problems"`
}

// handIn checks a submission before any cell is recomputed: the files, submission.json and the rules of the division.
// Without --report it checks nothing. If it finds problems, it writes the report and returns them as an error.
func (f *verifyFlags) handIn(c *cobra.Command, db *store.DB) (*handIn, error) {
	h := &handIn{Files: map[string]string{}, Miglab: version(), Problems: []string{}}
	if f.report.Path == "" {
		return h, nil
	}
	all, err := db.Series(store.Filter{})
	if err != nil {
		return nil, err
	}
	h.Series = len(all)
	h.read(f.results)
	h.check(all)
	if len(h.Problems) == 0 {
		return h, nil
	}
	slices.Sort(h.Problems)
	h.Problems = slices.Compact(h.Problems)
	return nil, errors.Join(h.write(c, &f.report), cli.FailedError{Err: fmt.Errorf(
		"%s is refused, and nothing was computed:\n%s", f.results, strings.Join(h.Problems, "\n"))})
}

// addProblem adds a problem to the report.
func (h *handIn) addProblem(format string, args ...any) {
	h.Problems = append(h.Problems, fmt.Sprintf(format, args...))
}

// read reads submission.json and hashes the files in a folder.
func (h *handIn) read(dir string) {
	const form = "submission.json"
	for _, name := range []string{form, store.FileName(0, 1)} {
		sum, err := wholefile.SHA256(filepath.Join(dir, name))
		h.Files[name] = sum
		if err != nil {
			h.addProblem("%v", err)
		}
	}
	text, err := wholefile.Read(filepath.Join(dir, form), 1<<20)
	if err != nil {
		h.addProblem("%v", err)
		return
	}
	if err := strictjson.Unmarshal(text, &h.Submission); err != nil {
		h.addProblem("%s: %v", form, err)
	}
}

// check checks that the submission is complete and that the algorithms of the series keep the rules of its division.
func (h *handIn) check(all []store.Series) {
	s := &h.Submission
	if slices.Contains([]string{s.By, s.Machine, s.Miglab, s.Licence}, "") {
		h.addProblem("submission.json must say by whom, the machine, miglab and the licence")
	}
	if s.Division != "closed" && s.Division != "open" {
		h.addProblem("the division is %q; there are closed and open", s.Division)
	}
	for _, series := range all {
		if s.Division == "closed" && series.Weights != "" && !slices.Contains(s.Declared, series.Algorithm) {
			h.addProblem(`%s may have learned from the suite; in the closed division "declared" says that it has not`,
				series.Algorithm)
		}
	}
}

// write writes the report if --report names a file.
func (h *handIn) write(c *cobra.Command, to *cli.File) error {
	if to.Path == "" {
		return nil
	}
	return to.Emit(c, func(w io.Writer) error { return cli.EncodeJSON(w, h) })
}
