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
	summary         string
}

// The papers draw examples without giving their times. These were found by local
// search: batches on which one move, or one swap, of FAR's refinement gains most.
// The search came near, but not above, a gain of a half by a single move.
var examples = []example{
	{"far-move", "A100", "examples/far-move.csv", "4 tasks on which one move of the refinement gains about a half (as FAR Fig. 5)"},
	{"far-swap", "A30", "examples/far-swap.csv", "6 tasks on which one swap of the refinement gains about a third (as FAR Fig. 6)"},
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

func (e example) Instance(g *mig.GPU, index int) (Instance, error) {
	if err := checkIndex(e, index); err != nil {
		return Instance{}, err
	}
	if g.Name != e.gpu {
		return Instance{}, &UnmeasuredError{Dataset: e.name, GPU: g.Name, Measured: []string{e.gpu}}
	}
	raw, err := exampleFiles.ReadFile(e.file)
	if err != nil {
		return Instance{}, err
	}
	b, err := task.ReadCSV(bytes.NewReader(raw), e.file, g)
	return single(b), err
}

func (e example) info() Info {
	return Info{Name: e.name, Summary: e.summary, Source: "found by local search"}
}
