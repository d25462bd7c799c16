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
	t := table{split: splitLine}
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
		if strings.Contains(missing.header, "|") {
			hint = "this looks like sacct: say --format sacct"
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

// readOpenb reads a pod list of Alibaba's cluster-trace-gpu-v2023.
func readOpenb(r io.Reader, file string, o Options, each jobFunc) error {
	t := table{
		choices:  [][]string{{"num_gpu"}, {"gpu_milli"}, {"pod_phase"}, {"creation_time"}, {"deletion_time"}},
		optional: []string{"gpu_spec"}, split: splitLine,
	}
	return readLines(r, file, t, each, func(f *fields) Job {
		j := Job{GPUs: f.whole("num_gpu"), Model: f.text("gpu_spec")}
		if j.GPUs == 0 {
			f.err = errNoGPU
			return j
		}
		if f.text("pod_phase") == "Pending" && !o.Pending {
			f.err = neverStarted("is Pending")
			return j
		}
		f.share(&j, "gpu_milli", o.ShareUnit)
		j.Submit = f.seconds("creation_time", 1)
		j.Lifetime = f.seconds("deletion_time", 1) - j.Submit
		return j
	})
}

// readHelios reads a cluster_log.csv of HeliosData.
func readHelios(r io.Reader, file string, _ Options, each jobFunc) error {
	t := table{
		choices: [][]string{{"gpu_num"}, {"submit_time"}, {"duration"}}, optional: []string{"start_time"}, split: splitLine,
	}
	return readLines(r, file, t, each, func(f *fields) Job {
		j := Job{GPUs: f.whole("gpu_num"), Milli: WholeGPU}
		if j.GPUs == 0 {
			f.err = errNoGPU
			return j
		}
		j.Submit = f.instant("submit_time", f.text("submit_time"))
		j.Lifetime = f.number("duration")
		start := f.text("start_time")
		if f.err == nil && f.has("start_time") && (start == "" || start == "None") && j.Lifetime == 0 {
			f.err = neverStarted("has no start_time")
		}
		return j
	})
}
