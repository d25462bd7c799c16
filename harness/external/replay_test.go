package external

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "miglab/algorithms"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/store"
	"miglab/harness/task"
)

const recordedHello = `{"type":"hello","protocol":1,"name":"recorded","version":3}` + "\n"

// answersOfFAR returns the answers of FAR to the first instances of a dataset, a line each.
func answersOfFAR(t *testing.T, dataset string, n int) []string {
	t.Helper()
	gpu := mig.MustLookup("A100")
	var lines []string
	for i := range n {
		in, err := datasets.InstanceOf[task.Batches](datasets.MustParse(dataset), gpu, i)
		if err != nil {
			t.Fatal(err)
		}
		p := schedule.Problem{GPU: gpu, Tasks: in.Tasks}
		s, err := algo.MustParse("far").Schedule(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		line, err := Answer(p, s)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}

// answersFile returns the ID of the program that answers from a file with these lines. It skips the test where there is no
// Python and there need not be.
func answersFile(t *testing.T, lines ...string) (id, path string) {
	t.Helper()
	id = python(t, "")
	if id == "" {
		t.Skip("no python3")
	}
	path = filepath.Join(t.TempDir(), "agent.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	command, _, _ := strings.Cut(id, " ")
	return command + " -m miglab.replay " + path, path
}

func TestAnswersInAFileAreJudged(t *testing.T) {
	lines := answersOfFAR(t, "WIDETIMES?n=5", 3)
	longer := strings.Replace(lines[2], `"makespan_s":`, `"makespan_s":1`, 1)
	series := store.Series{Track: algo.TrackBatch, Dataset: "WIDETIMES?n=5", GPU: "A100", Algorithm: "far"}
	want := engine(t, series, 2, 1)
	series.Algorithm, _ = answersFile(t, recordedHello, longer, lines[1], lines[0])
	trial, err := run.Resolve(new(mig.Catalog), series)
	if err != nil {
		t.Fatal(err)
	}
	if s := trial.Series; s.Version != 3 || len(s.Weights) != 16 || s.Algorithm != series.Algorithm {
		t.Errorf("series %+v", s)
	}
	rows := engine(t, series, 4, 2)
	for i := range want {
		if rows[i].Kind != "" || fmt.Sprint(rows[i].Metrics) != fmt.Sprint(want[i].Metrics) {
			t.Errorf("instance %d: %v, want FAR's %v", i, rows[i], want[i])
		}
	}
	check(t, ending{run.KindInvalid, "makespan"}, rows[2].Kind, rows[2].Error)
	check(t, ending{run.KindInfeasible, "agent.jsonl has no answer to this instance; it answers 3 others"}, rows[3].Kind, rows[3].Error)
}

// A file of protocol 2 may have plans.
func TestPlansInAFile(t *testing.T) {
	p := a30(mig.Parallel)
	p.Start, p.Release = nil, nil
	line := fmt.Sprintf(`{"type":"plan","id":%d,"plan":[{"gpu":1,"size":4,"slice":0,"tasks":["a <b>","whole"]}]}`, newInstance(&p, 2).ID)
	id, _ := answersFile(t, strings.Replace(recordedHello, `"protocol":1`, `"protocol":2`, 1), line+"\n")
	a, err := algo.ParseFor(id, algo.TrackBatch)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Schedule(context.Background(), p)
	if err != nil || fmt.Sprintf("%.9g", s.Makespan()) != "9.13" || schedule.Check(p, s) != nil || s.Algorithm != a.ID {
		t.Errorf("%+v, %v", s, err)
	}
}

// A file that changes is another algorithm, as a program is. Arguments that are no regular files do not count.
func TestAChangedFileIsReadAgain(t *testing.T) {
	lines := answersOfFAR(t, "WIDETIMES?n=5", 2)
	id, path := answersFile(t, recordedHello, lines[0])
	before := algo.MustParse(id)
	if err := os.WriteFile(path, []byte(recordedHello+lines[0]+lines[1]), 0o644); err != nil {
		t.Fatal(err)
	}
	if after := algo.MustParse(id); after.Weights() == before.Weights() {
		t.Error("it has the same weights")
	}
	if _, err := algo.Parse("exec:cat " + os.DevNull); err != nil {
		t.Error(err)
	}
}

// TestMistakesInFilesOfAnswers: the error of the algorithm has the last line that the program says.
func TestMistakesInFilesOfAnswers(t *testing.T) {
	answer := answersOfFAR(t, "WIDETIMES?n=5", 1)[0]
	for want, lines := range map[string][]string{
		"not enough values to unpack": nil,
		"is no message":               {answer},
		"version 0 is not 1 or more":  {strings.Replace(recordedHello, "3", "0", 1)},
		"JSONDecodeError":             {recordedHello, answer[:100]},
		"KeyError: 'id'":              {recordedHello, `{"type":"schedule","schedule":{}}`},
	} {
		id, _ := answersFile(t, lines...)
		_, err := algo.ParseFor(id, algo.TrackBatch)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
