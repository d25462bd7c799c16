package datasets

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
)

// An OverlapRate is the speed of a kernel's iterations while all kernels of its group iterate. A group is a list of
// jobs that share a GPU. Each job of each run of a group has a row.
type OverlapRate struct {
	Provenance
	UUID string `csv:"gpu_uuid"` // identifies the GPU or the instance on which the kernel reported to run
	// Group lists the jobs as [OverlapJob] writes them, separated by spaces. A group of one job is a kernel alone.
	Group  string `csv:"group"`
	Job    int    `csv:"job"` // the position of the row's job in the group, from 1
	Kernel string `csv:"kernel"`
	// SMs is the number of multiprocessors that the kernel could use, and Of is the GPU's number. They are equal for a
	// kernel without a limit.
	SMs int `csv:"sms"`
	Of  int `csv:"gpu_sms"`
	Run int `csv:"run"` // counts the runs of the group, from 1
	// Iterations is the number of measured iterations in Window seconds. Iteration is the time of one.
	Iterations int         `csv:"iterations"`
	Window     mig.Seconds `csv:"window_s"`
	Iteration  mig.Seconds `csv:"iteration_s"`
	Overlap    float64     `csv:"overlap"` // the share of the window in which all other jobs of the group ran too
	Load
}

// All stands for the number of multiprocessors of a job without a limit, as [OverlapJob] writes it.
const All = "all"

// OverlapJob returns a job as a group lists it: kernel:sms, for example gemm:64; gemm:all for sms = 0, a kernel without
// a limit.
func OverlapJob(kernel string, sms int) string {
	if sms == 0 {
		return kernel + ":" + All
	}
	return kernel + ":" + strconv.Itoa(sms)
}

// MinOverlap is the smallest accepted overlap of a row.
const MinOverlap = 0.9

// isJob reports whether a job of the group is the job of the row. The driver may round the number of multiprocessors
// that the group asks for.
func (r *OverlapRate) isJob(job string) bool {
	if job == OverlapJob(r.Kernel, 0) {
		return r.SMs == r.Of
	}
	asked, err := strconv.Atoi(job[strings.LastIndexByte(job, ':')+1:])
	return err == nil && job == OverlapJob(r.Kernel, asked) &&
		max(asked-r.SMs, r.SMs-asked) < partitionUnit
}

// partitionUnit is the largest unit in which drivers give multiprocessors to a kernel, on Hopper.
const partitionUnit = 8

// rateRounding is the relative distance that Iteration may have from Window over Iterations, since files round both.
const rateRounding = 1e-6

// checkOverlap returns the index of the first wrong row and an error that describes it.
func checkOverlap(_ *mig.GPU, rows []OverlapRate) (int, error) {
	if i, err := checkJobOrder(rows); err != nil {
		return i, err
	}
	for i, r := range rows {
		job := strings.Fields(r.Group)[r.Job-1]
		switch {
		case r.SMs < 1 || r.SMs > r.Of:
			return i, fmt.Errorf("%d of %d multiprocessors; the first must be from 1 to the second", r.SMs, r.Of)
		case !r.isJob(job):
			return i, fmt.Errorf("job %d is %s; in the group %q it is %s", r.Job,
				OverlapJob(r.Kernel, r.SMs), r.Group, job)
		case r.Run < 1:
			return i, fmt.Errorf("run %d; they count from 1", r.Run)
		case r.Iterations < 1 || !positive(r.Window, r.Iteration):
			return i, fmt.Errorf("%d iterations in %v s, of %v s each; all must be positive and finite",
				r.Iterations, r.Window, r.Iteration)
		case !(math.Abs(float64(r.Iteration)*float64(r.Iterations)/float64(r.Window)-1) <= rateRounding):
			return i, fmt.Errorf("an iteration takes %v s; %v s for %d make %v s", r.Iteration, r.Window, r.Iterations,
				float64(r.Window)/float64(r.Iterations))
		case !(r.Overlap >= MinOverlap && r.Overlap <= 1):
			return i, fmt.Errorf("the overlap is %v; it must be from %v to 1", r.Overlap, MinOverlap)
		}
	}
	return 0, nil
}

// checkJobOrder returns the index of the first row that is out of place, and an error with the reason. The jobs of a
// run of a group must follow one another, and each run must be listed once.
func checkJobOrder(rows []OverlapRate) (int, error) {
	seen := map[string]bool{}
	last, next := "", 1 // the group of the previous row, and the job that must follow
	for i, r := range rows {
		group, job := fmt.Sprintf("run %d of the group %q", r.Run, r.Group), r.Job
		jobs := len(strings.Fields(r.Group))
		switch {
		case next > 1 && (group != last || job != next):
			return i - 1, fmt.Errorf("job %d of %s is not followed by job %d", next-1, last, next)
		case job < 1 || job > jobs:
			return i, fmt.Errorf("job %d; %s has jobs 1 to %d", job, group, jobs)
		case job != next:
			return i, fmt.Errorf("job %d of %s does not follow job %d", job, group, job-1)
		case job == 1 && seen[group]:
			return i, fmt.Errorf("%s is there twice", group)
		}
		seen[group] = true
		last, next = group, job%jobs+1
	}
	if next > 1 {
		return len(rows) - 1, fmt.Errorf("job %d of %s is not followed by job %d", next-1, last, next)
	}
	return 0, nil
}

// Overlaps summarises the runs of each group: it returns a row for each job of each group, in the order of the groups'
// first runs. Iteration is the median over the runs, and Run is the number of runs. The other columns come from the
// first run.
func Overlaps(rows []OverlapRate) []OverlapRate {
	type key struct {
		group string
		job   int
	}
	times := map[key][]mig.Seconds{}
	var out []OverlapRate
	for _, r := range rows {
		k := key{r.Group, r.Job}
		if times[k] == nil {
			out = append(out, r)
		}
		times[k] = append(times[k], r.Iteration)
	}
	for i := range out {
		all := slices.Sorted(slices.Values(times[key{out[i].Group, out[i].Job}]))
		out[i].Run = len(all)
		out[i].Iteration = (all[(len(all)-1)/2] + all[len(all)/2]) / 2
	}
	return out
}
