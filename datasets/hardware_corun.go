package datasets

import (
	"fmt"
	"strconv"
	"strings"

	"miglab/harness/mig"
)

// A CorunTime is how long a job took beside others that share the GPU under MPS (hierarchical paper III-B). There is a
// row for each job of each mix, and all times are medians over the runs of the mix.
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
	if i, err := checkJobOrder(len(rows), func(i int) (string, int, int) {
		return fmt.Sprintf("the mix %q", rows[i].Mix), rows[i].Job, len(strings.Fields(rows[i].Mix))
	}); err != nil {
		return i, err
	}
	alone := map[string]bool{}
	for i, r := range rows {
		job, first := strings.Fields(r.Mix)[r.Job-1], rows[i+1-r.Job]
		switch {
		case !(r.Percent > 0 && r.Percent <= 100):
			return i, fmt.Errorf("%v percent is no share; it must be above 0 and at most 100", r.Percent)
		case job != CorunJob(r.Kernel, r.Percent):
			return i, fmt.Errorf("job %d is %s; in the mix %q it is %s", r.Job, CorunJob(r.Kernel, r.Percent),
				r.Mix, job)
		case r.Runs < 1:
			return i, fmt.Errorf("%d runs; there must be at least 1", r.Runs)
		case !positive(r.Seconds, r.Wall, r.Total):
			return i, fmt.Errorf("%v s, wall %v s, total %v s; all must be positive and finite", r.Seconds,
				r.Wall, r.Total)
		case r.Runs != first.Runs || r.Total != first.Total:
			return i, fmt.Errorf("%d runs in %v s in total; job 1 of the mix has %d in %v s", r.Runs, r.Total,
				first.Runs, first.Total)
		case r.Wall > r.Total*(1+rounding):
			return i, fmt.Errorf("the process took %v s, the mix %v s in total; that is at least as long",
				r.Wall, r.Total)
		}
		alone[r.Kernel] = alone[r.Kernel] || r.Mix == CorunJob(r.Kernel, 100)
	}
	for i, r := range rows {
		if !alone[r.Kernel] {
			return i, fmt.Errorf("%s has no row alone with the whole GPU, the mix %s", r.Kernel,
				CorunJob(r.Kernel, 100))
		}
	}
	return 0, nil
}
