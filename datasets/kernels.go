package datasets

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
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
	// on holds the models that there are times for.
	on []measuredOn
	// shuffles says whether the parameters order and seed may be given.
	shuffles bool
	summary  string
}

type measuredOn struct {
	gpu   string
	table Table
}

var kernelSets = []*kernelSet{
	{
		name: "rodinia", on: []measuredOn{{"A100", RodiniaA100}, {"A100-80GB", RodiniaA100}, {"A30", RodiniaA30}}, shuffles: true,
		summary: "16 Rodinia kernels measured on A100, 16 on A30; order (paper|shuffled), seed (1)",
	},
	{
		name: "a30-batch", on: []measuredOn{{"A30", A30Batch}},
		summary: "8 of the 9 Rodinia kernels that FAR Table 3 runs on A30",
	},
}

// kernelsNamed returns the set of a name, or nil.
func kernelsNamed(name string) *kernelSet {
	for _, k := range kernelSets {
		if k.name == name {
			return k
		}
	}
	return nil
}

func (k *kernelSet) info() Info {
	out := Info{Name: k.name, Summary: k.summary}
	for _, f := range readManifest().Files {
		if f.Table == k.on[0].table {
			out.Source = f.Source
		}
	}
	return out
}

// measured is a set of kernels in some order. Instance i of a shuffled one is the
// i-th of an endless sequence of random permutations.
type measured struct {
	*kernelSet
	shuffled bool
	seed     uint64
}

func parseMeasured(k *kernelSet, pairs []string) (Spec, error) {
	m := measured{kernelSet: k, seed: 1}
	var known []parameter
	if k.shuffles {
		known = []parameter{{"order", m.setOrder}, seed(&m.seed)}
	}
	if err := setParameters(pairs, known); err != nil {
		return nil, err
	}
	if !m.shuffled && m.seed != 1 {
		return nil, &ParameterError{"seed", strconv.FormatUint(m.seed, 10), "a seed only with order=shuffled"}
	}
	return m, nil
}

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

func (m measured) ID() string {
	var p []string
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

func (m measured) Instance(g *mig.GPU, index int) (Instance, error) {
	if err := checkIndex(m, index); err != nil {
		return Instance{}, err
	}
	var models []string
	for _, on := range m.on {
		if on.gpu == g.Name {
			b := batch(tables()[on.table])
			if m.shuffled {
				rng := rand.New(pcg([]byte("shuffled="+m.name), m.seed, g, index))
				rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
			}
			return single(b), nil
		}
		models = append(models, on.gpu)
	}
	return Instance{}, &UnmeasuredError{Dataset: m.name, GPU: g.Name, Measured: models}
}
