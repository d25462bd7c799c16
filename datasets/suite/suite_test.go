package suite

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// TestArchive verifies all that is known about all instances.
func TestArchive(t *testing.T) {
	db, err := run.Open(t.TempDir(), new(mig.Catalog))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if err := Frozen().Check(t.Context(), &run.Engine{Store: db}); err != nil {
		t.Error(err)
	}
}

// TestClasses: the suite has what README.md promises.
func TestClasses(t *testing.T) {
	a := Frozen()
	count, tracks, gpus, tasks := map[string]int{}, map[string]bool{}, map[int]bool{}, map[int]bool{}
	for i := range a.Instances {
		in := &a.Instances[i]
		count[in.Class]++
		tracks[in.Track] = true
		if in.Track == algo.TrackBatch {
			gpus[in.GPUs] = true
			p, err := in.Problem()
			if err != nil {
				t.Fatal(err)
			}
			tasks[len(p.Tasks)] = true
		}
	}
	for _, class := range Classes {
		if n := count[class]; n < 40 || n > 60 {
			t.Errorf("%d instances are %s, want 40 to 60", n, class)
		}
	}
	if len(a.Instances) < 200 || len(tracks) != 5 {
		t.Errorf("%d instances of %v, want 200 of five tracks", len(a.Instances), slices.Collect(maps.Keys(tracks)))
	}
	for _, n := range []int{14, 30, 100} {
		if !tasks[n] {
			t.Errorf("no batch has %d tasks", n)
		}
	}
	for _, n := range []int{1, 4, 8} {
		if !gpus[n] {
			t.Errorf("no batch is for %d GPUs", n)
		}
	}
}

// TestNeverChanges: the instances of a suite are what they were when it was published.
func TestNeverChanges(t *testing.T) {
	const published = "477beb128c549bf9aa0747e3d8c9c3d13ba2da82304650838c3b9abc93c5e448"
	var all strings.Builder
	for _, in := range Frozen().Instances {
		all.WriteString(in.ID + " " + in.Hash + "\n")
	}
	if got := hexHash([]byte(all.String())); got != published {
		t.Errorf("all hashes together have the SHA-256 %s, not %s", got, published)
	}
}

// TestLabels computes again what the classes of closed instances are about, of each fifth unless tests are deep.
func TestLabels(t *testing.T) {
	db, err := run.Open(t.TempDir(), new(mig.Catalog))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	a := Frozen()
	solvers, err := readRows[solver](a.files, "solvers.csv")
	if err != nil {
		t.Fatal(err)
	}
	var cells []run.Span
	step := deep.N(5, 1)
	each := func(do func(in *Instance, best *Best, s solver)) {
		for i := 0; i < len(a.Instances); i += step {
			for _, s := range solvers {
				in := &a.Instances[i]
				decides := s.Simple || in.Class != Easy // which the simple solver shows alone
				if decides && in.Class != Open && in.Track == s.Track {
					do(in, &a.Best[i], s)
				}
			}
		}
	}
	each(func(in *Instance, _ *Best, s solver) {
		cell, err := in.Cell(s.Algorithm)
		if err != nil {
			t.Fatal(err)
		}
		cells = append(cells, cell)
	})
	if err := (&run.Engine{Store: db}).Run(t.Context(), cells); err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{}
	each(func(in *Instance, best *Best, s solver) {
		row, err := readRow(db, cells[0])
		if err != nil {
			t.Fatal(err)
		}
		cells = cells[1:]
		value, ok := row.Metrics.Get(in.Metric())
		switch {
		case !ok || in.Excess(value, best.Value) > 0:
		case s.Simple:
			labels[in.ID] = Easy
		case labels[in.ID] == "":
			labels[in.ID] = Medium
		}
	})
	for i := 0; i < len(a.Instances); i += step {
		in := &a.Instances[i]
		if want := cmp.Or(labels[in.ID], Hard); in.Class != Open && in.Class != want {
			t.Errorf("%s is %s; its solvers say %s", in.ID, in.Class, want)
		}
	}
}

