package task

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gocarina/gocsv"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
)

// A requestRow is one line of a requests file.
type requestRow struct {
	Arrival  slotNumber `csv:"arrival_slot"`
	Lifespan slotCount  `csv:"lifespan"`
	Profile  string     `csv:"profile"`
	// GPUs is 0 in a file without the column.
	GPUs gpuNumber `csv:"gpus"`
}

// The columns of a requests file. The last one may be missing.
var requestColumns = []string{"arrival_slot", "lifespan", "profile"}

const gpusColumn = "gpus"

// ReadRequests reads requests for a GPU model: one line a request, with the columns
// arrival_slot (from 0, ascending), lifespan (in slots from 1, or forever) and profile
// (NVIDIA's name, as 1g.10gb), in any order. A column gpus may hold the number of whole GPUs
// that a request needs at once. Spaces, line ends and quotes are treated as by [ReadCSV].
//
// The file's name is only used in errors. What is wrong with the text is a
// [*ParseError]; other errors are those of r.
func ReadRequests(r io.Reader, file string, g *mig.GPU) ([]Request, error) {
	t, err := strictcsv.Read[requestRow](r, file, strictcsv.Format{
		Columns:  requestColumns,
		Optional: []string{gpusColumn},
		Header:   "the header of a requests file",
		Empty:    "there are no requests; write one line a request below the header",
	})
	if err != nil {
		return nil, err
	}
	out := make([]Request, len(t.Rows))
	for i, row := range t.Rows {
		p, err := g.ProfileByName(row.Profile)
		if err == nil && p.MediaExtensions {
			err = fmt.Errorf("%q cannot be requested; it takes the slices of the profile without +me", row.Profile)
		}
		if err != nil {
			return nil, t.Fail(i, "profile", err)
		}
		out[i] = Request{Arrival: int(row.Arrival), Lifespan: int(row.Lifespan), Profile: p, GPUs: int(row.GPUs)}
		if err := out[i].CheckGPUs(g); err != nil {
			return nil, t.Fail(i, gpusColumn, fmt.Errorf("the request %w", err))
		}
		if i > 0 && out[i].Arrival < out[i-1].Arrival {
			return nil, t.Fail(i, "arrival_slot", fmt.Errorf("%d comes after %d on line %d; sort the requests by arrival",
				out[i].Arrival, out[i-1].Arrival, t.Lines[i-1]))
		}
	}
	return out, nil
}

// WriteRequests writes what [ReadRequests] reads. The column gpus is left out if no request
// needs several GPUs. Errors are those of w.
func WriteRequests(w io.Writer, requests []Request) error {
	names := requestColumns
	if slices.ContainsFunc(requests, func(q Request) bool { return q.GPUs > 1 }) {
		names = append(slices.Clone(names), gpusColumn)
	}
	rows := make([]requestRow, len(requests))
	for i, q := range requests {
		rows[i] = requestRow{slotNumber(q.Arrival), slotCount(q.Lifespan), q.Profile.String(), gpuNumber(q.Instances())}
	}
	return gocsv.MarshalCSV(rows, &columns{Writer: csv.NewWriter(w), names: names})
}

// A slotNumber is a slot, and a gpuNumber the number of GPUs of a request, as files write it.
type (
	slotNumber = integer[slots]
	gpuNumber  = integer[gpuNumbers]
	slots      struct{}
	gpuNumbers struct{}
)

// maxSlots bounds slots in files, so that sums over a cluster stay exact.
const maxSlots = 1<<32 - 1

func (slots) limits() (least, most int, what string) {
	return 0, maxSlots, fmt.Sprintf("a slot; write a whole number from 0 to %d", maxSlots)
}

// maxGPUs is the largest number of GPUs that a request in a file may need.
const maxGPUs = 1 << 20

func (gpuNumbers) limits() (least, most int, what string) {
	return 1, maxGPUs, fmt.Sprintf("a number of GPUs; write a whole number from 1 to %d", maxGPUs)
}

// A slotCount is a lifespan as files write it.
type slotCount int

const forever = "forever"

func (n *slotCount) UnmarshalCSV(s string) error {
	if s == forever {
		*n = slotCount(Forever)
		return nil
	}
	v, err := strictcsv.Int(s)
	if err != nil || v < 1 || v > maxSlots {
		return fmt.Errorf("%q is not a lifespan; write a whole number of slots from 1 to %d, or %s", s, maxSlots, forever)
	}
	*n = slotCount(v)
	return nil
}

func (n slotCount) MarshalCSV() (string, error) {
	if int(n) == Forever {
		return forever, nil
	}
	return strconv.Itoa(int(n)), nil
}
