package datasets

import (
	"fmt"
	"strconv"
	"strings"

	"miglab/harness/mig"
)

// A CorunTime is how long a job took beside others that share the GPU under MPS
// (hierarchical paper III-B). There is a row for each job of each mix, and all times are
// medians over the runs of the mix.
type CorunTime struct {
	Provenance
	// Mix lists the jobs that started together as kernel:percent, separated by spaces;
	// a mix of one job is a kernel alone.
	Mix string `csv:"mix"`
	// Job is the position of the row's job in the mix, from 1.
	Job     int     `csv:"job"`
	Kernel  string  `csv:"kernel"`
	Percent float64 `csv:"percent"`
	Runs    int     `csv:"runs"`
	// Seconds is the job's time by its time source, Wall that of its process.
	Seconds mig.Seconds `csv:"seconds"`
	Wall    mig.Seconds `csv:"wall_seconds"`
	// Total is from the first start of the mix to its last end.
	Total mig.Seconds `csv:"total_seconds"`
	// Load is how the GPU was doing during the runs of the mix.
	Load
}

// CorunJob writes a job as a mix lists it: name:percent, for example lud:50.
func CorunJob(kernel string, percent float64) string {
	return kernel + ":" + strconv.FormatFloat(percent, 'g', -1, 64)
}

func checkCorun(_ *mig.GPU, rows []CorunTime) (int, error) {
	known := map[string]bool{}
	for i, r := range rows {
		jobs := strings.Fields(r.Mix)
		first := i + 1 - r.Job
		switch {
		case r.Source != SourceMPS:
			return i, fmt.Errorf("the source is %s; co-runs are of MPS on a whole GPU, %s", r.Source, SourceMPS)
		case !(r.Percent > 0 && r.Percent <= 100):
			return i, fmt.Errorf("%v percent is no share; it must be above 0 and at most 100", r.Percent)
		case r.Job < 1 || r.Job > len(jobs):
			return i, fmt.Errorf("job %d; the mix %q has jobs 1 to %d", r.Job, r.Mix, len(jobs))
		case jobs[r.Job-1] != CorunJob(r.Kernel, r.Percent):
			return i, fmt.Errorf("job %d is %s; in the mix %q it is %s", r.Job, CorunJob(r.Kernel, r.Percent), r.Mix,
				jobs[r.Job-1])
		case r.Job == 1 && known[r.Mix]:
			return i, fmt.Errorf("the mix %q is there twice", r.Mix)
		case first < 0 || rows[first].Mix != r.Mix || rows[first].Job != 1:
			return i, fmt.Errorf("job %d of the mix %q does not follow job %d", r.Job, r.Mix, r.Job-1)
		case r.Job < len(jobs) && (i+1 == len(rows) || rows[i+1].Mix != r.Mix || rows[i+1].Job != r.Job+1):
			return i, fmt.Errorf("job %d of the mix %q is not followed by job %d", r.Job, r.Mix, r.Job+1)
		case r.Runs < 1:
			return i, fmt.Errorf("%d runs; there must be at least 1", r.Runs)
		case !positive(r.Seconds, r.Wall, r.Total):
			return i, fmt.Errorf("%v s, wall %v s, total %v s; all must be positive and finite", r.Seconds, r.Wall, r.Total)
		case r.Runs != rows[first].Runs || r.Total != rows[first].Total:
			return i, fmt.Errorf("%d runs in %v s in total; job 1 of the mix has %d in %v s", r.Runs, r.Total, rows[first].Runs,
				rows[first].Total)
		case r.Wall > r.Total*(1+rounding):
			return i, fmt.Errorf("the process took %v s, the mix %v s in total; that is at least as long", r.Wall, r.Total)
		}
		if err := r.Load.check(); err != nil {
			return i, err
		}
		known[r.Mix] = true
	}
	for i, r := range rows {
		if alone := CorunJob(r.Kernel, 100); !known[alone] {
			return i, fmt.Errorf("%s has no row alone with the whole GPU, the mix %s", r.Kernel, alone)
		}
	}
	return 0, nil
}
