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

// A kernelSet is a family of datasets of measured kernels.
type kernelSet struct {
	name, doc, source string
	tables            []boardTable // a table of times for each GPU board on which the kernels were measured
	hasParams         bool         // the family has the parameters of [kernelBatches]; otherwise it is one batch
}

// A boardTable has the times of kernels on a GPU board.
type boardTable struct {
	board string
	rows  func() []measurement
}

// published returns the table of a name in manifest.json for a board.
func published(board, table string) boardTable {
	return boardTable{board, func() []measurement { return tables()[table] }}
}

var publishedKernels = []*kernelSet{
	{
		name: "rodinia", doc: "16 Rodinia kernels measured on A100, 16 on A30", source: sourceOf(rodiniaA100),
		tables: []boardTable{
			published("A100", rodiniaA100), published("A100-80GB", rodiniaA100), published("A30", rodiniaA30),
		},
		hasParams: true,
	},
	{
		name: "a30-batch", doc: "8 of the 9 Rodinia kernels that FAR Table 3 runs on A30", source: sourceOf(a30Batch),
		tables: []boardTable{published("A30", a30Batch)},
	},
	{
		name: "a100-batch", doc: "8 of the 9 Rodinia kernels that DRL Table 3 runs on A100, with the public times",
		source: sourceOf(rodiniaA100), tables: []boardTable{{"A100", a100Batch}},
	},
}

var _ = registerAll(publishedKernels, (*kernelSet).family)

// a100Batch returns the kernels of DRL Table 3 in the order of the table, which has PathFinder twice. The times of that
// run are not public. The times here are from FAR, which has none of Huffman.
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

// sourceOf returns the source of a table of manifest.json.
func sourceOf(table string) string {
	all := readManifest().Files
	return all[slices.IndexFunc(all, func(f manifestFile) bool { return f.Table == table })].Source
}

const maxCopies = 1000

func (k *kernelSet) family() Family {
	f := Family{Name: k.name, Doc: k.doc, Source: k.source, New: k.dataset}
	if k.hasParams {
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

// kernels returns the names of the kernels that were measured on every board.
func (k *kernelSet) kernels() []string {
	count := map[string]int{}
	var out []string
	for _, table := range k.tables {
		for _, t := range batch(table.rows()) {
			count[t.Name]++
			if count[t.Name] == len(k.tables) {
				out = append(out, t.Name)
			}
		}
	}
	return out
}

// kernelBatches has batches of all kernels of a set in some order. If shuffled is set, instance i is the i-th of an
// endless sequence of random permutations; otherwise the published order is the only instance.
type kernelBatches struct {
	*kernelSet
	shuffled bool
	seed     uint64
	last     string // the kernel that is moved to the end; "" leaves the order
	only     string // the only kernel of the dataset; "" keeps all
	copies   int    // the number of tasks of each kernel
}

func (k *kernelSet) dataset(_ string, a spec.Args) (Dataset, error) {
	if !k.hasParams {
		return kernelBatches{kernelSet: k, copies: 1}, nil
	}
	m := kernelBatches{
		kernelSet: k, shuffled: a["order"] == "shuffled", seed: a.Uint("seed"), last: a["last"], only: a["only"],
		copies: a.Int("copies"),
	}
	switch {
	case !m.shuffled && m.seed != 1:
		return nil, refuse(a, "seed", "a seed only with order=shuffled")
	case m.last != "" && (m.only != "" || m.copies != 1):
		return nil, refuse(a, "last", "a last kernel only where each is there once")
	}
	return m, nil
}

func (m kernelBatches) Instances() int {
	if m.shuffled {
		return 0
	}
	return 1
}

func (m kernelBatches) Instance(g *mig.GPU, index int) (task.Payload, error) {
	at := slices.IndexFunc(m.tables, func(t boardTable) bool { return t.board == g.Board() })
	if at < 0 {
		boards := nearest.Names(m.tables, func(t boardTable) string { return t.board })
		return nil, &UnmeasuredError{Dataset: m.name, GPU: g.Name, Measured: boards}
	}
	b := m.tasks(m.tables[at].rows())
	if m.shuffled {
		rng := rand.New(pcg("shuffled="+m.name, m.seed, g, index))
		rng.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
	}
	last := slices.IndexFunc(b, func(t task.Task) bool { return t.Name == m.last })
	if last >= 0 {
		t := b[last]
		b = append(slices.Delete(b, last, last+1), t)
	}
	return task.OneBatch(b), nil
}

// tasks returns the tasks of a table in the published order, or the copies of the batch one after the other.
func (m *kernelBatches) tasks(rows []measurement) task.Batch {
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
