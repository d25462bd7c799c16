package task

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// requestColumns are the columns of a file of requests for profiles. The column gpus may follow.
var requestColumns = []string{"arrival_slot", "lifespan", "profile"}

const gpusColumn = "gpus"

// gangColumns are the columns of a file of requests for several instances. The column gpus may follow.
var gangColumns = []string{"arrival_slot", "lifespan", profilesColumn, gangColumn}

const (
	profilesColumn = "profiles"
	gangColumn     = "gang"
)

// workColumns are the columns of a file of requests for work and memory.
var workColumns = []string{"arrival_ms", "work_ms", "memory_mb"}

// workSlot is the length of a slot in a file of requests for work, in seconds.
const workSlot = 0.001

// ReadRequests reads requests for a GPU model: one line for each request, with the columns arrival_slot (from 0,
// ascending), lifespan (in slots from 1, or forever) and profile (NVIDIA's name, as 1g.10gb), in any order. A column
// gpus may hold the number of whole GPUs that a request needs at once, 0 if it is for an instance. In place of profile
// the file may have the columns profiles (of the instances that a request needs at once, as 3g.40gb+1g.10gb+me) and
// gang (gpu if they must be on the same GPU, or any). Instead the file may have the columns arrival_ms, work_ms (on a
// whole GPU) and memory_mb; a slot is then a millisecond. Lines that begin with # are comments. Spaces, line ends,
// quotes and errors are treated as by [ReadCSV].
//
// ReadRequests returns the cluster with the requests. If requests wait, it refuses a request that stays forever, or one
// that needs more than the cluster has.
func ReadRequests(r io.Reader, file string, g *mig.GPU, cluster Requests) (Requests, error) {
	in, err := strictcsv.ReadSheet(r, file, strictcsv.Format{
		Columns:  requestColumns,
		Optional: []string{gpusColumn},
		Or: []strictcsv.Format{
			{Columns: workColumns}, {Columns: gangColumns, Optional: []string{gpusColumn}},
		},
		Header:   "the header of a requests file",
		Empty:    "there are no requests; write one line a request below the header",
		Comments: true,
	})
	if err != nil {
		return Requests{}, err
	}
	out := cluster
	read, arrival := readRequest, requestColumns[0] // the reader of a line, and the column of its arrival
	if in.Has(workColumns[0]) {
		read, arrival = readWork, workColumns[0]
		out.SlotSeconds = workSlot
	}
	out.Requests = make([]Request, in.Len())
	for i := range out.Requests {
		q := &out.Requests[i]
		if err := read(in, i, g, q); err != nil {
			return Requests{}, err
		}
		before := out.Requests[max(i-1, 0)].Arrival
		if q.Arrival < before {
			return Requests{}, in.Fail(i, arrival, fmt.Errorf("%d comes after %d on line %d; sort the requests by "+
				"arrival", q.Arrival, before, in.Lines[i-1]))
		}
		if out.Waiting == Reject {
			continue
		}
		if q.Lifespan == Forever {
			return Requests{}, in.Fail(i, "lifespan", errors.New("forever lets others wait forever; write a number of "+
				"slots"))
		}
		if q.Gang == nil && q.Instances() > out.GPUs {
			return Requests{}, in.Fail(i, gpusColumn,
				fmt.Errorf("%d would wait forever; the cluster has %d", q.Instances(), out.GPUs))
		}
		if q.Gang != nil && q.Exceeds(g, out.GPUs) {
			return Requests{}, in.Fail(i, profilesColumn, fmt.Errorf("%s would wait forever; the cluster has %d GPUs",
				in.Text(i, profilesColumn), out.GPUs))
		}
	}
	return out, nil
}

