package traces

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/portable"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// A Job is a row of a trace.
type Job struct {
	// Submit is the time of submission and Lifetime is the duration, in seconds. Times count from any origin.
	Submit, Lifetime float64
	// GPUs is the number of GPUs that the job needs at once, and Milli is its share of each in thousandths.
	GPUs, Milli int
	// Profile is the MIG profile that the file names; "" if it names none.
	Profile string
	// Line is the line of the job in the file, from 1.
	Line int
	// stated says that the share is a whole number in the file, in thousandths or in an unknown unit.
	stated bool
}

// A Rejected row is a row from which no job can be made.
type Rejected struct {
	// Line is the line in which the row begins, from 1.
	Line   int
	Reason string
}

// Options say how to read a file.
type Options struct {
	// Pending keeps the pods that were never placed (format openb).
	Pending bool
	// Columns has other names for the columns of the format csv.
	Columns map[string]string
	// Snapshot makes jobs that are there at once for a second, in the format csv. Their times are not read.
	Snapshot bool
	// Unit is the unit of the times in the format csv, in seconds.
	Unit float64
	// ShareUnit is one of [ShareUnits]. If it is "", shares are thousandths, and a file in which
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

// A format reads a file. It calls each with the job of every row, or with the reason why the row has no job. It returns
// an error if the file as a whole is wrong. The help of miglab import describes the formats.
type format struct {
	name   string
	shares bool // jobs may have shares of a GPU
	read   func(r io.Reader, file string, o Options, each jobFunc) error
}

// A jobFunc takes the job of the row that begins at a line, or the reason why the row has no job.
type jobFunc func(line int, j Job, reason error)

var formats = []format{
	{"openb", true, readOpenb},
	{"helios", false, readHelios},
	{"philly", false, readPhilly},
	{"csv", true, readCSV},
}

// FormatNames returns the names of the formats.
func FormatNames() []string { return nearest.Names(formats, format.String) }

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
	case !f.shares:
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
			rejected = append(rejected, Rejected{line, reason.Error()})
			return
		}
		j.Line = line
		jobs = append(jobs, j)
	})
	slices.SortStableFunc(jobs, func(a, b Job) int { return cmp.Compare(a.Submit, b.Submit) })
	if err == nil && o.ShareUnit == "" && couldBePercent(jobs) {
		err = fmt.Errorf("%s: no job with one GPU has a share above 100: are shares percent or thousandths? Say "+
			"--share-unit %s or %s", file, Percent, Thousandths)
	}
	return jobs, rejected, err
}

var (
	errNoGPU         = errors.New("asks for no GPU")
	errMissingColumn = errors.New("the column is missing")
)

// maxSeconds is 100 years. It bounds times and lifetimes, so that files in another unit are noticed.
const maxSeconds = 100 * 366 * 24 * 60 * 60

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
	case j.GPUs < 0 || j.GPUs > 1<<20:
		return fmt.Errorf("asks for %d GPUs; write a whole number from 1 to %d", j.GPUs, 1<<20)
	case j.Milli < 0 || j.Milli > WholeGPU:
		return fmt.Errorf("asks for %d thousandths of a GPU; write a whole number from 1 to %d", j.Milli, WholeGPU)
	}
	return nil
}

// fields reads the fields of a file's rows. It keeps the first error of a row.
type fields struct {
	// header is the header of a CSV file, and values are the fields of the current row.
	header, values []string
	err            error
	// instants is the kind of the file's times, [number] or [timestamp]; "" before the first.
	instants string
}

// text returns the field of a column; "" if there is no such column.
func (f *fields) text(column string) string {
	i := slices.Index(f.header, column)
	if i < 0 {
		return ""
	}
	return f.values[i]
}

func (f *fields) fail(column, value, want string) {
	if f.err == nil {
		f.err = fmt.Errorf("%s is %q; write %s", column, value, want)
	}
}

func (f *fields) whole(column string) int {
	n, err := strictcsv.Int(f.text(column))
	if err != nil {
		f.fail(column, f.text(column), "a whole number")
	}
	return n
}

