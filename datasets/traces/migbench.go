package traces

import (
	"bufio"
	"fmt"
	"io"

	"miglab/harness/strictcsv"
	"miglab/harness/strictjson"
	"miglab/harness/task"
)

// MIGBench is the name of the format of [ReadMIGBench].
const MIGBench = "migbench"

// migbenchFormat is what each line says of itself.
const migbenchFormat = "resource-bound-v2"

// ReadMIGBench reads the requests of MIGBench (github.com/FouoF/MIG-scheduler-benchmark): a JSON object a line, with
// the arrival in milliseconds, the work in percent of a GPU's compute times milliseconds, and the memory in MB. The
// requests have no profiles yet. A line that is wrong is a [*task.ParseError].
func ReadMIGBench(r io.Reader, file string) ([]task.Request, error) {
	var out []task.Request
	in := bufio.NewScanner(strictcsv.Limit(r, file))
	for line := 1; in.Scan(); line++ {
		if len(in.Bytes()) == 0 {
			continue
		}
		row := struct {
			ID      string `json:"jobID"`
			Format  string `json:"format"`
			Arrival int    `json:"arrivalMS"`
			Work    int    `json:"computeCoreMS"`
			Memory  int    `json:"memoryMB"`
		}{}
		err := strictjson.Unmarshal(in.Bytes(), &row)
		switch last := len(out) - 1; {
		case err != nil:
		case row.Format != migbenchFormat:
			err = fmt.Errorf("the format is %q; it must be %q", row.Format, migbenchFormat)
		case row.Arrival < 0 || row.Work < 1 || row.Memory < 1:
			err = fmt.Errorf("job %q arrives at %d ms, has work of %d and needs %d MB; give at least 0, 1 and 1",
				row.ID, row.Arrival, row.Work, row.Memory)
		case last >= 0 && row.Arrival < out[last].Arrival:
			err = fmt.Errorf("job %q arrives at %d ms, and one before it at %d; sort the jobs by arrival", row.ID,
				row.Arrival, out[last].Arrival)
		}
		if err != nil {
			return nil, &task.ParseError{File: file, Line: line, Err: err}
		}
		out = append(out, task.Request{Arrival: row.Arrival, Work: (row.Work + 99) / 100, MemoryMB: row.Memory})
	}
	return out, in.Err()
}
