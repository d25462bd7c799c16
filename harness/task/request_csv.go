package task

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
)

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
	in, err := strictcsv.ReadSheet(r, file, strictcsv.Format{
		Columns:  requestColumns,
		Optional: []string{gpusColumn},
		Header:   "the header of a requests file",
		Empty:    "there are no requests; write one line a request below the header",
	})
	if err != nil {
		return nil, err
	}
	out := make([]Request, in.Len())
	for i := range out {
		q := &out[i]
		q.Arrival, q.Lifespan = in.Whole(i, "arrival_slot", slotNumbers), Forever
		if in.Text(i, "lifespan") != forever {
			q.Lifespan = in.Whole(i, "lifespan", lifespans)
		}
		if in.Has(gpusColumn) {
			q.GPUs = in.Whole(i, gpusColumn, gpuNumbers)
		}
		if in.Err != nil {
			return nil, in.Err
		}
		if q.Profile, err = g.ProfileByName(in.Text(i, "profile")); err == nil && q.Profile.MediaExtensions {
			err = fmt.Errorf("%q cannot be requested; it takes the slices of the profile without +me", q.Profile)
		}
		if err != nil {
			return nil, in.Fail(i, "profile", err)
		}
		if err := q.CheckGPUs(g); err != nil {
			return nil, in.Fail(i, gpusColumn, fmt.Errorf("the request %w", err))
		}
		if i > 0 && q.Arrival < out[i-1].Arrival {
			return nil, in.Fail(i, "arrival_slot",
				fmt.Errorf("%d comes after %d on line %d; sort the requests by arrival",
					q.Arrival, out[i-1].Arrival, in.Lines[i-1]))
		}
	}
	return out, nil
}

const (
	// maxSlots bounds slots in files, so that sums over a cluster stay exact.
	maxSlots = 1<<32 - 1
	// maxGPUs is the largest number of GPUs that a request in a file may need.
	maxGPUs = 1 << 20

	forever = "forever"
)

// What the whole numbers of a requests file may be.
var (
	slotNumbers = strictcsv.Range{
		Least: 0, Most: maxSlots, What: fmt.Sprintf("a slot; write a whole number from 0 to %d", maxSlots),
	}
	lifespans = strictcsv.Range{
		Least: 1, Most: maxSlots,
		What: fmt.Sprintf("a lifespan; write a whole number of slots from 1 to %d, or %s", maxSlots, forever),
	}
	gpuNumbers = strictcsv.Range{
		Least: 1, Most: maxGPUs, What: fmt.Sprintf("a number of GPUs; write a whole number from 1 to %d", maxGPUs),
	}
)

// WriteRequests writes what [ReadRequests] reads. The column gpus is left out if no request
// needs several GPUs. Errors are those of w.
func WriteRequests(w io.Writer, requests []Request) error {
	names := requestColumns
	several := slices.ContainsFunc(requests, func(q Request) bool { return q.GPUs > 1 })
	if several {
		names = append(slices.Clone(names), gpusColumn)
	}
	return strictcsv.Write(w, names, len(requests), func(i int) []string {
		q := &requests[i]
		line := []string{strconv.Itoa(q.Arrival), strconv.Itoa(q.Lifespan), q.Profile.String()}
		if q.Lifespan == Forever {
			line[1] = forever
		}
		if several {
			line = append(line, strconv.Itoa(q.Instances()))
		}
		return line
	})
}
