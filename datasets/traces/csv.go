package traces

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"miglab/harness/strictcsv"
)

// CSVColumns are the columns of the format csv. A file must have submit_s, and lifetime_s or end_s. If it has profile,
// its gpu_milli does not count.
var CSVColumns = []string{"submit_s", "lifetime_s", "end_s", "start_s", "gpus", "gpu_milli", "profile"}

// timeColumns are the columns that a snapshot does not need.
var timeColumns = CSVColumns[:4]

// csvTable returns the columns of a file of the format csv. A file must have the columns that Columns renames, except
// the times of a snapshot.
func (o *Options) csvTable() table {
	t := table{separators: []string{",", ";", "\t", "|"}, quoted: true}
	for _, column := range CSVColumns {
		name := o.column(column)
		switch {
		case o.Snapshot && slices.Contains(timeColumns, column):
		case column == "submit_s" || o.Columns[column] != "":
			t.choices = append(t.choices, []string{name})
		case column == "lifetime_s":
			t.choices = append(t.choices, []string{name, o.column("end_s")})
		default:
			t.optional = append(t.optional, name)
		}
	}
	return t
}

// column returns the file's name of a column of the format csv.
func (o *Options) column(name string) string { return cmp.Or(o.Columns[name], name) }

// readCSV reads a CSV file with the columns [CSVColumns].
func readCSV(r io.Reader, file string, o Options, each jobFunc) error {
	milli, profile, gpus := o.column("gpu_milli"), o.column("profile"), o.column("gpus")
	err := readLines(r, file, o.csvTable(), each, func(f *fields) Job {
		j := Job{GPUs: 1, Milli: WholeGPU, Lifetime: 1, Profile: f.text(profile), shareCountsGPUs: !f.has(gpus)}
		if !o.Snapshot {
			f.times(&j, &o)
		}
		if f.text(gpus) != "" {
			j.GPUs = f.whole(gpus)
		}
		switch {
		case f.has(profile):
			if j.Profile == "" && f.text(gpus) == "" {
				f.err = errNoGPU
			}
		case f.has(milli):
			f.share(&j, milli, o.ShareUnit)
		}
		return j
	})
	if missing, ok := errors.AsType[*missingColumnError](err); ok {
		hint := "for a column of another name, say --columns submit_s=THAT"
		if slices.ContainsFunc(timeColumns, func(name string) bool { return o.column(name) == missing.columns[0] }) {
			hint += "; miglab advise --snapshot needs no times"
		}
		switch {
		case strings.Contains(missing.header, "|") && strings.Contains(missing.header, "JobID"):
			hint = "this looks like sacct: say --format sacct"
		case strings.Contains(missing.header, "arrival_slot"):
			hint = "this looks like requests: say miglab advise --format requests"
		}
		err = fmt.Errorf("%w; %s", err, hint)
	}
	return err
}

// times reads the submission of a job of the format csv and its lifetime. In a file without lifetimes, a job lives from
// its start to its end, or from its submission if the file has no starts.
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
