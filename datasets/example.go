package datasets

import (
	"bytes"
	"embed"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

//go:embed examples
var exampleFiles embed.FS

// example is a batch made to show something, for one GPU model.
type example struct {
	name, gpu, file string
	summary, source string
}

// The FAR paper draws examples without giving their times. Its two were found by local
// search: batches on which one move, or one swap, of FAR's refinement gains most.
// The search came near, but not above, a gain of a half by a single move.
//
// The example of DRL Table 2 is also there with molding decided beforehand, so that any
// scheduler shows what that costs.
var examples = []example{
	{"far-move", "A100", "examples/far-move.csv", "4 tasks on which one move of the refinement gains about a half (as FAR Fig. 5)", "found by local search"},
	{"far-swap", "A30", "examples/far-swap.csv", "6 tasks on which one swap of the refinement gains about a third (as FAR Fig. 6)", "found by local search"},
	{"drl-table2", "A30", "examples/drl-table2.csv", "3 tasks that are best scheduled on 2 slices each", "DRL Table 2"},
	{"drl-table2-molded", "A30", "examples/drl-table2-molded.csv", "the same tasks, each on its most efficient size alone", "DRL Table 2 and 2.2"},
	{"drl-bound", "A100", "examples/drl-bound.csv", "a task that ends before l_bound as published", "ours, to DRL 5.2"},
}

// exampleNamed returns the example of a name.
func exampleNamed(name string) (example, bool) {
	i := slices.IndexFunc(examples, func(e example) bool { return e.name == name })
	if i < 0 {
		return example{}, false
	}
	return examples[i], true
}

func parseExample(e example, pairs []string) (Spec, error) {
	if len(pairs) > 0 {
		return nil, nearest.Unknown("parameter", pairs[0], nil)
	}
	return e, nil
}

func (e example) ID() string { return e.name }

func (e example) Instances() int { return 1 }

func (e example) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(e, index); err != nil {
		return nil, err
	}
	if g.Name != e.gpu {
		return nil, &UnmeasuredError{Dataset: e.name, GPU: g.Name, Measured: []string{e.gpu}}
	}
	raw, err := exampleFiles.ReadFile(e.file)
	if err != nil {
		return nil, err
	}
	b, err := task.ReadCSV(bytes.NewReader(raw), e.file, g)
	return task.OneBatch(b), err
}

func (e example) info() Info {
	return Info{Name: e.name, Summary: e.summary, Source: e.source}
}
