package figures

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Written is what an earlier reproduction has written of an artefact.
type Written struct {
	Paper, Artefact, Title string
	Rows                   []Row
	// Figures and Tables name files below Dir, without extension, in the order of the report.
	Dir     string
	Figures []WrittenFigure
	Tables  []string
}

// A WrittenFigure is a figure's file, without extension, with its title.
type WrittenFigure struct{ File, Title string }

// ReadWritten returns the artefacts that a reproduction into a folder has written, in the order
// of the papers. An artefact that is not there is left out. Artefacts about wall times are left
// out as well: their files differ from run to run.
func ReadWritten(dir string, papers []Paper) ([]Written, error) {
	var out []Written
	r := Reproduction{Dir: dir}
	for _, p := range papers {
		for _, a := range p.Artefacts {
			j := &job{paper: p, artefact: a}
			raw, err := os.ReadFile(r.stampPath(j))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return nil, err
			}
			var s stamp
			if err := json.Unmarshal(raw, &s); err != nil || s.Digest == "" {
				return nil, fmt.Errorf("%s is damaged; delete it and run miglab reproduce again", r.stampPath(j))
			}
			w := Written{Paper: p.Name, Artefact: a.Name, Title: s.Title, Rows: s.Rows, Dir: filepath.Join(dir, j.folder())}
			if !a.Timed {
				w.Tables = s.Tables
				for _, f := range s.Plots {
					w.Figures = append(w.Figures, WrittenFigure(f))
				}
			}
			out = append(out, w)
		}
	}
	return out, nil
}