// TestBestKnown: no algorithm of miglab has a better result on an open instance than the best known one. Batches are
// left out: a longer search than that of any algorithm has looked for their schedules.
func TestBestKnown(t *testing.T) {
	db, err := run.Open(t.TempDir(), new(mig.Catalog))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	a := Frozen()
	var cells []run.Span
	each := func(do func(in *Instance, best *Best, algorithm string)) {
		for i := range a.Instances {
			in := &a.Instances[i]
			if in.Class != Open || in.isBatch() {
				continue
			}
			for _, s := range algo.All(in.Track) {
				do(in, &a.Best[i], s.Name)
			}
		}
	}
	each(func(in *Instance, _ *Best, algorithm string) {
		cell, err := in.Cell(algorithm)
		if err != nil {
			t.Fatal(err)
		}
		cells = append(cells, cell)
	})
	if err := (&run.Engine{Store: db}).Run(t.Context(), cells); err != nil {
		t.Fatal(err)
	}
	each(func(in *Instance, best *Best, algorithm string) {
		row, err := readRow(db, cells[0])
		if err != nil {
			t.Fatal(err)
		}
		cells = cells[1:]
		if value, ok := row.Metrics.Get(in.Metric()); ok && in.Excess(value, best.Value) < 0 {
			t.Errorf("%s: %s has the result %v, the best known is %v", in.ID, algorithm, value, best.Value)
		}
	})
}

