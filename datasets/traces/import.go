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
	// Profile is the MIG profile that the file names; "" if it names none. GPUs is then the number of its instances.
	Profile string
	// Model is the GPU model that the file asks for, as it names it; "" for any.
	Model string
	// Line is the line of the job in the file, from 1.
	Line int
	// stated says that the share is a whole number in the file, in thousandths or in an unknown unit. alone says that
	// the column of the share also has whole GPUs.
	stated, alone bool
}

// Options say how to read a file.
type Options struct {
	// Pending keeps the pods that were never placed (format openb, and format pods in a snapshot).
	Pending bool
	// Columns has other names for the columns of the format csv.
	Columns map[string]string
	// Snapshot makes jobs that are there at once for a second, in the formats of [SnapshotFormats]. Their times are not
	// read. In the formats sacct and pods these are the jobs that run.
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
	name string
	// shares says that jobs may have shares of a GPU, and snapshot that jobs may be there at once.
	shares, snapshot bool
	read             func(r io.Reader, file string, o Options, each jobFunc) error
}

// A jobFunc takes the job of the row that begins at a line, or the reason why the row has no job.
type jobFunc func(line int, j Job, reason error)

var formats = []format{
	{name: "openb", shares: true, read: readOpenb},
	{name: "helios", read: readHelios},
	{name: "philly", read: readPhilly},
	{name: "sacct", snapshot: true, read: readSacct},
	{name: "swf", read: readSWF},
	{name: "pods", snapshot: true, read: readPods},
	{name: "csv", shares: true, snapshot: true, read: readCSV},
}

// FormatNames returns the names of the formats.
func FormatNames() []string { return nearest.Names(formats, format.String) }

// SnapshotFormats returns the names of the formats that can be read as a snapshot.
func SnapshotFormats() []string {
	there := slices.DeleteFunc(slices.Clone(formats), func(f format) bool { return !f.snapshot })
	return nearest.Names(there, format.String)
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
		err = fmt.Errorf("%s: no job with one GPU has a share above 100, or only whole hundreds: are shares percent "+
			"or thousandths? Say --share-unit %s or %s", file, Percent, Thousandths)
	}
	return jobs, rejected, err
}

var (
	errNoGPU         = errors.New("asks for no GPU")
	errMissingColumn = errors.New("the column is missing")
)

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

// fields reads the fields of a file's rows. It keeps the first error of a row.
type fields struct {
	// header is the header of a CSV file, and values are the fields of the current row.
	header, values []string
	err            error
	// instants is the kind of the file's times, [number] or [timestamp]; "" before the first.
	instants string
}

func (f *fields) has(column string) bool { return slices.Contains(f.header, column) }

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

