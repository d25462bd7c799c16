package datasets

import (
	"fmt"
	"math/rand/v2"

	"miglab/datasets/traces"
	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// openbLaw is the end of the families' Doc. The trace has one lifetime of each pod, on the share of a GPU that it asked
// for. How long it would take on other sizes is assumed: see alpha.
const openbLaw = "on s slices (m/s)^alpha times the lifetime, m being those of the pod's profile (an assumption);" +
	" instance i is day 118+i of the trace, without pods that need several GPUs"

// openbScaling is the same assumption for the notes of tables.
const openbScaling = "; on s slices instead of the m of its profile it is assumed to take (m/s)^alpha times as long"

var (
	alphaParam    = number("alpha", 1, 0, 4, "exponent of the durations; 0 means the same on all sizes")
	slackParam    = number("slack", 2, 0, 1000, "from arrival to deadline, as a multiple of the lifetime")
	arrivalsParam = choice("arrivals", "trace: a pod arrives when it was submitted, in seconds after the day's first; "+
		"none: all are there at time 0", "none", "trace")
)

var _ = Register(Family{
	Name: "openb/jobs", Assumes: openbAssumes + openbScaling,
	Doc:    "days of a production trace as jobs with deadlines, " + openbLaw,
	Source: "Alibaba cluster trace gpu-v2023; Weng et al., Beware of Fragmentation, USENIX ATC 2023",
	Params: append(append([]spec.Param{alphaParam, slackParam}, podParams...), fleetParams...),
	New: func(id string, a spec.Args) (Dataset, error) {
		law := traces.Law{Alpha: a.Float("alpha"), Slack: a.Float("slack")}
		return openbJobs{openbDays: openbDays{newOpenb(a), law}, fleet: newFleet(id, a)}, nil
	},
})

var _ = Register(Family{
	Name: "openb/stream", Assumes: openbAssumes + openbScaling,
	Doc:    "days of a production trace as batches of n pods in the order of their submission, " + openbLaw,
	Source: "Alibaba cluster trace gpu-v2023; Weng et al., Beware of Fragmentation, USENIX ATC 2023",
	Params: append([]spec.Param{
		whole("n", 14, 1, maxCount, "pods in a batch; the last one may be smaller"), alphaParam, arrivalsParam,
	}, podParams...),
	New: func(_ string, a spec.Args) (Dataset, error) {
		days := openbDays{newOpenb(a), traces.Law{Alpha: a.Float("alpha")}}
		return openbStream{openbDays: days, n: a.Int("n"), timed: a["arrivals"] == "trace"}, nil
	},
})

// openbDays has the days of the trace from firstDay to lastDay, one for each instance.
type openbDays struct {
	openb
	law traces.Law
}

func (openbDays) Instances() int { return lastDay - firstDay + 1 }

// pods returns a day's pods that need at most one GPU, scaled, by submission. Submissions count from the beginning of
// the day. A lifetime of 0 becomes 1 s.
func (s openbDays) pods(index int) []pod {
	var day []pod
	for _, p := range openbPods() {
		if p.GPUs == 1 && p.Submit/daySeconds == firstDay+index && (s.pending || p.Phase != pendingPhase) {
			p.Submit %= daySeconds
			p.Lifetime = max(p.Lifetime, 1)
			day = append(day, p)
		}
	}
	return scalePods(day, s.scale,
		rand.New(Hashed(fmt.Appendf(nil, "workload=openb/days\nseed=%d\nindex=%d", s.seed, index))))
}

// openbJobs are the pods of a day as jobs with deadlines for a fleet.
type openbJobs struct {
	openbDays
	fleet
}

func (s openbJobs) Instance(g *mig.GPU, index int) (task.Payload, error) {
	f, err := s.fleet.resolve(g)
	if err != nil {
		return nil, err
	}
	q := task.Queue{Fleet: f}
	for _, p := range s.pods(index) {
		q.Jobs = append(q.Jobs, s.law.Job(g, s.mapping, float64(p.Submit), float64(p.Lifetime), p.Milli))
	}
	return q, nil
}

// openbStream are the pods of a day as batches of tasks.
type openbStream struct {
	openbDays
	n     int  // the number of pods in a batch
	timed bool // lets the pods arrive when they were submitted, counted from the first one
}

func (s openbStream) regime() task.Regime {
	if s.timed {
		return task.Timed
	}
	return task.Whole
}

func (s openbStream) Instance(g *mig.GPU, index int) (task.Payload, error) {
	var out task.Batches
	pods := s.pods(index)
	for i, p := range pods {
		if i%s.n == 0 {
			out.Lengths = append(out.Lengths, 0)
		}
		out.Lengths[len(out.Lengths)-1]++
		measured := s.mapping.Profile(g, p.Milli).Size
		seconds := map[mig.Slices]mig.Seconds{}
		for _, size := range g.Sizes() {
			seconds[size] = mig.Seconds(s.law.Seconds(float64(p.Lifetime), measured, size))
		}
		out.Tasks = append(out.Tasks, task.New(fmt.Sprintf("pod-%04d", i+1), seconds))
		if s.timed {
			out.Arrivals = append(out.Arrivals, mig.Seconds(p.Submit-pods[0].Submit))
		}
	}
	return out, nil
}
