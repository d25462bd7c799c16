package datasets

import (
	"bytes"
	"embed"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

//go:embed examples
var exampleFiles embed.FS

// An example is a batch in a file of examples/ that demonstrates an effect on one GPU board.
type example struct {
	name, board, doc, source string
}

// examples has two batches in place of examples that the FAR paper draws without their times. Local search found them:
// on these tasks one move, or one swap, of FAR's refinement gains most. A single move gains at most about a half.
//
// The tasks of DRL Table 2 are there twice: moldable, and with the sizes decided beforehand, so that any scheduler
// shows the cost of that decision.
var examples = []example{
	{"far-move", "A100", "4 tasks on which one move of the refinement gains about a half (as FAR Fig. 5)", localSearch},
	{"far-swap", "A30", "6 tasks on which one swap of the refinement gains about a third (as FAR Fig. 6)", localSearch},
	{"drl-table2", "A30", "3 tasks that are best scheduled on 2 slices each", "DRL Table 2"},
	{"drl-table2-molded", "A30", "the same tasks, each on its most efficient size alone", "DRL Table 2 and 2.2"},
	{"drl-bound", "A100", "a task that ends before l_bound as published", "ours, to DRL 5.2"},
}

const localSearch = "found by local search"

var _ = registerAll(examples, func(e example) Family {
	return Family{
		Name: e.name, Doc: e.doc, Source: e.source,
		New: func(string, spec.Args) (Dataset, error) { return e, nil },
	}
})

func (e example) Instances() int { return 1 }

func (e example) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	if g.Board() != e.board {
		return nil, &UnmeasuredError{Dataset: e.name, GPU: g.Name, Measured: []string{e.board}}
	}
	file := "examples/" + e.name + ".csv"
	b, err := task.ReadCSV(bytes.NewReader(spec.Must(exampleFiles.ReadFile(file))), file, g)
	return task.OneBatch(b), err
}
