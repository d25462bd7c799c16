package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

// UnmeasuredError says that there are no times of a dataset for a GPU.
type UnmeasuredError struct {
	// Dataset is its name.
	Dataset string
	GPU     string
	// Measured lists the models that there are times for.
	Measured []string
}

func (e *UnmeasuredError) Error() string {
	return fmt.Sprintf("dataset %q has no times for %s; it was measured on %s", e.Dataset, e.GPU, strings.Join(e.Measured, ", "))
}

// kernelSet is a dataset of measured kernels.
type kernelSet struct {
	name string
	// on holds the times, by model.
	on []measuredOn
	// ordered says whether the parameters order, seed, last, only and copies may be given.
	ordered         bool
	summary, source string
}

type measuredOn struct {
	gpu  string
	rows []Measurement
}

// orders says which parameters an ordered set has.
const orders = "order (paper|shuffled), seed (1), last (a kernel), only (a kernel), copies (1)"

// kernelSets returns the published sets and those of [Hardware].
var kernelSets = sync.OnceValue(func() []*kernelSet {
	t := tables()
	published := []*kernelSet{
		{
			name: "rodinia", on: []measuredOn{{"A100", t[RodiniaA100]}, {"A100-80GB", t[RodiniaA100]}, {"A30", t[RodiniaA30]}}, ordered: true,
			summary: "16 Rodinia kernels measured on A100, 16 on A30; " + orders, source: publishedIn(RodiniaA100),
		},
		{
			name: "a30-batch", on: []measuredOn{{"A30", t[A30Batch]}},
			summary: "8 of the 9 Rodinia kernels that FAR Table 3 runs on A30", source: publishedIn(A30Batch),
		},
	}
	return append(published, hardwareSets(Hardware().Kernels)...)
})

// publishedIn returns where a table was published.
func publishedIn(t Table) string {
	all := readManifest().Files
	return all[slices.IndexFunc(all, func(f manifestFile) bool { return f.Table == t })].Source
}

// kernelsNamed returns the set of a name, or nil.
func kernelsNamed(name string) *kernelSet {
	for _, k := range kernelSets() {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (k *kernelSet) info() Info { return Info{Name: k.name, Summary: k.summary, Source: k.source} }

// measured is a set of kernels in some order. Instance i of a shuffled one is the
// i-th of an endless sequence of random permutations.
type measured struct {
	*kernelSet
	shuffled bool
	seed     uint64
	// last is the kernel that is moved to the end; empty for none.
	last string
	// only is the single kernel that there is; empty for all.
	only string
	// copies is how often each kernel is there.
	copies int
}

func parseMeasured(k *kernelSet, pairs []string) (Spec, error) {
	m := measured{kernelSet: k, seed: 1, copies: 1}
	var known []parameter
	if k.ordered {
		known = []parameter{
			{"order", m.setOrder}, seed(&m.seed), {"last", m.kernel(&m.last)}, {"only", m.kernel(&m.only)}, count("copies", &m.copies, 1, maxCopies),
		}
	}
	if err := setParameters(pairs, known); err != nil {
		return nil, err
	}
	switch {
	case !m.shuffled && m.seed != 1:
		return nil, &ParameterError{"seed", strconv.FormatUint(m.seed, 10), "a seed only with order=shuffled"}
	case m.last != "" && (m.only != "" || m.copies != 1):
		return nil, &ParameterError{"last", m.last, "a last kernel only where each is there once"}
	}
	return m, nil
}

// maxCopies bounds the parameter copies.
const maxCopies = 1000

func (m *measured) setOrder(order string) error {
	switch order {
	case "paper":
		m.shuffled = false
	case "shuffled":
		m.shuffled = true
	default:
		return nearest.Unknown("order", order, []string{"paper", "shuffled"})
	}
	return nil
}

// kernel sets a parameter to the name of a kernel that every table of the set has.
func (m *measured) kernel(to *string) func(string) error {
	return func(kernel string) error {
		var names []string
		for _, t := range batch(m.on[0].rows) {
			names = append(names, t.Name)
		}
		for _, on := range m.on {
			b := batch(on.rows)
			if !slices.ContainsFunc(b, func(t task.Task) bool { return t.Name == kernel }) {
				return nearest.Unknown("kernel", kernel, names)
			}
		}
		*to = kernel
		return nil
	}
}

func (m measured) ID() string {
	var p []string
	if m.copies != 1 {
		p = append(p, "copies="+strconv.Itoa(m.copies))
	}
	if m.only != "" {
		p = append(p, "only="+m.only)
	}
	if m.last != "" {
		p = append(p, "last="+m.last)
	}
	if m.shuffled {
		p = append(p, "order=shuffled")
	}
	if m.seed != 1 {
		p = append(p, "seed="+strconv.FormatUint(m.seed, 10))
	}
	return canonical(m.name, p)
}

func (m measured) Instances() int {
	if m.shuffled {
		return 0
	}
	return 1
}

func (m measured) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(m, index); err != nil {
		return nil, err
	}
	var models []string
	for _, on := range m.on {
		if on.gpu == g.Name {
			b := m.kernels(on.rows)
			if m.shuffled {
				rng := rand.New(pcg([]byte("shuffled="+m.name), m.seed, g, index))
				rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
			}
			if i := slices.IndexFunc(b, func(t task.Task) bool { return t.Name == m.last }); i >= 0 {
				last := b[i]
				b = append(slices.Delete(b, i, i+1), last)
			}
			return task.OneBatch(b), nil
		}
		models = append(models, on.gpu)
	}
	return nil, &UnmeasuredError{Dataset: m.name, GPU: g.Name, Measured: models}
}

// kernels returns the tasks in the order of the table.
func (m *measured) kernels(rows []Measurement) task.Batch {
	b := batch(rows)
	if m.only != "" {
		b = slices.DeleteFunc(b, func(t task.Task) bool { return t.Name != m.only })
	}
	if m.copies == 1 {
		return b
	}
	var out task.Batch
	for i := range m.copies {
		for _, k := range b {
			k.Name = fmt.Sprintf("%s-%0*d", k.Name, len(strconv.Itoa(m.copies)), i+1)
			out = append(out, k)
		}
	}
	return out
}