// damaged returns the archive with one file changed.
func damaged(t *testing.T, name string, change func(string) string) *Archive {
	t.Helper()
	files := fstest.MapFS{}
	all := os.DirFS(Version).(interface {
		ReadFile(name string) ([]byte, error)
	})
	for _, in := range append(Frozen().Instances, Instance{ID: ""}) {
		if text, err := all.ReadFile(certificateFile(in.ID)); err == nil {
			files[certificateFile(in.ID)] = &fstest.MapFile{Data: text}
		}
	}
	for _, table := range []string{"instances.csv", "best.csv"} {
		text, err := all.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		files[table] = &fstest.MapFile{Data: text}
	}
	before := string(files[name].Data)
	after := change(before)
	if after == before {
		t.Fatalf("%s was not changed", name)
	}
	files[name].Data = []byte(after)
	a, err := Read(files)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestVerifyFindsDamage changes a file of the archive, and the instance is no longer verified.
func TestVerifyFindsDamage(t *testing.T) {
	const id = "batch-001"
	in, best, err := Frozen().Find(id)
	if err != nil {
		t.Fatal(err)
	}
	other := Open
	if in.Class == Open {
		other = Easy
	}
	for _, c := range []struct{ file, from, to, want string }{
		{"instances.csv", in.Hash, strings.Repeat("0", 64), "SHA-256"},
		{"instances.csv", id + ",batch," + in.Class, id + ",batch," + other, "class"},
		{"best.csv", "," + best.Algorithm + ",", ",someone,", "best.csv has"},
		{certificateFile(id), `"lower_bound_s":`, `"lower_bound_s":1`, "bound"},
		{certificateFile(id), `"end_s":`, `"end_s":9`, "end"},
	} {
		a := damaged(t, c.file, func(text string) string { return strings.Replace(text, c.from, c.to, 1) })
		if err := a.Verify(id, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %q: error %v, want one with %q", c.file, c.to, err, c.want)
		}
	}
}

// TestAcceptanceIsVerified claims that fewer requests can be accepted than are.
func TestAcceptanceIsVerified(t *testing.T) {
	const id = "placement-001"
	a := damaged(t, certificateFile(id), func(text string) string {
		return strings.Replace(text, `"accepted_at_most":25`, `"accepted_at_most":24`, 1)
	})
	in, _, err := a.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.verifyBound(in, new(Best)); err == nil || !strings.Contains(err.Error(), "the instants prove 25 only") {
		t.Errorf("error %v", err)
	}
}

// TestFilesAreReadBack exports every instance. The tasks of a batch are then read from its CSV file alone, and the rows
// of the JSON file are the fields of the CSV file.
func TestFilesAreReadBack(t *testing.T) {
	a := Frozen()
	for i := range a.Instances {
		in := &a.Instances[i]
		text, contents, err := a.Files(in.ID)
		if err != nil {
			t.Fatal(err)
		}
		var f file
		if err := json.Unmarshal(text, &f); err != nil {
			t.Fatal(err)
		}
		rows := strings.Split(strings.TrimSpace(string(contents)), "\n")
		if len(f.Rows) != len(rows)-1 || strings.Join(f.Columns, ",") != rows[0] {
			t.Errorf("%s: %d rows below %q, in CSV %d below %q", in.ID, len(f.Rows), f.Columns, len(rows)-1, rows[0])
		}
		if in.Track != algo.TrackBatch {
			continue
		}
		tasks, err := task.ReadCSV(bytes.NewReader(contents), in.ID, mig.MustLookup(in.GPU))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := in.Problem(); err != nil || tasks.Hash() != p.Tasks.Hash() {
			t.Errorf("%s: the tasks read from the file are others; %v", in.ID, err)
		}
	}
}

// A made submission is a JSON object that tests change.
type made map[string]any

func (m made) schedule() made       { return made(m["schedule"].(map[string]any)) }
func (m made) list(of string) []any { return m[of].([]any) }

// placement returns an entry of the list of placements or reconfigurations.
func (m made) entry(of string, i int) made { return made(m.schedule().list(of)[i].(map[string]any)) }

// submissionOf hands the best known schedule of an instance in.
func submissionOf(t *testing.T, a *Archive, id string) made {
	t.Helper()
	in, _, err := a.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	p, err := in.Problem()
	if err != nil {
		t.Fatal(err)
	}
	known, err := a.Certificate(in, p)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := certificate.Encode(&text, p, known); err != nil {
		t.Fatal(err)
	}
	var proof made
	if err := json.Unmarshal(text.Bytes(), &proof); err != nil {
		t.Fatal(err)
	}
	return made{
		"suite": Version, "id": id, "sha256": in.Hash, "by": "Ada Lovelace", "date": "2026-01-31",
		"schedule": proof["schedule"], "witness": proof["witness"],
	}
}

// judge compares a submission with what an archive knows.
func judge(a *Archive, text []byte) (*Judgement, error) {
	s, err := ReadSubmission(text)
	if err != nil {
		return nil, err
	}
	return a.judge(s)
}

// submit hands a text in and adds it to a folder.
func submit(t *testing.T, dir string, text []byte) (*Judgement, error) {
	t.Helper()
	s, err := ReadSubmission(text)
	if err != nil {
		t.Fatal(err)
	}
	return s.Submit(t.Context(), dir)
}

func encodeCertificate(dir, id string, p schedule.Problem, c certificate.Certificate) error {
	var text bytes.Buffer
	if err := certificate.Encode(&text, p, c); err != nil {
		return err
	}
	return writeCertificate(dir, id, text.Bytes())
}

func textOf(t *testing.T, m made) []byte {
	t.Helper()
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// severalTasks is an instance with several tasks on one GPU, reconfigurations and a start that no profile allows.
func severalTasks(t *testing.T, a *Archive) string {
	t.Helper()
	for i := range a.Instances {
		if in := &a.Instances[i]; in.Dataset == "drl/WIDETIMES" && in.GPU == "A100" {
			return in.ID
		}
	}
	t.Fatal("the suite has no batch of WIDETIMES")
	return ""
}

// TestForgeriesAreRefused hands in more than twenty forgeries of more than ten kinds.
func TestForgeriesAreRefused(t *testing.T) {
	a := Frozen()
	id := severalTasks(t, a)
	other := a.Instances[0]
	if j, err := judge(a, textOf(t, submissionOf(t, a, id))); err != nil || j.Schedule != "equal" || j.Improved {
		t.Fatalf("the best known schedule itself: %+v, %v", j, err)
	}
	const places, operations = "placements", "reconfigurations"
	for _, c := range []struct {
		kind, want string
		forge      func(m made)
	}{
		{"wrong hash", "sha256", func(m made) { m["sha256"] = strings.Repeat("a", 64) }},
		{"wrong hash", "sha256", func(m made) { m["sha256"] = other.Hash }},
		{"wrong suite", "suite", func(m made) { m["suite"] = "2025.1" }},
		{"unknown instance", "unknown instance", func(m made) { m["id"] = "batch-999" }},
		{"other instance", "task", func(m made) { m["id"], m["sha256"] = other.ID, other.Hash }},
		{"nobody", "by", func(m made) { m["by"] = "" }},
		{"nobody", "algorithm", func(m made) { m.schedule()["algorithm"] = "" }},
		{"no day", "date", func(m made) { m["date"] = "yesterday" }},
		{"a day to come", "in the future; today is", func(m made) { m["date"] = "2126-01-31" }},
		{"task missing", "task", func(m made) { m.schedule()[places] = m.schedule().list(places)[1:] }},
		{"task twice", "task", func(m made) {
			m.schedule()[places] = append(m.schedule().list(places), m.schedule().list(places)[0])
		}},
		{"unknown task", "task", func(m made) { m.entry(places, 0)["task"] = "free lunch" }},
		{"too fast", "wrong duration", func(m made) { m.entry(places, 0)["end_s"] = m.entry(places, 0)["start_s"].(float64) + 0.001 }},
		{"before its instance", "no instance", func(m made) {
			p := m.entry(places, 0)
			p["end_s"] = p["end_s"].(float64) - p["start_s"].(float64)
			p["start_s"] = 0
		}},
		{"overlap", "tasks overlap", func(m made) {
			list := m.schedule().list(places)
			first, last := m.entry(places, 0), made(nil)
			for i := range list {
				if m.entry(places, i)["size"] == first["size"] {
					last = m.entry(places, i)
				}
			}
			took := last["end_s"].(float64) - last["start_s"].(float64)
			for _, name := range []string{"gpu", "slice", "start_s"} {
				last[name] = first[name]
			}
			last["end_s"] = first["start_s"].(float64) + took
		}},
		{"forbidden start", "cannot place size 1 at slice 7", func(m made) { m.entry(places, 0)["slice"] = 7 }},
		{"forbidden size", "no instances of size 5", func(m made) { m.entry(places, 0)["size"] = 5 }},
		{"GPU that is not there", "unknown GPU", func(m made) { m.entry(places, 0)["gpu"] = 1 }},
		{"reconfiguration missing", "is not there", func(m made) { m.schedule()[operations] = m.schedule().list(operations)[1:] }},
		{"reconfiguration missing", "is not there", func(m made) { m.schedule()[operations] = []any{} }},
		{"reconfiguration too fast", "wrong reconfiguration time", func(m made) {
			m.entry(operations, 0)["end_s"] = m.entry(operations, 0)["start_s"].(float64) + 0.001
		}},
		{"makespan too low", "makespan", func(m made) { m.schedule()["makespan_s"] = 1 }},
		{"negative time", "bad time", func(m made) { m.entry(places, 0)["start_s"] = -1 }},
		{"no number", "is not a number", func(m made) { m.entry(places, 0)["start_s"] = "NaN" }},
		{"other model", "wrong reconfiguration model", func(m made) { m.schedule()["reconfiguration"] = "free" }},
		{"other model", "the schedule is for A30", func(m made) { m.schedule()["gpu"] = "A30" }},
		{"unknown field", "bonus", func(m made) { m["bonus"] = 1 }},
		{"false bound", "area", func(m made) { m["witness"] = made{"kind": "area", "bound_s": 86.2} }},
		{"false bound", "trust me", func(m made) { m["witness"] = made{"kind": "trust me", "bound_s": 1} }},
		{"no instance", "missing: id;", func(m made) { delete(m, "id") }},
		{"a schedule alone", "missing: suite, id, sha256, by, date, schedule;", func(m made) { clear(m) }},
		{"no name", "missing: sha256, by;", func(m made) { delete(m, "by"); delete(m, "sha256") }},
	} {
		m := submissionOf(t, a, id)
		c.forge(m)
		j, err := judge(a, textOf(t, m))
		if err == nil {
			t.Errorf("%s was accepted: %+v", c.kind, j)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.kind, err, c.want)
		}
	}
	whole := string(textOf(t, submissionOf(t, a, id)))
	for _, c := range []struct{ kind, text, want string }{
		{"text after the end", whole + "{}", "after top-level value"},
		{"half a file", whole[:len(whole)/2], "unexpected end"},
		{"no object", "[]", "no JSON object"},
		{"empty", "", "no JSON object"},
		{"member twice", strings.Replace(whole, `"by":`, `"by":"x","by":`, 1), "twice"},
	} {
		if j, err := judge(a, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %+v, error %v, want one with %q", c.kind, j, err, c.want)
		}
	}
	for i := range a.Instances {
		if in := &a.Instances[i]; in.Track == algo.TrackPlacement {
			m := submissionOf(t, a, id)
			m["id"], m["sha256"] = in.ID, in.Hash
			if _, err := judge(a, textOf(t, m)); err == nil || !strings.Contains(err.Error(), "suite run") {
				t.Errorf("a file for the placement track: error %v", err)
			}
			return
		}
	}
}

// TestImprovement lets an archive forget the best known schedule of an instance, and hands it in.
func TestImprovement(t *testing.T) {
	a := Frozen()
	id := severalTasks(t, a)
	in, best, _ := a.Find(id)
	p, err := in.Problem()
	if err != nil {
		t.Fatal(err)
	}
	known, err := a.Certificate(in, p)
	if err != nil {
		t.Fatal(err)
	}
	far, err := algo.MustParse("far").Schedule(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(Version)); err != nil {
		t.Fatal(err)
	}
	if err := encodeCertificate(dir, id, p, certificate.New(far, known.Witness)); err != nil {
		t.Fatal(err)
	}
	worse := &Archive{Instances: slices.Clone(a.Instances), Best: slices.Clone(a.Best)}
	i := slices.IndexFunc(a.Best, func(b Best) bool { return b.ID == id })
	worse.Best[i].Value, worse.Best[i].Algorithm, worse.Instances[i].Class = float64(far.Makespan()), far.Algorithm, Open
	if err := worse.Write(dir); err != nil {
		t.Fatal(err)
	}
	if worse, err = Read(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := worse.Verify(id, nil); err != nil {
		t.Fatal(err)
	}
	j, err := judge(worse, textOf(t, submissionOf(t, a, id)))
	if err != nil || j.Schedule != "improved" || !j.Improved || j.Percent >= 0 {
		t.Fatalf("the better schedule: %+v, %v", j, err)
	}
	longer := textOf(t, submissionOf(t, worse, id))
	if _, err := submit(t, dir, textOf(t, submissionOf(t, a, id))); err != nil {
		t.Fatal(err)
	}
	better, err := Read(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	if err := better.Verify(id, nil); err != nil {
		t.Error(err)
	}
	if _, b, _ := better.Find(id); b.Value != best.Value || b.By != "Ada Lovelace" || b.Date != "2026-01-31" {
		t.Errorf("the archive then has %+v", b)
	}
	j, err = judge(a, longer)
	if err != nil || j.Schedule != "worse" || j.Improved {
		t.Errorf("the longer schedule, handed in: %s, %v, %v", j.Schedule, j.Percent, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "candidates.csv")); err != nil {
		t.Error(err)
	}
}

// weaken writes what an archive would have that knows something else about instances: best is changed, and the
// certificate says so. Nothing verifies it again.
func weaken(t *testing.T, dir string, know func(best *Best), ids ...string) {
	t.Helper()
	weak := Frozen()
	for _, id := range ids {
		in, best, err := weak.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		p, err := in.Problem()
		if err != nil {
			t.Fatal(err)
		}
		known, err := weak.Certificate(in, p)
		if err != nil {
			t.Fatal(err)
		}
		know(best)
		in.Class = Open
		area := certificate.Witness{Kind: certificate.Area, Bound: mig.Seconds(best.Bound)}
		if err := encodeCertificate(dir, id, p, certificate.New(known.Schedule, area)); err != nil {
			t.Fatal(err)
		}
	}
	if err := weak.Write(dir); err != nil {
		t.Fatal(err)
	}
}

// TestBetterBound lets an archive forget a bound, and hands it in with the same schedule. A second submission into the
// same folder keeps the first.
func TestBetterBound(t *testing.T) {
	a := Frozen()
	dir := filepath.Join(t.TempDir(), "mine")
	ids := []string{a.Instances[0].ID, severalTasks(t, a)}
	weaken(t, dir, func(best *Best) { best.Bound = 1 }, ids...)
	for _, id := range ids {
		j, err := submit(t, dir, textOf(t, submissionOf(t, a, id)))
		if err != nil || j.Schedule != "equal" || !j.Improved {
			t.Fatalf("%s: %+v, %v", id, j, err)
		}
	}
	weak, err := In(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		_, want, _ := a.Find(id)
		if _, b, _ := weak.Find(id); b.Bound != want.Bound || b.BoundBy != "Ada Lovelace" || b.By != want.By {
			t.Errorf("%s: the archive then has %+v, want the bound %v", id, b, want.Bound)
		}
		if err := weak.Verify(id, nil); err != nil {
			t.Error(err)
		}
	}
}

// TestFolderContradictsTheProgram: a folder cannot hide that its bound is above a schedule that the program knows, or
// that its schedule is below a bound that the program knows.
func TestFolderContradictsTheProgram(t *testing.T) {
	for _, c := range []struct {
		value, bound float64
		wrong        bool
	}{{1.3, 1.2, true}, {0.8, 0.7, true}, {1.3, 1, false}, {1, 0.7, false}} {
		a, dir := Frozen(), t.TempDir()
		b := &a.Best[slices.IndexFunc(a.Best, func(b Best) bool { return b.ID == "batch-003" })]
		b.Value, b.Bound = b.Value*c.value, b.Bound*c.bound
		if err := a.Write(dir); err != nil {
			t.Fatal(err)
		}
		if _, err := In(dir); (err != nil) != c.wrong || err != nil && !strings.Contains(err.Error(), "batch-003: best.csv in "+dir+" has the result") {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}

// TestContradictions: a bound above a valid schedule is refused wherever the two meet, and nothing is stored.
func TestContradictions(t *testing.T) {
	a := Frozen()
	id := severalTasks(t, a)
	for _, l := range []struct {
		name         string
		value, bound float64 // that the folder has, as multiples of the frozen bound
		want         string
	}{
		{"a bound above the best known schedule", 0.9, 0.5, `^its witness against the best known schedule, by .*: a lower bound of .* contradicts a valid schedule of `},
		{"a schedule below the best known bound", 9, 8, `^the best known bound, by .*, against its schedule: a lower bound of .* contradicts a valid schedule of `},
		{"a folder that contradicts itself", 8, 9, `^best\.csv: the result .* of batch-\d+ by .* is better than the bound .* by `},
	} {
		t.Run(l.name, func(t *testing.T) {
			dir := t.TempDir()
			weaken(t, dir, func(best *Best) { best.Value, best.Bound = l.value*best.Bound, l.bound*best.Bound }, id)
			before := filesOf(t, dir)
			text := textOf(t, submissionOf(t, a, id))
			if j, err := submit(t, dir, text); err == nil || !strings.Contains(err.Error(), "contradict each other") {
				t.Errorf("handed in: %+v, %v", j, err)
			}
			known, err := Read(overlay{os.DirFS(dir), embeddedFiles()}) // as if the program had no archive
			if err == nil {
				_, err = judge(known, text)
			}
			if err == nil || !regexp.MustCompile(l.want).MatchString(err.Error()) {
				t.Errorf("%v, want %s", err, l.want)
			}
			after := filesOf(t, dir)
			delete(after, ".lock")
			if !maps.Equal(before, after) {
				t.Error("the folder has changed")
			}
		})
	}
}

// filesOf returns the files below a folder by name.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			var text []byte
			text, err = os.ReadFile(filepath.Join(dir, name))
			out[name] = string(text)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestKilledWhileItWrites leaves the files of a folder as a kill does after each of the writes of a submission.
func TestKilledWhileItWrites(t *testing.T) {
	a := Frozen()
	id := severalTasks(t, a)
	one := t.TempDir()
	weaken(t, one, func(best *Best) { best.Bound = 1 }, id)
	before := filesOf(t, one)
	if _, err := submit(t, one, textOf(t, submissionOf(t, a, id))); err != nil {
		t.Fatal(err)
	}
	after := filesOf(t, one)
	_, best, _ := a.Find(id)
	in, _ := In(one)
	i, changed, _ := in.Find(id)
	if changed.Bound != best.Bound || i.Class == "" {
		t.Fatalf("%+v", changed)
	}
	begun, err := encode(change{Best: *changed, Class: i.Class, Certificate: json.RawMessage(after[certificateFile(id)])})
	if err != nil {
		t.Fatal(err)
	}
	order := []string{certificateFile(id), "instances.csv", "best.csv"}
	for n := range len(order) + 1 {
		dir := t.TempDir()
		files := maps.Clone(before)
		files[unfinished], files[".tmp-1"], files["best/.tmp-2"] = string(begun), "half a li", "{"
		for _, name := range order[:n] {
			files[name] = after[name]
		}
		for name, text := range files {
			path := filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		j, err := submit(t, dir, textOf(t, submissionOf(t, a, id)))
		if err != nil || j.Improved {
			t.Errorf("after %d files, handed in again: %+v, %v", n, j, err)
		}
		if !maps.Equal(filesOf(t, dir), after) {
			t.Errorf("after %d files the folder is not what it is without a kill", n)
		}
	}
}

// TestOpenInstances: README.md's table of open instances has their numbers and gaps.
func TestOpenInstances(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	table := string(readme)[strings.Index(string(readme), "## What is open"):]
	a := Frozen()
	for _, row := range []struct {
		name      string
		least     float64
		most      float64
		instances int
		in        func(*Instance) bool
	}{
		{"batch, one GPU, at most 16 tasks", 0.15, 0.16, 1, func(in *Instance) bool {
			return in.Track == "batch" && in.GPUs == 1 && !strings.Contains(in.Dataset, "0")
		}},
		{"batch, one GPU, 30 or 100 tasks", 0.04, 0.49, 11, func(in *Instance) bool {
			return in.Track == "batch" && in.GPUs == 1 && strings.Contains(in.Dataset, "0")
		}},
		{"batch, several GPUs", 0.01, 2.1, 10, func(in *Instance) bool { return in.Track == "batch" && in.GPUs > 1 }},
		{"stream, makespan", 0, 3.7, 6, func(in *Instance) bool {
			return in.Track == "stream" && in.Metric() == "makespan_s"
		}},
		{"stream, flow time", 0, 0, 2, func(in *Instance) bool {
			return in.Track == "stream" && in.Metric() != "makespan_s"
		}},
		{"dispatch", 0, 0, 6, func(in *Instance) bool { return in.Track == "dispatch" }},
		{"co-run", 0, 0, 4, func(in *Instance) bool { return in.Track == "corun" }},
		{"placement", 0.99, 123, 9, func(in *Instance) bool { return in.Track == "placement" }},
	} {
		if !strings.Contains(table, fmt.Sprintf("| %s | %d |", row.name, row.instances)) {
			t.Errorf("README.md has no row %q with %d instances", row.name, row.instances)
		}
		n := 0
		for i := range a.Instances {
			in, b := &a.Instances[i], &a.Best[i]
			if in.Class != Open || !row.in(in) {
				continue
			}
			n++
			if row.most == 0 {
				if b.Bound != 0 {
					t.Errorf("%s has the bound %v", in.ID, b.Bound)
				}
				continue
			}
			if gap := in.Excess(b.Value, b.Bound); b.Bound == 0 || gap < row.least || gap > row.most {
				t.Errorf("%s has a gap of %v %%, not %v to %v", in.ID, gap, row.least, row.most)
			}
		}
		if n != row.instances {
			t.Errorf("%s: %d open instances, not %d", row.name, n, row.instances)
		}
	}
}
