package track_test

import (
	"context"
	"fmt"
	"os"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
	"miglab/harness/track"
)

// realScheduler is a row of migbench.csv: what a scheduler of Kubernetes did on one published stream.
type realScheduler struct {
	Scheduler string `csv:"scheduler"`
	// Algorithm is ours with its rule; "" if there is none.
	Algorithm     string  `csv:"algorithm"`
	Wait          float64 `csv:"wait_mean_s"`
	WaitP95       float64 `csv:"wait_p95_s"`
	Makespan      float64 `csv:"makespan_s"`
	Used          float64 `csv:"slices_used"`
	Fragmentation float64 `csv:"fragmentation"`
	// Work is the sum over the requests of slices times seconds, over the slices of the cluster.
	Work   float64 `csv:"work_s"`
	Source string  `csv:"source"`
}

// Example_realSchedulers prints what the schedulers of Kubernetes did on the one stream that MIGBench published, and what
// our algorithms do: the means over streams that are drawn in the same way. The published stream asks for more work than
// the mean of these. A straight line through the drawn streams says what the wait would be at its work. Its end is that
// of one request for 2g, which comes after 3,848 s and takes 19,715 s. The last column is the work in
// seconds on all slices.
func Example_realSchedulers() {
	f, err := os.Open("../../datasets/traces/migbench.csv")
	check(err)
	defer f.Close()
	table, err := strictcsv.Read[realScheduler](f, f.Name(), "there are no schedulers", "algorithm")
	check(err)
	row := func(name string, wait, p95, makespan, used, fragmentation, work float64) {
		fmt.Printf("%-20s %6.0f %6.0f %6.0f %6.1f %6.1f %6.0f\n", name, wait, p95, makespan, 100*used, 100*fragmentation, work)
	}
	fmt.Printf("%-20s %6s %6s %6s %6s %6s %6s\n", "scheduler", "wait", "p95", "end", "used", "frag", "work")
	for _, r := range table.Rows {
		row(r.Scheduler, r.Wait, r.WaitP95, r.Makespan, r.Used, r.Fragmentation, r.Work)
		if r.Algorithm == "" {
			continue
		}
		of := drawnStreams(r.Algorithm, 200)
		work, wait := of["work_s"], of["wait_mean_s"]
		row("  "+r.Algorithm, average(wait), average(of["wait_p95_s"]), average(of["makespan_s"]), average(of["slices_used"]),
			average(of["fragmentation"]), average(work))
		predicted := average(wait) + covariance(work, wait)/covariance(work, work)*(r.Work-average(work))
		fmt.Printf("  at its work         %6.0f\n", predicted)
	}
	// Output:
	// scheduler              wait    p95    end   used   frag   work
	// HAMi 2.10.0            2945  12337  23847   91.5    4.4  17488
	//   hami-2.10            2323   8384  18333   95.3    3.2  14951
	//   at its work           2865
	// HAMi master 6c17a8f    2875  11987  23836   89.8    7.5  17488
	// NVIDIA DRA 0.5.0       2756  13220  23657   92.5    6.2  17488
	//   dra-first-fit        2321   8254  18212   95.5    3.4  14951
	//   at its work           2856
}

// drawnStreams returns the metrics of an algorithm on each of n streams of migbench, and their work.
func drawnStreams(algorithm string, n int) map[string][]float64 {
	out := map[string][]float64{}
	g := mig.MustLookup("H100")
	spec := datasets.MustParse("migbench?pernode=4&queue=retry")
	for i := range n {
		in, err := datasets.InstanceOf[task.Requests](spec, g, i)
		check(err)
		answer, err := track.Placement.Solve(context.Background(), algo.MustParse(algorithm),
			track.Problem{GPU: g, Count: in.GPUs, Payload: in})
		check(err)
		for _, m := range answer.Metrics {
			out[m.Name] = append(out[m.Name], m.Value)
		}
		work := 0.0
		for _, q := range in.Requests {
			work += float64(q.Lifespan) * in.Seconds() * float64(q.Profile.Size)
		}
		out["work_s"] = append(out["work_s"], work/float64(in.GPUs*int(g.ComputeSlices)))
	}
	return out
}

func average(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

func covariance(x, y []float64) float64 {
	meanX, meanY, sum := average(x), average(y), 0.0
	for i := range x {
		sum += (x[i] - meanX) * (y[i] - meanY)
	}
	return sum / float64(len(x))
}
