package task

import (
	"encoding/csv"
	"fmt"
	"io"
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
}

// ReadRequests reads requests for a GPU model: one line a request, with the columns
// arrival_slot (from 0, ascending), lifespan (in slots from 1, or forever) and profile
// (NVIDIA's name, as 1g.10gb), in any order. Spaces, line ends and quotes are treated
// as by [ReadCSV].
//
// The file's name is only used in errors. What is wrong with the text is a
// [*ParseError]; other errors are those of r.
func ReadRequests(r io.Reader, file string, g *mig.GPU) ([]Request, error) {
	t, err := strictcsv.Read[requestRow](r, file, strictcsv.Format{
		Columns: strictcsv.Columns[requestRow](),
		Header:  "the header of a requests file",
		Empty:   "there are no requests; write one line a request below the header",
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
		out[i] = Request{Arrival: int(row.Arrival), Lifespan: int(row.Lifespan), Profile: p}
		if i > 0 && out[i].Arrival < out[i-1].Arrival {
			return nil, t.Fail(i, "arrival_slot", fmt.Errorf("%d comes after %d on line %d; sort the requests by arrival", out[i].Arrival, out[i-1].Arrival, t.Lines[i-1]))
		}
	}
	return out, nil
}

// WriteRequests writes what [ReadRequests] reads. Errors are those of w.
func WriteRequests(w io.Writer, requests []Request) error {
	rows := make([]requestRow, len(requests))
	for i, q := range requests {
		rows[i] = requestRow{slotNumber(q.Arrival), slotCount(q.Lifespan), q.Profile.String()}
	}
	return gocsv.MarshalCSV(rows, csv.NewWriter(w))
}

// A slotNumber is a slot as files write it.
type slotNumber int

// maxSlots bounds slots in files, so that sums over a cluster stay exact.
const maxSlots = 1<<32 - 1

func (n *slotNumber) UnmarshalCSV(s string) error {
	v, err := strictcsv.Int(s)
	if err != nil || v < 0 || v > maxSlots {
		return fmt.Errorf("%q is not a slot; write a whole number from 0 to %d", s, maxSlots)
	}
	*n = slotNumber(v)
	return nil
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
