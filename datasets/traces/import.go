package traces

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"miglab/harness/nearest"
)

// A Job is a row of a trace.
type Job struct {
	// Submit is the time of submission and Lifetime is the duration, in seconds. Times count from any origin.
	Submit, Lifetime float64
	// GPUs is the number of GPUs that the job needs at once, and Milli is its share of each in thousandths.
	GPUs, Milli int
	// Profile is the MIG profile that the file names, and GPUs is then the number of its instances. Several profiles
	// are joined by +, with GPUs 1. Profile is in lower case, as NVIDIA writes it, and "" if the file names no profile.
	Profile string
	// Model is the GPU model that the file asks for, also with a profile, as the file spells it; "" for any.
	Model           string
	Line            int  // the line of the job in the file, from 1
	thousandths     bool // the share was read as thousandths, because the unit was not given or was thousandths
	shareCountsGPUs bool // the file has no column for GPUs, so that a share may also be several whole GPUs
}

// Options say how to read a file.
type Options struct {
	// Pending keeps the jobs that wait, in a snapshot of the formats sacct and pods.
	Pending bool
	Columns map[string]string // the file's names for [CSVColumns], where they differ
	// Snapshot reads jobs that are all there at once, in the formats of [SnapshotFormats]. Read then ignores times:
	// each job is submitted at 0 and lasts a second. In the formats sacct and pods, a snapshot has the jobs that run.
	Snapshot bool
	Unit     float64 // the unit of the times in the format csv, in seconds; 0 means 1
	// ShareUnit is one of [ShareUnits], for the format csv. If it is "", shares are thousandths, and a file in which
	// they could be percent is refused.
	ShareUnit string
}

// The units of shares of a GPU. Shares are rounded down to thousandths, but not to 0.
const (
	Thousandths = "thousandths"
	Percent     = "percent"
	Fraction    = "fraction"
)

// ShareUnits are all units of shares.
var ShareUnits = []string{Thousandths, Percent, Fraction}

// A format is a kind of trace. The help of miglab import describes the formats.
type format struct {
	name string
	// snapshot says that [Options.Snapshot] is possible.
	snapshot bool
	// read reads a file. It calls each with the job of every row, or with the reason why the row has no job. It returns
	// an error if the file as a whole is wrong.
	read func(r io.Reader, file string, o Options, each jobFunc) error
}

// A jobFunc takes the job of the row that begins at a line, or the reason why the row has no job.
type jobFunc func(line int, j Job, reason error)

var formats = []format{
	{name: "philly", read: readPhilly},
	{name: "sacct", snapshot: true, read: readSacct},
	{name: "pods", snapshot: true, read: readPods},
	{name: "csv", snapshot: true, read: readCSV},
}

// FormatNames returns the names of the formats.
func FormatNames() []string { return nearest.Names(formats, format.String) }

// SnapshotFormats returns the names of the formats that can be read as a snapshot.
func SnapshotFormats() []string {
	able := slices.DeleteFunc(slices.Clone(formats), func(f format) bool { return !f.snapshot })
	return nearest.Names(able, format.String)
}

func (f format) String() string { return f.name }

// Read reads a trace and returns its jobs in the order of their submission, and the rows that it
// cannot use, by line. An unknown format is a [*nearest.UnknownError]. Other errors are about the
// file as a whole, such as a missing column; Read then also returns the rows before the error.
func Read(r io.Reader, file, name string, o Options) ([]Job, []Rejected, error) {
	f, err := nearest.Find("format", name, formats, format.String)
	switch {
	case err != nil:
		return nil, nil, err
	case o.ShareUnit == "":
	case name != "csv":
		return nil, nil, fmt.Errorf("%s: the format %s has whole GPUs; leave out --share-unit", file, name)
	case !slices.Contains(ShareUnits, o.ShareUnit):
		return nil, nil, nearest.Unknown("unit of shares", o.ShareUnit, ShareUnits)
	}
	var jobs []Job
	var rejected []Rejected
	err = f.read(r, file, o, func(line int, j Job, reason error) {
		if reason == nil {
			reason = j.check()
		}
		if reason != nil {
			rejected = append(rejected, reject(line, reason))
			return
		}
		j.Line, j.Profile = line, strings.ToLower(j.Profile)
		jobs = append(jobs, j)
	})
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	if err == nil && o.ShareUnit == "" && couldBePercent(jobs) {
		err = fmt.Errorf("%s: no job with one GPU has a share above 100, or only whole hundreds: are shares percent "+
			"or thousandths? Say --share-unit %s or %s", file, Percent, Thousandths)
	}
	return jobs, rejected, err
}

var errNoGPU = &partError{NoJob, "asks for no GPU"}

// maxSeconds is 100 years. It bounds times and lifetimes, so that files in another unit are noticed.
const maxSeconds = 100 * 366 * 24 * 60 * 60

// mostGPUs bounds the GPUs of a job.
const mostGPUs = 1 << 20

// check returns an error for an impossible job.
func (j *Job) check() error {
	switch {
	case math.Abs(j.Submit) > maxSeconds:
		return fmt.Errorf("was submitted at %v s, which is no instant within 100 years; is the unit right?", j.Submit)
	case j.Lifetime < 0:
		return fmt.Errorf("has a lifetime of %v s; it must end after it was submitted", j.Lifetime)
	case j.Lifetime > maxSeconds:
		return fmt.Errorf("has a lifetime of %v s, more than 100 years; is the unit right?", j.Lifetime)
	case j.GPUs == 0 || j.Milli == 0:
		return errNoGPU
	case j.GPUs < 0 || j.GPUs > mostGPUs:
		return fmt.Errorf("asks for %d GPUs; write a whole number from 1 to %d", j.GPUs, mostGPUs)
	case j.Milli < 0 || j.Milli > WholeGPU:
		return fmt.Errorf("asks for %d thousandths of a GPU; write a whole number from 1 to %d", j.Milli, WholeGPU)
	}
	return nil
}
