package claim

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"miglab/harness/strictcsv"
)

// A Set holds the data files of one paper about its claims.
type Set struct {
	Paper        string
	All          []Claim // the claims in the order of claims.csv
	Explanations []Explanation
	Scripts      []Script
	Readings     []Reading
	Tests        []Test // the lines of conclusions.csv
}

// Load reads the files of a paper: claims.csv, and script.csv, causes.csv, readings.csv and conclusions.csv if they
// exist. A line of causes.csv that selects no claim is an error.
func Load(paper string, files fs.FS) (*Set, error) {
	s := &Set{Paper: paper}
	if err := EachRow(paper, files, "claims.csv", s.add); err != nil {
		return nil, err
	}
	for _, err := range []error{
		EachRow(paper, files, "script.csv", s.addScript),
		EachRow(paper, files, "causes.csv", s.addCause),
		EachRow(paper, files, "readings.csv", s.addReading),
		EachRow(paper, files, "conclusions.csv", s.addTest),
	} {
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return s, nil
}

// ReadCSV reads a data file of a paper. An empty field is allowed everywhere.
func ReadCSV[Row any](paper string, files fs.FS, name string) (*strictcsv.Table[Row], error) {
	raw, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", paper, err)
	}
	return strictcsv.Read[Row](bytes.NewReader(raw), paper+"/"+name, name+" has no rows", strictcsv.Columns[Row]()...)
}

// EachRow passes each row of a data file to a function, which returns an error and the column that is wrong.
func EachRow[Row any](paper string, files fs.FS, name string, use func(*Row) (column string, err error)) error {
	rows, err := ReadCSV[Row](paper, files, name)
	if err != nil {
		return err
	}
	for i := range rows.Rows {
		if column, err := use(&rows.Rows[i]); err != nil {
			return rows.Fail(i, column, err)
		}
	}
	return nil
}

// Of returns the claims of an artefact, including the numbers of other artefacts that it repeats.
func (s *Set) Of(artefact string) (out []Claim) {
	for _, c := range s.All {
		if c.Artefact == artefact {
			out = append(out, c)
		}
	}
	return out
}

// Find returns the claim at a key, or nil.
func (s *Set) Find(k Key) *Claim {
	for i := range s.All {
		if s.All[i].Key == k {
			return &s.All[i]
		}
	}
	return nil
}

// Published returns the number printed at a place. A missing claim is a mistake in the program: it panics.
func (s *Set) Published(artefact string, cell Cell) float64 {
	if c := s.Find(Key{artefact, cell}); c != nil {
		return c.Published
	}
	panic(fmt.Sprintf("claim: no claim %q in %s", cell, artefact))
}
