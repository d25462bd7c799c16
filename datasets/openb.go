package datasets

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"miglab/datasets/traces"
	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// podParams are the parameters of all datasets made from the pods of openb.
var podParams = []spec.Param{
	choice("map", "what of the profile is at least the pod's share of a GPU", traces.MappingNames()...),
	choice("pending", "pods that the cluster never placed", "out", "in"),
	number("scale", 1, 0.01, 100,
		"pods for each pod of the trace; the second and later ones are submitted at a random instant of its day"),
	seedParam("seed", "of the random stream"),
}

// openbAssumes names the assumptions of every dataset made from openb.
const openbAssumes = "pods of a trace without MIG and without GPU memory: a pod is assumed to need the smallest " +
	"profile with its share of the compute slices (map=memory: of the memory slices)," +
	" to leave after its recorded lifetime wherever it is placed, and not to come if the trace's cluster never " +
	"placed it (pending=in: to come)"

var _ = Register(Family{
	Name: "openb", Assumes: openbAssumes + "; k GPUs are k whole ones or none",
	Doc: "pods of a production trace as requests: the smallest profile with the pod's share of compute or " +
		"memory slices (an assumption: the trace has no GPU memory), k GPUs as k whole ones or none; instance 0 is " +
		"the trace, others draw its days 118 to 149 with replacement",
	Source: "Alibaba cluster trace gpu-v2023; Weng et al., Beware of Fragmentation, USENIX ATC 2023",
	Params: append([]spec.Param{
		choice("pods", "all, or those that ask for a part of one GPU", "all", "shared"),
		whole("gpus", 64, 1, maxGPUs, "GPUs of the cluster"),
		whole("slot", 1, 1, daySeconds,
			"seconds of a slot; the trace has whole seconds, so that 1 rounds nothing, and more slots cost nothing"),
		queueParam, geometryParam,
	}, append(podParams[:len(podParams):len(podParams)], moveParams(openbDowntime)...)...),
	New: func(_ string, a spec.Args) (Dataset, error) {
		c, err := newCluster(a, openbDowntime)
		return openbRequests{openb: newOpenb(a), cluster: c, shared: a["pods"] == "shared", slot: a.Int("slot")}, err
	},
})

// daySeconds is the length of a day.
const daySeconds = 24 * 60 * 60

// Instances are drawn from these days of the trace, on which 94 % of the pods are submitted. The last one has only a
// third of a day, because the trace ends.
const firstDay, lastDay = 118, 149

// A pod is a row of traces/openb.csv; traces/README.md describes the columns.
type pod struct {
	Submit   int    `csv:"submit_s"`
	Lifetime int    `csv:"lifetime_s"`
	GPUs     int    `csv:"gpus"`
	Milli    int    `csv:"gpu_milli"`
	Phase    string `csv:"phase"`
}

// pendingPhase is the phase of pods that the cluster never placed.
const pendingPhase = "P"

// openbPods returns the pods of the trace by submission.
var openbPods = sync.OnceValue(func() []pod { return strictcsv.Embedded[pod](files, readManifest().Traces[0].Path) })

// openb draws pods from the trace.
type openb struct {
	mapping traces.Mapping
	pending bool    // keeps the pods that the cluster never placed
	scale   float64 // the mean number of pods for each pod of the trace
	seed    uint64
}

func newOpenb(a spec.Args) openb {
	return openb{
		mapping: traces.Mapping(a["map"]), pending: a["pending"] == "in", scale: a.Float("scale"), seed: a.Uint("seed"),
	}
}

func (openb) Instances() int { return 0 }

// pods returns the pods of an instance by submission. Instance 0 is the trace.
func (s openb) pods(index int) []pod {
	rng := rand.New(Hashed(fmt.Appendf(nil, "workload=openb\nseed=%d\nindex=%d", s.seed, index)))
	pods := openbPods()
	if index > 0 {
		pods = bootstrap(pods, rng)
	}
	pods = scalePods(pods, s.scale, rng)
	if !s.pending {
		pods = slices.DeleteFunc(pods, func(p pod) bool { return p.Phase == pendingPhase })
	}
	return pods
}

// bootstrap draws as many days as there are from firstDay to lastDay, with replacement, from these days. A pod that is
// alive when firstDay begins is submitted at time 0 with its remaining lifetime.
func bootstrap(pods []pod, rng *rand.Rand) []pod {
	var out []pod
	byDay := make([][]pod, lastDay+1)
	for _, p := range pods {
		const start = firstDay * daySeconds
		left := p.Submit + p.Lifetime - start
		if p.Submit < start && left > 0 {
			p.Submit, p.Lifetime = 0, left
			out = append(out, p)
		}
		d := p.Submit / daySeconds
		byDay[d] = append(byDay[d], p)
	}
	for d := range lastDay - firstDay + 1 {
		drawn := firstDay + rng.IntN(lastDay-firstDay+1)
		for _, p := range byDay[drawn] {
			p.Submit += (d - drawn) * daySeconds
			out = append(out, p)
		}
	}
	return out
}

// scalePods returns scale copies of each pod on average: the whole part of scale, and one more with the probability of
// the rest. The first copy keeps the pod's submission. The others are submitted at a random time of the same day, but
// copies of a pod that is submitted at time 0 stay there.
func scalePods(pods []pod, scale float64, rng *rand.Rand) []pod {
	out := make([]pod, 0, int(float64(len(pods))*scale)+1)
	for _, p := range pods {
		copies := int(scale)
		part := scale - math.Floor(scale)
		if part > 0 && rng.Float64() < part {
			copies++
		}
		stays := p.Submit == 0
		for n := range copies {
			if n > 0 && !stays {
				midnight := p.Submit / daySeconds * daySeconds
				p.Submit = midnight + rng.IntN(daySeconds)
			}
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(a, b pod) int { return cmp.Compare(a.Submit, b.Submit) })
	return out
}

// openbRequests holds the pods as a stream of requests to a cluster.
type openbRequests struct {
	openb
	cluster
	shared bool // leaves out pods that ask for whole GPUs
	slot   int  // the length of a slot in seconds
}

// openbDowntime is the default of the parameter downtime: half a minute if a slot is a second.
const openbDowntime = 30

func (s openbRequests) Instance(g *mig.GPU, index int) (task.Payload, error) {
	out := task.Requests{SlotSeconds: float64(s.slot)}
	for _, p := range s.pods(index) {
		partOfGPU := p.GPUs == 1 && p.Milli < traces.WholeGPU
		if s.shared && !partOfGPU {
			continue
		}
		out.Requests = append(out.Requests,
			s.mapping.Request(g, p.Submit/s.slot, (p.Lifetime+s.slot-1)/s.slot, p.GPUs, p.Milli))
	}
	err := s.apply(g, &out, 1)
	return out, err
}
