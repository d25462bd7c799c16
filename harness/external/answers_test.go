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

func answersFile(t *testing.T, lines ...string) (id string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
	return answersPrefix + path
}

func TestAnswersInAFileAreJudged(t *testing.T) {
	lines := answersOfFAR(t, "WIDETIMES?n=5", 3)
	longer := strings.Replace(lines[2], `"makespan_s":`, `"makespan_s":1`, 1)
	series := store.Series{Track: algo.TrackBatch, Dataset: "WIDETIMES?n=5", GPU: "A100", Algorithm: "far"}
	want := engine(t, series, 2, 1)
	series.Algorithm = answersFile(t, recordedHello, longer, lines[1], lines[0])
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
	check(t, ending{run.KindInfeasible, `^answers:.*agent.jsonl has no answer to this instance, \d+; it answers 3 others; evaluate the agent on all instances of the run$`}, rows[3].Kind, rows[3].Error)
}

// A file of protocol 2 may have plans.
func TestPlansInAFile(t *testing.T) {
	p := a30(mig.Parallel)
	p.Start, p.Release = nil, nil
	line := fmt.Sprintf(`{"type":"plan","id":%d,"plan":[{"gpu":1,"size":4,"slice":0,"tasks":["a <b>","whole"]}]}`, newInstance(&p, 2).ID)
	id := answersFile(t, strings.Replace(recordedHello, `"protocol":1`, `"protocol":2`, 1), line+"\n")
	a, err := algo.ParseFor(id, algo.TrackBatch)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Schedule(context.Background(), p)
	if err != nil || fmt.Sprintf("%.9g", s.Makespan()) != "9.13" || schedule.Check(p, s) != nil || s.Algorithm != a.ID {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestMistakesInFilesOfAnswers(t *testing.T) {
	answer := answersOfFAR(t, "WIDETIMES?n=5", 1)[0]
	for _, c := range []struct {
		lines []string
		want  string
	}{
		{nil, "agent.jsonl:1: the hello is missing"},
		{[]string{answer}, "agent.jsonl:1: "},
		{[]string{strings.Replace(recordedHello, "3", "0", 1)}, "agent.jsonl:1: version 0 is not 1 or more"},
		{[]string{recordedHello, answer, answer}, "agent.jsonl:3: there is an answer to instance"},
		{[]string{recordedHello, answer[:100]}, "agent.jsonl:2: "},
		{[]string{recordedHello, `{"type":"schedule","schedule":{}}`}, "agent.jsonl:2: id is missing"},
		{[]string{recordedHello, `{"type":"plan","id":1}`}, "agent.jsonl:2: type \"plan\" is neither schedule nor error"},
	} {
		_, err := algo.ParseFor(answersFile(t, c.lines...), algo.TrackBatch)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	for id, want := range map[string]string{
		"answers:":                          "names no file",
		"answers:nowhere.jsonl":             "nowhere.jsonl: no such file",
		answersFile(t, recordedHello) + "?": "",
	} {
		if _, err := algo.Parse(id); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", id, err)
		}
	}
	_, err := algo.ParseFor(answersFile(t, recordedHello), algo.TrackStream)
	if err == nil || !strings.Contains(err.Error(), "are not for the track stream") {
		t.Errorf("%v", err)
	}
}

// A file that changes is another algorithm, as a program is.
func TestAChangedFileIsReadAgain(t *testing.T) {
	lines := answersOfFAR(t, "WIDETIMES?n=5", 2)
	id := answersFile(t, recordedHello, lines[0])
	before := algo.MustParse(id)
	path := strings.TrimPrefix(id, answersPrefix)
	if err := os.WriteFile(path, []byte(recordedHello+lines[0]+lines[1]), 0o644); err != nil {
		t.Fatal(err)
	}
	if after := algo.MustParse(id); after.Weights() == before.Weights() {
		t.Error("it has the same weights")
	}
	if _, err := before.Spec.Open(before.Args, algo.TrackBatch); err == nil || !strings.Contains(err.Error(), "was changed while it was used") {
		t.Errorf("%v", err)
	}
}

func TestFilesOfAnswersAreReadWithinLimits(t *testing.T) {
	large := answersFile(t, recordedHello)
	if err := os.Truncate(strings.TrimPrefix(large, answersPrefix), maxAnswers+1); err != nil {
		t.Skip(err) // no files with holes
	}
	for id, want := range map[string]string{
		answersPrefix + os.DevNull:  "not a regular file",
		answersPrefix + t.TempDir(): "is a directory",
		large:                       "has 1073741825 bytes; at most 1024 MiB are read",
		"exec:cat " + os.DevNull:    "",

		answersFile(t, recordedHello, `{"type":"`, strings.Repeat("x", answerLongest), "\"}\n"): "agent.jsonl:2: the line has more than 16777216 bytes",
	} {
		a, err := algo.Parse(id)
		if err == nil && a.Spec.Open != nil && want != "" {
			_, err = algo.ParseFor(id, algo.TrackBatch)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
}
