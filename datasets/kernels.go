package datasets

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// kernelSet is a dataset of measured kernels.
type kernelSet struct {
	name string
	// on holds the times, by model.
	on []measuredOn
	// ordered says whether the set has parameters.
	ordered     bool
	doc, source string
}

type measuredOn struct {
	gpu  string
	rows func() []measurement
}

func measuredTable(gpu, t string) measuredOn {
	return measuredOn{gpu, func() []measurement { return tables()[t] }}
}

var publishedKernels = []*kernelSet{
	{
		name: "rodinia", ordered: true, doc: "16 Rodinia kernels measured on A100, 16 on A30",
		source: publishedIn(rodiniaA100),
		on: []measuredOn{
			measuredTable("A100", rodiniaA100), measuredTable("A100-80GB", rodiniaA100),
			measuredTable("A30", rodiniaA30),
		},
	},
	{
		name: "a30-batch", doc: "8 of the 9 Rodinia kernels that FAR Table 3 runs on A30",
		source: publishedIn(a30Batch),
		on:     []measuredOn{measuredTable("A30", a30Batch)},
	},
	{
		name: "a100-batch", doc: "8 of the 9 Rodinia kernels that DRL Table 3 runs on A100, with the public times",
		source: publishedIn(rodiniaA100),
		on:     []measuredOn{{gpu: "A100", rows: a100Batch}},
	},
}

var (
	_ = registerAll(publishedKernels, (*kernelSet).family)
	_ = registerAll(hardwareSets(Hardware().Kernels), (*kernelSet).family)
)

// a100Batch returns the kernels of DRL Table 3 in its order, which has PathFinder twice. The times of that run are not
// public. The times here are FAR's, which lack Huffman.
func a100Batch() (out []measurement) {
	for _, name := range []string{
		"PathFinder#1", "LavaMD", "NW", "PathFinder#2", "LU", "HotSpot", "HeartWall", "Gaussian",
	} {
		kernel, _, _ := strings.Cut(name, "#")
		for _, m := range tables()[rodiniaA100] {
			if m.Kernel == kernel {
				m.Kernel = name
				out = append(out, m)
			}
		}
	}
	return out
}

func publishedIn(t string) string {
	all := readManifest().Files
	return all[slices.IndexFunc(all, func(f manifestFile) bool { return f.Table == t })].Source
}

const maxCopies = 1000

func (k *kernelSet) family() Family {
	f := Family{Tasks: true, Name: k.name, Doc: k.doc, Source: k.source, New: k.dataset}
	if k.ordered {
		kernel := spec.Names("kernel", "a kernel", "", k.kernels)
		f.Params = []spec.Param{
			choice("order", "order of the tasks", "paper", "shuffled"),
			seedParam("seed", "of the shuffled orders"),
			{Name: "last", Type: kernel, Doc: "a kernel that is moved to the end"},
			{Name: "only", Type: kernel, Doc: "the single kernel that there is"},
			whole("copies", 1, 1, maxCopies, "how often each kernel is there"),
		}
	}
	return f
}

// kernels returns the names of the kernels that were measured on every GPU.
func (k *kernelSet) kernels() []string {
	count := map[string]int{}
	var out []string
	for _, on := range k.on {
		for _, t := range batch(on.rows()) {
			count[t.Name]++
			if count[t.Name] == len(k.on) {
				out = append(out, t.Name)
			}
		}
	}
	return out
}

// measured is a set of kernels in some order. Instance i of a shuffled set is the i-th of an
// endless sequence of random permutations.
type measured struct {
	*kernelSet
	shuffled bool
	seed     uint64
	// last is the kernel that is moved to the end; "" leaves the order.
	last string
	// only is the only kernel of the dataset; "" keeps all.
	only string
	// copies is the number of copies of each kernel.
	copies int
}

func (k *kernelSet) dataset(_ string, a spec.Args) (Dataset, error) {
	if !k.ordered {
		return measured{kernelSet: k, copies: 1}, nil
	}
	m := measured{k, a["order"] == "shuffled", a.Uint("seed"), a["last"], a["only"], a.Int("copies")}
	switch {
	case !m.shuffled && m.seed != 1:
		return nil, refuse(a, "seed", "a seed only with order=shuffled")
	case m.last != "" && (m.only != "" || m.copies != 1):
		return nil, refuse(a, "last", "a last kernel only where each is there once")
	}
	return m, nil
}

func (m measured) Instances() int {
	if m.shuffled {
		return 0
	}
	return 1
}

func (m measured) Instance(g *mig.GPU, index int) (task.Payload, error) {
	i := slices.IndexFunc(m.on, func(on measuredOn) bool { return on.gpu == g.Board() })
	if i < 0 {
		models := nearest.Names(m.on, func(on measuredOn) string { return on.gpu })
		return nil, &UnmeasuredError{Dataset: m.name, GPU: g.Name, Measured: models}
	}
	b := m.tasks(m.on[i].rows())
	if m.shuffled {
		rng := rand.New(pcg("shuffled="+m.name, m.seed, g, index))
		rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	}
	if i := slices.IndexFunc(b, func(t task.Task) bool { return t.Name == m.last }); i >= 0 {
		last := b[i]
		b = append(slices.Delete(b, i, i+1), last)
	}
	return task.OneBatch(b), nil
}

func (m *measured) tasks(rows []measurement) task.Batch {
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