func (f *fields) number(column string) float64 {
	v, err := strictcsv.Float(f.text(column))
	if err != nil {
		f.fail(column, f.text(column), "a number")
	}
	return v
}

const (
	number    = "a number"
	timestamp = "an instant such as 2020-06-09T18:41:01Z"
)

// instant returns the seconds from 1970 to a timestamp. Helios and Philly write timestamps without a
// time zone, so that the hours of summer time are not known; they are read as UTC.
func (f *fields) instant(column, value string) float64 {
	t, err := time.Parse(time.DateTime, value)
	if err != nil {
		t, err = time.Parse(time.RFC3339, value)
	}
	if err != nil {
		f.fail(column, value, timestamp)
		return 0
	}
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

// seconds reads a time, a number of units or a timestamp, in seconds. Numbers count from any origin, so
// that a file must not mix the two kinds.
func (f *fields) seconds(column string, unit float64) float64 {
	value := f.text(column)
	v, err := strictcsv.Float(value)
	kind := number
	if err != nil {
		var alone fields
		if v = alone.instant(column, value); alone.err != nil {
			f.fail(column, value, number+" or "+timestamp)
			return 0
		}
		kind, unit = timestamp, 1
	}
	f.instants = cmp.Or(f.instants, kind)
	if f.instants != kind {
		f.fail(column, value, f.instants+", as in the rows before")
	}
	return v * unit
}

// share reads a job's share of each GPU.
func (f *fields) share(j *Job, column, unit string) {
	value, whole, want := f.text(column), 1., "a part of a GPU, from 0 to 1"
	switch unit {
	case "", Thousandths:
		j.Milli, j.stated = f.whole(column), true
		return
	case Percent:
		whole, want = 100, "percent of a GPU, from 0 to 100"
	}
	v, err := strictcsv.Float(value)
	if err != nil || v < 0 || v > whole {
		f.fail(column, value, want)
	}
	const rounding = 1e-6 // 0.29 * 1000 is less than 290
	j.Milli = int(float64(v/whole*WholeGPU) + rounding)
	if v > 0 {
		j.Milli = max(j.Milli, 1)
	}
}

// couldBePercent reports whether the shares of jobs with one GPU are so small that they could be percent.
func couldBePercent(jobs []Job) bool {
	largest := 0
	for i := range jobs {
		if jobs[i].stated && jobs[i].GPUs == 1 {
			largest = max(largest, jobs[i].Milli)
		}
	}
	return 0 < largest && largest <= 100
}

// readLines converts each row of a CSV file to a job with row and passes it to each. A row cannot
// hold a line break, so that an unclosed quote spoils only one line.
func readLines(r io.Reader, file string, columns, optional []string, each jobFunc, row func(*fields) Job) error {
	in := bufio.NewScanner(strictcsv.Limit(r, file))
	in.Buffer(nil, strictcsv.MaxLine)
	var f fields
	line := 0
	for in.Scan() {
		line++
		if len(in.Bytes()) == 0 {
			continue
		}
		values, err := splitLine(in.Text())
		if f.header == nil {
			if err = cmp.Or(err, checkHeader(values, columns, optional)); err != nil {
				return fmt.Errorf("%s:%d: %w", file, line, err)
			}
			f.header = values
			continue
		}
		if err == nil && len(values) != len(f.header) {
			err = fmt.Errorf("the line has %d fields, the header %d", len(values), len(f.header))
		}
		var j Job
		if err == nil {
			f.values, f.err = values, nil
			j, err = row(&f), f.err
		}
		each(line, j, err)
	}
	if err := in.Err(); err != nil {
		return fmt.Errorf("%s after line %d: %w", file, line, err)
	}
	if f.header == nil {
		return fmt.Errorf("%s:1: the file is empty; begin with a header that has %s", file, strings.Join(columns, ","))
	}
	return nil
}

// splitLine returns the fields of a line without the spaces around them.
func splitLine(line string) ([]string, error) {
	values := strings.Split(line, ",")
	if strings.Contains(line, `"`) {
		in := csv.NewReader(strings.NewReader(line))
		in.TrimLeadingSpace = true
		var err error
		if values, err = in.Read(); err != nil {
			return nil, errors.New("the quotes are not closed or not doubled; a line holds one row")
		}
	}
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	return values, nil
}

// checkHeader checks that a header has all columns, and that no column, required or optional, is repeated.
func checkHeader(header, columns, optional []string) error {
	for i, name := range slices.Concat(columns, optional) {
		at := slices.Index(header, name)
		if at < 0 && i < len(columns) {
			return fmt.Errorf("%s: %w; the header is %s", name, errMissingColumn, strings.Join(header, ","))
		}
		if at >= 0 && slices.Contains(header[at+1:], name) {
			return fmt.Errorf("%s: the column is there twice; the header is %s", name, strings.Join(header, ","))
		}
	}
	return nil
}

func readOpenb(r io.Reader, file string, o Options, each jobFunc) error {
	columns := []string{"num_gpu", "gpu_milli", "pod_phase", "creation_time", "deletion_time"}
	return readLines(r, file, columns, nil, each, func(f *fields) Job {
		j := Job{GPUs: f.whole("num_gpu")}
		if j.GPUs == 0 {
			f.err = errNoGPU
			return j
		}
		if f.text("pod_phase") == "Pending" && !o.Pending {
			f.err = errors.New("is Pending: the cluster never placed it")
			return j
		}
		f.share(&j, "gpu_milli", o.ShareUnit)
		j.Submit = f.seconds("creation_time", 1)
		j.Lifetime = f.seconds("deletion_time", 1) - j.Submit
		return j
	})
}

func readHelios(r io.Reader, file string, _ Options, each jobFunc) error {
	columns := []string{"gpu_num", "submit_time", "duration"}
	return readLines(r, file, columns, nil, each, func(f *fields) Job {
		j := Job{GPUs: f.whole("gpu_num"), Milli: WholeGPU}
		if j.GPUs == 0 {
			f.err = errNoGPU
			return j
		}
		j.Submit = f.instant("submit_time", f.text("submit_time"))
		j.Lifetime = f.number("duration")
		return j
	})
}

// CSVColumns are the columns of the format csv; those after the first two may be missing.
var CSVColumns = []string{"submit_s", "lifetime_s", "gpus", "gpu_milli", "profile"}

func readCSV(r io.Reader, file string, o Options, each jobFunc) error {
	name := func(column string) string { return cmp.Or(o.Columns[column], column) }
	submit, lifetime := name("submit_s"), name("lifetime_s")
	gpus, milli, profile := name("gpus"), name("gpu_milli"), name("profile")
	required, optional := []string{submit, lifetime}, []string{}
	if o.Snapshot {
		required = nil
	}
	for _, column := range []string{"gpus", "gpu_milli", "profile"} {
		if o.Columns[column] == "" {
			optional = append(optional, column)
		} else { // a column that was named must be there
			required = append(required, name(column))
		}
	}
	unit := cmp.Or(o.Unit, 1)
	err := readLines(r, file, required, optional, each, func(f *fields) Job {
		j := Job{GPUs: 1, Milli: WholeGPU, Lifetime: 1, Profile: f.text(profile)}
		if !o.Snapshot {
			j.Submit = f.seconds(submit, unit)
			j.Lifetime = unit * f.number(lifetime)
		}
		if f.text(gpus) != "" {
			j.GPUs = f.whole(gpus)
		}
		switch {
		case slices.Contains(f.header, profile):
			if j.Profile == "" {
				f.err = errNoGPU
			}
		case slices.Contains(f.header, milli):
			f.share(&j, milli, o.ShareUnit)
		}
		return j
	})
	if errors.Is(err, errMissingColumn) {
		err = fmt.Errorf("%w; for a column of another name, say --columns submit_s=THAT", err)
	}
	return err
}

// Requests converts jobs, in the order of their submission, to requests. The first request arrives in
// slot 0. slot is the length of a slot in seconds. Submissions are rounded down, and lifetimes up.
func Requests(g *mig.GPU, m Mapping, slot float64, jobs []Job) ([]task.Request, []Rejected) {
	const maxSlot = 1<<32 - 1
	return convert(jobs, func(j Job) (q task.Request, err error) {
		arrival, lifespan := (j.Submit-jobs[0].Submit)/slot, math.Ceil(j.Lifetime/slot)
		if arrival > maxSlot || lifespan > maxSlot {
			return q, fmt.Errorf("takes or comes after more than %d slots; write a longer --slot", maxSlot)
		}
		q = m.Request(g, int(arrival), int(lifespan), j.GPUs, j.Milli)
		switch {
		case j.Profile == "":
		case j.GPUs > 1:
			err = fmt.Errorf("needs %d GPUs and the profile %s; a request is for one instance", j.GPUs, j.Profile)
		default:
			profiles := task.RequestProfiles(g)
			q.Profile, err = nearest.Find("profile of "+g.Name, j.Profile, profiles, (*mig.Profile).String)
		}
		return q, err
	})
}

// convert converts each job, or rejects it if convertJob returns an error.
func convert[T any](jobs []Job, convertJob func(Job) (T, error)) (out []T, rejected []Rejected) {
	out = make([]T, 0, len(jobs))
	for _, j := range jobs {
		if made, err := convertJob(j); err != nil {
			rejected = append(rejected, Rejected{j.Line, err.Error()})
		} else {
			out = append(out, made)
		}
	}
	return out, rejected
}

// A Law is the assumption that gives durations on all sizes to a job that was measured on one share of a GPU.
type Law struct {
	// Alpha is the exponent: on s slices instead of m, a job takes (m/s)^Alpha times as long.
	// With 1, twice the slices halve the duration, and with 0 the duration is the same on all.
	Alpha float64
	// Slack is the time from arrival to deadline, as a multiple of the lifetime.
	Slack float64
}

// Seconds returns the duration of a job on instances of a size. lifetime is its duration on the size measured.
func (l Law) Seconds(lifetime float64, measured, size mig.Slices) float64 {
	return lifetime * portable.Pow(float64(measured)/float64(size), l.Alpha)
}

// Job converts a job of a trace to a job with a deadline. arrival counts in seconds from the beginning of the day.
func (l Law) Job(g *mig.GPU, m Mapping, arrival, lifetime float64, milli int) task.Job {
	const minute = 60
	j := task.Job{
		Arrival:  task.Minutes(arrival / minute),
		Deadline: task.Minutes((arrival + float64(l.Slack*lifetime)) / minute),
	}
	measured := m.Profile(g, milli).Size
	for _, size := range g.Sizes() {
		j.Set(size, task.Minutes(l.Seconds(lifetime, measured, size)/minute))
	}
	return j
}

// Jobs converts jobs of a trace, in the order of their submission, to jobs with deadlines. The first
// job arrives at 0.
func Jobs(g *mig.GPU, m Mapping, l Law, jobs []Job) ([]task.Job, []Rejected) {
	return convert(jobs, func(j Job) (made task.Job, err error) {
		switch {
		case j.GPUs > 1:
			return made, fmt.Errorf("needs %d GPUs; a job with a deadline runs on one instance", j.GPUs)
		case j.Profile != "":
			return made, fmt.Errorf("has the profile %s; jobs need the share gpu_milli", j.Profile)
		}
		made = l.Job(g, m, j.Submit-jobs[0].Submit, j.Lifetime, j.Milli)
		return made, made.Validate(g.Sizes())
	})
}

// WriteRejected writes rejected rows as CSV with the columns line and reason. It passes on the errors of w.
func WriteRejected(w io.Writer, rejected []Rejected) error {
	return strictcsv.Write(w, []string{"line", "reason"}, len(rejected), func(i int) []string {
		return []string{strconv.Itoa(rejected[i].Line), rejected[i].Reason}
	})
}