// readRequest reads a line with a profile or with the profiles of a gang.
func readRequest(in *strictcsv.Sheet, i int, g *mig.GPU, q *Request) (err error) {
	q.Arrival, q.Lifespan = in.Whole(i, "arrival_slot", slotNumbers), Forever
	if in.Text(i, "lifespan") != forever {
		q.Lifespan = in.Whole(i, "lifespan", lifespans)
	}
	if in.Has(gpusColumn) {
		q.GPUs = in.Whole(i, gpusColumn, gpuNumbers)
	}
	if in.Err != nil {
		return in.Err
	}
	if in.Has(profilesColumn) {
		return readGang(in, i, g, q)
	}
	name, all := in.Text(i, "profile"), RequestProfiles(g)
	if q.Profile, err = nearest.Find("profile of "+g.Name, name, all, (*mig.Profile).String); err != nil {
		_, unknown := g.ProfileByName(name)
		if unknown == nil {
			err = fmt.Errorf("%q cannot be requested; it takes the slices of another profile: request %s", name,
				strings.Join(nearest.Names(all, (*mig.Profile).String), ", "))
		}
		return in.Fail(i, "profile", err)
	}
	if err := q.CheckGPUs(g); err != nil {
		return in.Fail(i, gpusColumn, fmt.Errorf("the request %w", err))
	}
	return nil
}

// readGang reads the profiles of a line and where they must be.
func readGang(in *strictcsv.Sheet, i int, g *mig.GPU, q *Request) error {
	members, err := ParseMembers(g, in.Text(i, profilesColumn))
	if err != nil {
		return in.Fail(i, profilesColumn, err)
	}
	where := in.Text(i, gangColumn)
	if where != oneGPU && where != anyGPU {
		return in.Fail(i, gangColumn, fmt.Errorf("%q is neither %s (all on one GPU) nor %s", where, oneGPU, anyGPU))
	}
	q.SetGang(members, where == oneGPU)
	if q.Gang != nil && q.GPUs > 1 {
		return in.Fail(i, gpusColumn, fmt.Errorf("the request asks for %v on %d GPUs; a request for several GPUs "+
			"has a single profile", q.Gang, q.GPUs))
	}
	if err := q.CheckGPUs(g); err != nil {
		return in.Fail(i, profilesColumn, fmt.Errorf("the request %w", err))
	}
	return nil
}

// CheckWork returns an error unless a requests file can hold a request for work and memory.
func (q *Request) CheckWork() error {
	for _, n := range []struct {
		value   int
		allowed strictcsv.Range
	}{{q.Arrival, slotNumbers}, {q.Work, workNumbers}, {q.MemoryMB, memoryNumbers}} {
		if !n.allowed.Has(float64(n.value)) {
			return fmt.Errorf("%d is not %s", n.value, n.allowed.What)
		}
	}
	return nil
}

// checkNumbers returns an error unless a requests file can hold the numbers of the request.
func (q *Request) checkNumbers() error {
	switch {
	case q.Work != 0:
		return q.CheckWork()
	case !slotNumbers.Has(float64(q.Arrival)):
		return fmt.Errorf("%d is not %s", q.Arrival, slotNumbers.What)
	case q.Lifespan != Forever && !lifespans.Has(float64(q.Lifespan)):
		return fmt.Errorf("%d is not %s", q.Lifespan, lifespans.What)
	case q.Gang != nil && (q.GPUs > 1 || len(q.Gang.Members) > MaxMembers):
		return fmt.Errorf("%d instances on %d GPUs; a request for several GPUs has one profile, others at most %d",
			len(q.Gang.Members), q.GPUs, MaxMembers)
	case !gpuNumbers.Has(float64(q.GPUs)):
		return fmt.Errorf("%d is not %s", q.GPUs, gpuNumbers.What)
	}
	return nil
}