// whole reads a whole number, which may end with .0 as programs write it for numbers with missing values.
func (f *fields) whole(column string) int {
	text, part, _ := strings.Cut(f.text(column), ".")
	n, err := strictcsv.Int(text)
	if err != nil || strings.Trim(part, "0") != "" {
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

// zones are the ways to write the zone of a timestamp.
var zones = []string{"", "Z07:00", "Z0700", "Z07"}

// instant returns the seconds from 1970 to a timestamp, with T or a space after the date. Helios, Philly and Slurm
// write timestamps without a time zone, so that the hours of summer time are not known; they are read as UTC.
func (f *fields) instant(column, value string) float64 {
	day, clock, _ := strings.Cut(strings.Replace(value, "T", " ", 1), " ")
	clock = strings.Replace(clock, " ", "", 1) // before the zone
	for _, zone := range zones {
		if t, err := time.Parse(time.DateTime+zone, day+" "+clock); err == nil {
			return float64(t.Unix()) + float64(t.Nanosecond())/1e9
		}
	}
	f.fail(column, value, timestamp)
	return 0
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

// share reads a job's share of each GPU. In a file without a column for GPUs, the shares of several whole GPUs are
// multiples of a whole one.
func (f *fields) share(j *Job, column, unit string) {
	value, whole, want := f.text(column), float64(WholeGPU), "a whole number of thousandths; for 0.5 or 50, say "+
		"--share-unit fraction or percent"
	switch unit {
	case Percent:
		whole, want = 100, "percent of a GPU, from 0 to 100"
	case Fraction:
		whole, want = 1, "a part of a GPU, from 0 to 1"
	default:
		j.stated = true
	}
	v, err := strictcsv.Float(value)
	if err != nil || j.stated && v != math.Trunc(v) {
		f.fail(column, value, want)
		return
	}
	gpus := v / whole
	switch {
	case j.alone && gpus > 1 && gpus <= mostGPUs && gpus == math.Trunc(gpus):
		j.GPUs, gpus = int(gpus), 1
	case j.alone && gpus > 1:
		f.fail(column, value, want+", or a multiple for whole GPUs")
	case gpus < 0 || gpus > 1:
		f.fail(column, value, want)
	}
	const rounding = 1e-6 // 0.29 * 1000 is less than 290
	j.Milli = int(float64(min(max(gpus, 0), 1)*WholeGPU) + rounding)
	if v > 0 {
		j.Milli = max(j.Milli, 1)
	}
}

// couldBePercent reports whether the shares of jobs with one GPU are so small that they could be percent, or shares and
// whole GPUs in one column could be.
func couldBePercent(jobs []Job) bool {
	small := false
	for i := range jobs {
		j := &jobs[i]
		if !j.stated || j.GPUs > 1 && !j.alone {
			continue
		}
		if j.Milli > 100 && (!j.alone || j.GPUs > 1 || j.Milli == WholeGPU || j.Milli%100 != 0) {
			return false
		}
		small = small || j.Milli <= 100
	}
	return small
}

// A table describes a file with a row in each line.
type table struct {
	// required columns must be there, optional ones may be missing, and one of each choice must be there.
	required, optional []string
	choices            [][]string
	// header has the columns if the file has no line for them.
	header []string
	// comment begins the lines that are skipped, if it is not empty.
	comment string
	// split returns the fields of a line.
	split func(line string) ([]string, error)
}

// readLines converts each row of a CSV file to a job with row and passes it to each. A row cannot
// hold a line break, so that an unclosed quote spoils only one line.
func readLines(r io.Reader, file string, t table, each jobFunc, row func(*fields) Job) error {
	in := bufio.NewScanner(strictcsv.Limit(r, file))
	in.Buffer(nil, strictcsv.MaxLine)
	f := fields{header: t.header}
	line := 0
	for in.Scan() {
		line++
		text := strings.TrimSpace(in.Text())
		if text == "" || t.comment != "" && strings.HasPrefix(text, t.comment) {
			continue
		}
		values, err := t.split(text)
		if f.header == nil {
			if err = cmp.Or(err, t.check(values)); err != nil {
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
		return fmt.Errorf("%s:1: the file is empty; begin with a header that has %s", file,
			strings.Join(t.columns(), ","))
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

// columns returns the required columns, with the names of each choice as one.
func (t *table) columns() []string {
	out := slices.Clone(t.required)
	for _, names := range t.choices {
		out = append(out, strings.Join(names, " or "))
	}
	return out
}

// check returns an error unless a header has the columns of the table, each once.
func (t *table) check(header []string) error {
	missing := func(name string) bool { return !slices.Contains(header, name) }
	for _, name := range t.required {
		if missing(name) {
			return fmt.Errorf("%s: %w; the header is %s", name, errMissingColumn, strings.Join(header, ","))
		}
	}
	for _, names := range t.choices {
		if !slices.ContainsFunc(names, func(name string) bool { return !missing(name) }) {
			return fmt.Errorf("%s: %w; the header is %s", strings.Join(names, " or "), errMissingColumn,
				strings.Join(header, ","))
		}
	}
	for _, name := range slices.Concat(t.required, t.optional, slices.Concat(t.choices...)) {
		at := slices.Index(header, name)
		if at >= 0 && slices.Contains(header[at+1:], name) {
			return fmt.Errorf("%s: the column is there twice; the header is %s", name, strings.Join(header, ","))
		}
	}
	return nil
}

func readOpenb(r io.Reader, file string, o Options, each jobFunc) error {
	t := table{
		required: []string{"num_gpu", "gpu_milli", "pod_phase", "creation_time", "deletion_time"},
		optional: []string{"gpu_spec"}, split: splitLine,
	}
	return readLines(r, file, t, each, func(f *fields) Job {
		j := Job{GPUs: f.whole("num_gpu"), Model: f.text("gpu_spec")}
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
	t := table{required: []string{"gpu_num", "submit_time", "duration"}, split: splitLine}
	return readLines(r, file, t, each, func(f *fields) Job {
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

// CSVColumns are the columns of the format csv. The first must be there, and the second or the third.
var CSVColumns = []string{"submit_s", "lifetime_s", "end_s", "start_s", "gpus", "gpu_milli", "profile"}

// timeColumns are the columns that a snapshot does not have.
var timeColumns = CSVColumns[:4]

// csvTable returns the columns of a file of the format csv: those that were named must be there.
func (o *Options) csvTable() table {
	t := table{split: splitLine}
	for _, column := range CSVColumns {
		name := o.column(column)
		switch {
		case o.Snapshot && slices.Contains(timeColumns, column):
		case column == "submit_s" || o.Columns[column] != "":
			t.required = append(t.required, name)
		case column == "lifetime_s":
			t.choices = [][]string{{name, o.column("end_s")}}
		default:
			t.optional = append(t.optional, name)
		}
	}
	return t
}

// column returns the name of a column of the format csv in the file.
func (o *Options) column(name string) string { return cmp.Or(o.Columns[name], name) }

func readCSV(r io.Reader, file string, o Options, each jobFunc) error {
	milli, profile, gpus := o.column("gpu_milli"), o.column("profile"), o.column("gpus")
	err := readLines(r, file, o.csvTable(), each, func(f *fields) Job {
		j := Job{GPUs: 1, Milli: WholeGPU, Lifetime: 1, Profile: f.text(profile), alone: !f.has(gpus)}
		if !o.Snapshot {
			f.times(&j, &o)
		}
		if f.text(gpus) != "" {
			j.GPUs = f.whole(gpus)
		}
		switch {
		case f.has(profile):
			if j.Profile == "" {
				f.err = errNoGPU
			}
		case f.has(milli):
			f.share(&j, milli, o.ShareUnit)
		}
		return j
	})
	if errors.Is(err, errMissingColumn) {
		err = fmt.Errorf("%w; for a column of another name, say --columns submit_s=THAT", err)
	}
	return err
}

// times reads when a job of the format csv was submitted, and how long it ran: its lifetime, or the time from its
// start, or from its submission if the file has no start, to its end.
func (f *fields) times(j *Job, o *Options) {
	unit := cmp.Or(o.Unit, 1)
	lifetime, start := o.column("lifetime_s"), o.column("start_s")
	j.Submit = f.seconds(o.column("submit_s"), unit)
	if f.has(lifetime) {
		v, err := strictcsv.Float(f.text(lifetime))
		if err != nil {
			f.fail(lifetime, f.text(lifetime), "a number; instants of the end are the column end_s")
		}
		j.Lifetime = unit * v
		return
	}
	from := j.Submit
	if f.has(start) {
		from = f.seconds(start, unit)
	}
	j.Lifetime = f.seconds(o.column("end_s"), unit) - from
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
			err = fmt.Errorf("needs %d of the profile %s; a request is for one instance", j.GPUs, j.Profile)
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
