package traces

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// errStep rejects the steps of a job, such as 17.batch.
var errStep = &partError{NoJob, "is a step of a job; the job has a row of its own"}

// readSacct reads what Slurm's sacct --parsable2 prints, with its header.
func readSacct(r io.Reader, file string, o Options, each jobFunc) error {
	t := table{
		choices: [][]string{
			{"Submit"}, {"State"}, {"JobIDRaw", "JobID"}, {"ElapsedRaw", "Elapsed", "End"}, {"AllocTRES", "ReqTRES"},
		},
		optional:   []string{"Start"},
		separators: []string{"|", ";", "\t"}, // sacct --delimiter; a comma is also within its fields
	}
	err := readLines(r, file, t, each, func(f *fields) Job {
		if strings.Contains(f.text("JobIDRaw")+f.text("JobID"), ".") {
			f.err = errStep
			return Job{}
		}
		tres := f.text("AllocTRES")
		if tres == "" {
			tres = f.text("ReqTRES")
		}
		j, err := tresJob(tres)
		state, _, _ := strings.Cut(f.text("State"), " ") // CANCELLED by 1000
		running := state == "RUNNING" || state == "SUSPENDED"
		start := f.text("Start")
		waits := state == "PENDING" || start == "Unknown" || start == "None"
		switch {
		case o.Snapshot && !running && state != "PENDING" && tres == "":
			f.err = o.present(&j, false, state)
		case tres == "" && (waits || state == "CANCELLED"):
			f.err = &partError{Waiting, "is " + state + " and was allocated nothing; the column ReqTRES has its GPUs"}
		case err != nil:
			f.err = err
		case state == "PENDING" && o.Snapshot && o.Pending:
			j.Lifetime = 1
		case waits && (!o.Snapshot || state == "PENDING"):
			f.err = neverStarted("is " + state)
		case o.Snapshot || running || f.text("End") == "Unknown":
			f.err = o.present(&j, running, state)
		default:
			j.Submit = f.seconds("Submit", 1)
			j.Lifetime = f.duration()
			queued := f.text("AllocTRES") == "" && (f.has("AllocTRES") || state == "CANCELLED")
			if f.err == nil && j.Lifetime == 0 && queued {
				f.err = neverStarted("is " + state)
			}
		}
		return j
	})
	if _, ok := errors.AsType[*missingColumnError](err); ok {
		err = fmt.Errorf("%w; write the file with sacct -P -o JobIDRaw,Submit,State,ElapsedRaw,AllocTRES,ReqTRES, "+
			"which separates columns by | and begins with a header", err)
	}
	return err
}

// present sets the lifetime of a job for a snapshot. It returns the reason why a job without an end, or one that does
// not run, cannot be used.
func (o *Options) present(j *Job, running bool, state string) error {
	switch {
	case o.Snapshot && running:
		j.Lifetime = 1
		return nil
	case o.Snapshot:
		return &partError{Past, "is " + state + ": it holds no GPU now"}
	}
	return &partError{Running, "is " + state + " and has no end, so that its lifetime is not known; miglab advise " +
		"--snapshot counts such jobs"}
}

// duration returns how long a job of Slurm ran, in seconds.
func (f *fields) duration() float64 {
	switch {
	case f.has("ElapsedRaw"):
		return f.number("ElapsedRaw")
	case !f.has("Elapsed"):
		return f.seconds("End", 1) - f.seconds("Start", 1)
	}
	value := f.text("Elapsed")
	days, clock, found := strings.Cut(value, "-")
	if !found {
		days, clock = "0", value
	}
	var d, h, m, s int
	_, err := fmt.Sscanf(days+":"+clock+"\n", "%d:%d:%d:%d\n", &d, &h, &m, &s)
	if err != nil || d < 0 || h < 0 || m < 0 || s < 0 {
		f.fail("Elapsed", value, "days, hours, minutes and seconds such as 1-02:03:04")
	}
	return float64(((d*24+h)*60+m)*60 + s)
}

// migType matches the types of MIG instances in Slurm, such as 1g.10gb, a100_1g.5gb or mig-1g.10gb: the model, or mig,
// and the profile. A profile without its point, such as 1g10gb, matches, so that it is refused as unknown and not taken
// for the name of a model.
var migType = regexp.MustCompile(`^(?:(?i:mig)[_-]|(.*)[_-])?((?i:\d+g\.?\d+gb.*))$`)

// tresJob returns a job with the GPUs of a list such as cpu=8,gres/gpu:a100=2,gres/gpu=2. The entry without a type
// counts all GPUs.
func tresJob(tres string) (j Job, err error) {
	var total, typed int
	var kinds []gpuKind
	for item := range strings.SplitSeq(tres, ",") {
		name, value, _ := strings.Cut(item, "=")
		resource, kind, _ := strings.Cut(name, ":")
		switch resource {
		case "gres/shard", "gres/mps":
			return j, fmt.Errorf("asks for %s, and the file does not say which share of a GPU that is", item)
		case "gres/gpu":
		default:
			continue
		}
		n, err := strictcsv.Int(value)
		if err != nil || n < 0 || n > mostGPUs {
			return j, fmt.Errorf("asks for %s; write a whole number of GPUs from 0 to %d", item, mostGPUs)
		}
		profile := migType.FindStringSubmatch(kind)
		switch {
		case kind == "":
			total = n
			continue
		case n == 0:
			continue
		case profile != nil:
			kinds = append(kinds, gpuKind{profile: profile[2], model: profile[1], count: n})
		default:
			kinds = append(kinds, gpuKind{model: kind, count: n})
		}
		typed += n
	}
	if total > typed {
		kinds = append(kinds, gpuKind{count: total - typed})
	}
	return kindJob(kinds)
}

// A gpuKind is a number of GPUs of a model, or of instances of a profile.
type gpuKind struct {
	// profile is "" for whole GPUs, and model is "" for GPUs of any model.
	profile, model string
	count          int
}

// kindJob returns a job with GPUs of one kind, or with instances of several profiles. It returns an error for other
// kinds.
func kindJob(kinds []gpuKind) (j Job, err error) {
	switch len(kinds) {
	case 0:
		return j, errNoGPU
	case 1:
		k := kinds[0]
		return Job{GPUs: k.count, Milli: WholeGPU, Profile: k.profile, Model: k.model}, nil
	}
	var profiles []string
	for _, k := range kinds {
		if k.profile == "" || k.count > task.MaxMembers {
			return j, fmt.Errorf("asks for %d kinds of GPUs or instances; a request is for one", len(kinds))
		}
		profiles = append(profiles, slices.Repeat([]string{k.profile}, k.count)...)
	}
	slices.Sort(profiles)
	return Job{GPUs: 1, Milli: WholeGPU, Profile: strings.Join(profiles, "+")}, nil
}