// readWork reads a line with work and memory.
func readWork(in *strictcsv.Sheet, i int, g *mig.GPU, q *Request) error {
	q.Arrival, q.Work = in.Whole(i, "arrival_ms", slotNumbers), in.Whole(i, "work_ms", workNumbers)
	q.MemoryMB = in.Whole(i, "memory_mb", memoryNumbers)
	if in.Err != nil {
		return in.Err
	}
	if err := q.SetProfile(g); err != nil {
		return in.Fail(i, "memory_mb", fmt.Errorf("the request %w", err))
	}
	return nil
}

const (
	maxSlots = 1<<32 - 1 // bounds slots in files, so that sums over a cluster stay exact
	maxGPUs  = 1 << 20   // the largest number of GPUs that a request in a file may need
	// maxMB is a million GB, the largest memory that a request may need.
	maxMB = 1 << 30

	forever = "forever"
)

// The ranges of the whole numbers in a requests file.
var (
	slotNumbers = strictcsv.Range{
		Least: 0, Most: maxSlots, What: fmt.Sprintf("a slot; write a whole number from 0 to %d", maxSlots),
	}
	lifespans = strictcsv.Range{
		Least: 1, Most: maxSlots,
		What: fmt.Sprintf("a lifespan; write a whole number of slots from 1 to %d, or %s", maxSlots, forever),
	}
	workNumbers = strictcsv.Range{
		Least: 1, Most: maxSlots,
		What: fmt.Sprintf("work; write the whole milliseconds that it takes on a whole GPU, from 1 to %d", maxSlots),
	}
	memoryNumbers = strictcsv.Range{
		Least: 1, Most: maxMB, What: fmt.Sprintf("memory; write whole MB from 1 to %d", maxMB),
	}
	gpuNumbers = strictcsv.Range{
		Least: 0, Most: maxGPUs, What: fmt.Sprintf("a number of GPUs; write a whole number from 0 to %d", maxGPUs),
	}
)

// WriteRequests writes a file for [ReadRequests]. It leaves out the column gpus if no request needs whole GPUs, and
// has the columns of gangs only if there are some. It returns an error for an empty list, requests that are not in
// order of arrival, numbers out of range, and a mixture of requests for work and for profiles. It passes on the errors
// of w. It does not call [Request.CheckGPUs].
func WriteRequests(w io.Writer, requests []Request) error {
	if err := checkOrder("request", len(requests), func(i int) int { return requests[i].Arrival }); err != nil {
		return err
	}
	for i := range requests {
		if err := requests[i].checkNumbers(); err != nil {
			return fmt.Errorf("request %d: %w", i, err)
		}
	}
	asksForWork := func(q Request) bool { return q.Work != 0 }
	if slices.ContainsFunc(requests, asksForWork) {
		i := slices.IndexFunc(requests, func(q Request) bool { return q.Work == 0 })
		if i >= 0 {
			return fmt.Errorf("request %d asks for a profile and others for work; write them to a file each", i)
		}
		return strictcsv.Write(w, workColumns, len(requests), func(i int) []string {
			q := &requests[i]
			return []string{strconv.Itoa(q.Arrival), strconv.Itoa(q.Work), strconv.Itoa(q.MemoryMB)}
		})
	}
	names := requestColumns
	gangs := slices.ContainsFunc(requests, func(q Request) bool { return q.Gang != nil })
	if gangs {
		names = gangColumns
	}
	whole := slices.ContainsFunc(requests, func(q Request) bool { return q.GPUs > 0 })
	if whole {
		names = append(slices.Clone(names), gpusColumn)
	}
	return strictcsv.Write(w, names, len(requests), func(i int) []string {
		q := &requests[i]
		line := []string{strconv.Itoa(q.Arrival), strconv.Itoa(q.Lifespan), q.Profile.String()}
		if q.Lifespan == Forever {
			line[1] = forever
		}
		if gangs {
			gang := cmp.Or(q.Gang, &Gang{Members: []Member{q.Member(0)}})
			line = append(line[:2], gang.String(), gang.Where())
		}
		if whole {
			line = append(line, strconv.Itoa(q.GPUs))
		}
		return line
	})
}
