package traces

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// swfFields are the fields of a line of the Standard Workload Format 2.2.
var swfFields = []string{
	"job number", "submit time", "wait time", "run time", "allocated processors", "average CPU time", "used memory",
	"requested processors", "requested time", "requested memory", "status", "user", "group", "executable", "queue",
	"partition", "preceding job", "think time",
}

// readSWF reads the Standard Workload Format 2.2, in which -1 is an unknown value. Each processor counts as a GPU.
func readSWF(r io.Reader, file string, _ Options, each jobFunc) error {
	t := table{
		header: swfFields, comment: ";",
		split: func(line string) ([]string, error) { return strings.Fields(line), nil },
	}
	return readLines(r, file, t, each, func(f *fields) Job {
		j := Job{
			Submit: f.number("submit time"), Lifetime: f.number("run time"), GPUs: f.whole("allocated processors"),
			Milli: WholeGPU,
		}
		if j.GPUs <= 0 {
			j.GPUs = f.whole("requested processors")
		}
		const partial, lastPartial, cancelled = 2, 4, 5
		switch status := f.whole("status"); {
		case f.err != nil:
		case status >= partial && status <= lastPartial:
			f.err = fmt.Errorf("is a part of a job (status %d); the job has a row of its own", status)
		case status == cancelled && j.Lifetime <= 0:
			f.err = &partError{Waiting, "was cancelled before it started (status 5)"}
		case j.Submit < 0 || j.Lifetime < 0 || j.GPUs < 0:
			f.err = errors.New("the submit time, the run time or the processors are unknown (-1)")
		}
		return j
	})
}
