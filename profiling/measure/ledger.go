package measure

import (
	"bytes"
	"encoding/json"
	"fmt"

	"miglab/datasets"
	"miglab/harness/strictjson"
	"miglab/profiling"
	"miglab/profiling/kernel"
)

// A ledger keeps the finished runs of an experiment in a file, as lines of JSON, so that the
// same command goes on after a kill. The first line says on which GPU they ran. A run is on
// disk before the next one begins. A nil ledger keeps nothing.
type ledger[R any] struct {
	log *runLog
	// described has the descriptions of the kernels, by name.
	described map[string]string
	// runs are those of earlier calls.
	runs []R
}

// A heading is the first line of a ledger: what was measured, and on which card.
type heading struct {
	Experiment string
	GPU        datasets.Provenance
	UUID       string
}

// An entry is another line of a ledger.
type entry[R any] struct {
	// Kernels has the descriptions of the kernels that ran, by name.
	Kernels map[string]string
	Run     R
}

// openLedger opens the file of an experiment and reads the runs that it has. It returns nil if
// path is empty. A last line without its end is cut off: a killed process may have left it. The
// error names the line that is of another GPU, or of a kernel that has changed since.
func openLedger[R any](path, experiment string, id profiling.Identity, kernels []*kernel.Kernel) (*ledger[R], error) {
	if path == "" {
		return nil, nil
	}
	l := &ledger[R]{described: map[string]string{}}
	for _, k := range kernels {
		l.described[k.Name] = describe(k)
	}
	is := heading{experiment, Provenance(id), oneLine(id.UUID)}
	header, err := json.Marshal(is)
	if err != nil {
		return nil, err
	}
	l.log, err = openLog(path, append(header, '\n'), func(text []byte) error {
		number := 0
		for line := range bytes.Lines(wholeLines(text)) {
			number++
			if err := l.adopt(line, number, is); err != nil {
				return fmt.Errorf("%s:%d: %w", path, number, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return l, nil
}

// adopt reads a line. The heading must be that of this GPU, on any day.
func (l *ledger[R]) adopt(line []byte, number int, is heading) error {
	if number == 1 {
		var was heading
		if err := strictjson.Line(line, &was); err != nil {
			return fmt.Errorf("%w; delete the file, and everything is measured again", err)
		}
		if is.GPU.Date = was.GPU.Date; was != is {
			return fmt.Errorf("there are runs of %s (%s, %s); this is %s (%s, %s): measure into another folder", was.Experiment, was.GPU, was.UUID, is.Experiment, is.GPU, is.UUID)
		}
		return nil
	}
	var e entry[R]
	if err := strictjson.Line(line, &e); err != nil {
		return fmt.Errorf("%w; delete the line, and the run is repeated", err)
	}
	for name, was := range e.Kernels {
		if now, known := l.described[name]; known && now != was {
			return fmt.Errorf("kernel %s has changed since it ran (program, suite, arguments, environment, data or what is expected); measure into another folder, or delete the kernel's lines", name)
		}
	}
	l.runs = append(l.runs, e.Run)
	return nil
}

// add puts a finished run of kernels on disk, completely or not at all.
func (l *ledger[R]) add(run R, kernels ...*kernel.Kernel) error {
	if l == nil {
		return nil
	}
	e := entry[R]{map[string]string{}, run}
	for _, k := range kernels {
		e.Kernels[k.Name] = l.described[k.Name]
	}
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	return l.log.write(append(line, '\n'))
}

// finished returns the runs of earlier calls.
func (l *ledger[R]) finished() []R {
	if l == nil {
		return nil
	}
	return l.runs
}

func (l *ledger[R]) close() error {
	if l == nil {
		return nil
	}
	return l.log.close()
}
