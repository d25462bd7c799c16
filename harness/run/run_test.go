package run

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/schedule"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
)

const workload = "far/MIXEDSCALING+WIDETIMES?n=6"

func series(algorithm string) store.Series {
	track := algo.TrackBatch
	switch {
	case strings.HasPrefix(algorithm, "test-bound"):
		track = algo.TrackBound
	case strings.HasPrefix(algorithm, "test-stream"):
		track = algo.TrackStream
	}
	return store.Series{Track: track, Dataset: workload, GPU: "A100", Count: 1, Algorithm: algorithm}
}

// cellsOf is the first n cells of a series.
func cellsOf(t testing.TB, s store.Series, n int) Span {
	t.Helper()
	span, err := SpanOf(new(mig.Catalog), s, n)
	if err != nil {
		t.Fatal(err)
	}
	return span
}

// everything is n instances of every well-behaved and misbehaving algorithm.
func everything(t testing.TB, n int) (all []Span) {
	for _, a := range []string{
		"test-fifo", "test-vandal", "test-panic", "test-invalid", "test-counter", "test-infeasible", "test-failing",
		"test-stream", "test-bound", "test-bound?of=nothing",
	} {
		all = append(all, cellsOf(t, series(a), n))
	}
	return all
}

// settled is everything without the cells that each run computes again.
func settled(t testing.TB, n int) []Span {
	return slices.DeleteFunc(everything(t, n), func(s Span) bool { return s.Series.Algorithm == "test-panic" })
}

// size is how many cells spans have.
func size(all []Span) (n int) {
	for _, s := range all {
		n += s.To - s.From
	}
	return n
}

func open(t testing.TB, dir string) *store.DB {
	t.Helper()
	s, err := store.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func export(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	if err := open(t, dir).Export(&b, store.Filter{}, "csv", false, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// count is how many cells have a result.
func count(t testing.TB, s *store.DB) (n int) {
	t.Helper()
	all, err := s.Series(store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, series := range all {
		rows, err := s.Rows(series, 0, math.MaxInt)
		if err != nil {
			t.Fatal(err)
		}
		n += len(rows)
	}
	return n
}

// get is the row of an instance, which must have one.
func get(t testing.TB, db *store.DB, s Span, instance int) store.Row {
	t.Helper()
	rows, err := db.Rows(s.Series, instance, instance+1)
	if err != nil || len(rows) != 1 {
		t.Fatalf("instance %d of %v has the rows %v, %v", instance, s.Series, rows, err)
	}
	return rows[0]
}

func mustRun(t testing.TB, e Engine, spans ...Span) *store.DB {
	t.Helper()
	if err := e.Run(context.Background(), spans); err != nil {
		t.Fatal(err)
	}
	return e.Store
}

func TestResolve(t *testing.T) {
	got, err := Resolve(new(mig.Catalog), store.Series{Track: algo.TrackBound, Dataset: "far/MIXSCALINGUNIFORM+WIDETIMES?n=6", GPU: "a100", Algorithm: "test-bound?of=longest"})
	if err != nil {
		t.Fatal(err)
	}
	want := series("test-bound")
	want.Version, want.Model, want.Content = 1, "sequential", got.Series.Content
	if got.Series != want || want.Content == "" {
		t.Errorf("got %+v, want %+v", got.Series, want)
	}
	if again, err := Resolve(new(mig.Catalog), got.Series); err != nil || again.Series != got.Series {
		t.Errorf("a canonical series %+v is resolved as %+v, %v", got.Series, again, err)
	}
	var unknown *nearest.UnknownError
	for _, bad := range []func(*store.Series){
		func(s *store.Series) { s.GPU = "A101" },
		func(s *store.Series) { s.Dataset = "far/NOSCALING+WIDETIMES" },
		func(s *store.Series) { s.Algorithm = "test-fifi" },
		func(s *store.Series) { s.Model = "serial" },
		func(s *store.Series) { s.Track = "batches" },
	} {
		s := series("test-fifo")
		bad(&s)
		if _, err := Resolve(new(mig.Catalog), s); !errors.As(err, &unknown) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	s := series("test-fifo")
	s.Track = algo.TrackStream
	if _, err := Resolve(new(mig.Catalog), s); !says(err, `"test-fifo" is of the batch track`) {
		t.Errorf("wrong track: %v", err)
	}
	s = series("test-fifo")
	s.Count = -1
	if _, err := Resolve(new(mig.Catalog), s); err == nil {
		t.Error("accepted -1 GPUs")
	}
}

// What a trained algorithm has learned is part of its series: other weights have other results.
func TestSeriesKnowTheWeights(t *testing.T) {
	weights := "one"
	algo.Register(algo.Spec{
		Name: "test-trained", Version: 1,
		Weights: func(algo.Args) string { return weights },
		New: algo.NewBatch(func(algo.Args) (algo.Batch, error) {
			return batchFunc(func(_ context.Context, p algo.Problem) (schedule.Schedule, error) { return fifo(p), nil }), nil
		}),
	})
	before := cellsOf(t, series("test-trained"), 1).Series.Weights
	weights = "two"
	if after := cellsOf(t, series("test-trained"), 1).Series.Weights; before != "one" || after != "two" {
		t.Errorf("the series have the weights %q and %q", before, after)
	}
}

// says reports whether an error has the text.
func says(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func TestResults(t *testing.T) {
	s := cellsOf(t, series("test-fifo"), 5)
	db := mustRun(t, Engine{Store: open(t, t.TempDir())}, s)
	makespans, err := s.Values(db, track.MetricMakespan)
	if err != nil {
		t.Fatal(err)
	}
	gpu := mig.MustLookup("A100")
	for i, got := range makespans {
		in, err := datasets.InstanceOf[task.Batches](datasets.MustParse(workload), gpu, i)
		if err != nil {
			t.Fatal(err)
		}
		want := gpu.Profile(7).Create
		for j := range in.Tasks {
			want += in.Tasks[j].On(7)
		}
		if math.Abs(got-float64(want)) > 1e-9 {
			t.Errorf("instance %d: makespan %v, want %v", i, got, want)
		}
	}
	row := get(t, db, s, 2)
	var names []string
	for name := range row.Metrics.All() {
		names = append(names, name)
	}
	if want := []string{"first", "makespan_s", "reconfiguration_s", "reconfigurations", "tasks", "utilisation"}; !slices.Equal(names, want) {
		t.Errorf("metrics %v, want %v", names, want)
	}
	if n, _ := row.Metrics.Get("tasks"); n != 6 {
		t.Errorf("tasks = %v", n)
	}
	times, err := s.Microseconds(db)
	if err != nil || len(times) != 5 {
		t.Errorf("timings %v, %v", times, err)
	}
	part := Span{Trial: s.Trial, From: 1, To: 3}
	some, err := part.Values(db, track.MetricMakespan)
	if want := makespans[1:3]; err != nil || !slices.Equal(some, want) {
		t.Errorf("makespans of a part %v, %v; want %v", some, err, want)
	}
	if times, err := part.Microseconds(db); err != nil || len(times) != 2 {
		t.Errorf("timings of a part %v, %v", times, err)
	}
	if _, err := (Span{Trial: s.Trial, To: 6}).Values(db, track.MetricMakespan); !says(err, "instance 5, ") || !says(err, "has no result") {
		t.Errorf("missing instance: %v", err)
	}
	if _, err := s.Values(db, track.MetricBound); !says(err, "instance 0, ") || !says(err, `has no metric "bound_s"`) {
		t.Errorf("missing metric: %v", err)
	}
}

func TestErrorRows(t *testing.T) {
	db := mustRun(t, Engine{Store: open(t, t.TempDir())}, everything(t, 2)...)
	for algorithm, want := range map[string]struct{ kind, text string }{
		"test-panic":            {store.KindPanic, "panic: 6 tasks"},
		"test-invalid":          {KindInvalid, "invalid schedule"},
		"test-counter":          {KindInvalid, "a counter has the name of the metric makespan_s"},
		"test-infeasible":       {KindInfeasible, "fits nothing"},
		"test-failing":          {KindFailed, "no luck"},
		"test-bound?of=nothing": {KindInvalid, "a bound of NaN s"},
	} {
		s := cellsOf(t, series(algorithm), 2)
		row := get(t, db, s, 0)
		if row.Kind != want.kind || !strings.Contains(row.Error, want.text) || row.Metrics != (store.Metrics{}) {
			t.Errorf("%s: %+v, want %+v", algorithm, row, want)
		}
		if _, err := s.Values(db, track.MetricMakespan); !says(err, ": "+want.kind+": ") || !says(err, want.text) {
			t.Errorf("%s: values gave %v", algorithm, err)
		}
	}
	if v, err := cellsOf(t, series("test-stream"), 2).Values(db, "batches"); err != nil || !slices.Equal(v, []float64{1, 1}) {
		t.Errorf("batches of a stream: %v, %v", v, err)
	}
	if v, err := cellsOf(t, series("test-bound"), 2).Values(db, track.MetricBound); err != nil || !(v[0] > 0) {
		t.Errorf("bounds: %v, %v", v, err)
	}
}

func TestAlgorithmsCannotChangeTheInput(t *testing.T) {
	vandal, other := cellsOf(t, series("test-vandal"), 1), cellsOf(t, series("test-fifo"), 1)
	db := mustRun(t, Engine{Store: open(t, t.TempDir()), Workers: 1}, vandal, other)
	a, errA := vandal.Values(db, track.MetricMakespan)
	b, errB := other.Values(db, track.MetricMakespan)
	if errA != nil || errB != nil || a[0] != b[0] {
		t.Errorf("%v, %v and %v, %v", a, errA, b, errB)
	}
}

func TestSecondRunComputesNothing(t *testing.T) {
	dir := t.TempDir()
	cells := settled(t, 3)
	mustRun(t, Engine{Store: open(t, dir)}, slices.Concat(cells, cells)...) // each listed twice
	if n := count(t, open(t, dir)); n != size(cells) {
		t.Fatalf("%d rows for %d cells", n, size(cells))
	}
	before := calls.Load()
	var progress [][2]int
	mustRun(t, Engine{Store: open(t, dir), Progress: func(done, total int) { progress = append(progress, [2]int{done, total}) }}, slices.Concat(cells, cells)...)
	if n := calls.Load() - before; n != 0 {
		t.Errorf("%d calls in the second run", n)
	}
	if want := [][2]int{{size(cells), size(cells)}}; !slices.Equal(progress, want) {
		t.Errorf("progress %v, want %v", progress, want)
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	cells := everything(t, 40)
	mustRun(t, Engine{Store: open(t, dir)}, Span{Trial: cells[0].Trial, From: 30, To: 40})
	last := -1
	mustRun(t, Engine{Store: open(t, dir), Workers: 4, Progress: func(done, total int) {
		if total != size(cells) || done < last || (last < 0 && done != 10) {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
	}}, cells...)
	if last != size(cells) {
		t.Errorf("ended at %d of %d", last, size(cells))
	}
}

func TestWorkersDoNotShow(t *testing.T) {
	one, eight := t.TempDir(), t.TempDir()
	cells := everything(t, 50)
	mustRun(t, Engine{Store: open(t, one), Workers: 1}, cells...)
	mustRun(t, Engine{Store: open(t, eight), Workers: 8}, cells...)
	if export(t, one) != export(t, eight) {
		t.Error("1 and 8 workers export different bytes")
	}
}

func TestShards(t *testing.T) {
	whole, parts := t.TempDir(), t.TempDir()
	cells := everything(t, 30)
	mustRun(t, Engine{Store: open(t, whole)}, cells...)
	// Both stores are open before either run begins, as with two processes.
	stores := []*store.DB{open(t, parts), open(t, parts)}
	for i, s := range stores {
		total := 0
		mustRun(t, Engine{Store: s, Shard: Shard{i, 2}, Progress: func(_, n int) { total = n }}, cells...)
		if count(t, s) != total || total == 0 || total == size(cells) {
			t.Errorf("shard %d computed %d of %d cells", i, count(t, s), size(cells))
		}
		if count(t, s)%10 != 0 {
			t.Errorf("shard %d has %d cells: not all ten of each instance", i, count(t, s))
		}
	}
	if export(t, whole) != export(t, parts) {
		t.Error("two shards export other bytes than one run")
	}
}

func TestParseShard(t *testing.T) {
	if s, err := ParseShard("1/3"); err != nil || s != (Shard{1, 3}) {
		t.Errorf("%v, %v", s, err)
	}
	for _, bad := range []string{"", "1", "2/2", "-1/2", "0/0", "a/b", "1/2/3"} {
		if _, err := ParseShard(bad); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

// A cell that ran out of time is computed again.
func TestTimeout(t *testing.T) {
	late, finite := cellsOf(t, series("test-late"), 1), cellsOf(t, series("test-fifo"), 1)
	e := Engine{Store: open(t, t.TempDir())}
	mustRun(t, e, late, finite)
	if _, err := late.Values(e.Store, track.MetricMakespan); !says(err, ": "+store.KindTimeout+": ") {
		t.Errorf("late: %v", err)
	}
	if _, err := finite.Values(e.Store, track.MetricMakespan); err != nil {
		t.Error(err)
	}
	before := calls.Load()
	mustRun(t, e, late, finite)
	if n := calls.Load() - before; n != 1 {
		t.Errorf("%d calls after a time-out, want 1", n)
	}
}

// A cell that panicked is computed again, and the answer of the mended algorithm replaces it.
func TestPanicIsComputedAgain(t *testing.T) {
	cells := cellsOf(t, series("test-mended"), 2)
	e := Engine{Store: open(t, t.TempDir())}
	mustRun(t, e, cells)
	if row := get(t, e.Store, cells, 1); row.Kind != store.KindPanic || row.Error != "panic: not mended yet" {
		t.Errorf("before: %+v", row)
	}
	mended.Store(true)
	defer mended.Store(false)
	mustRun(t, e, cells)
	if values, err := cells.Values(e.Store, track.MetricMakespan); err != nil || len(values) != 2 {
		t.Errorf("after: %v, %v", values, err)
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cells := []Span{cellsOf(t, series("test-fifo"), 1), cellsOf(t, series("test-slow"), 400), cellsOf(t, series("test-endless"), 1)}
	e := Engine{Store: open(t, dir), Workers: 2, Progress: func(done, _ int) {
		if done > 0 {
			cancel()
		}
	}}
	if err := e.Run(ctx, cells); err != context.Canceled { //nolint:errorlint // the promise is ctx.Err() itself
		t.Errorf("run gave %v", err)
	}
	if n := count(t, open(t, dir)); n == 0 || n >= size(cells) {
		t.Errorf("%d of %d cells kept", n, size(cells))
	}
	if rows, err := e.Store.Rows(cells[2].Series, 0, 1); len(rows) > 0 || err != nil {
		t.Errorf("the cancelled cell has a row: %v, %v", rows, err)
	}
	// Resuming gives what an undisturbed run gives.
	undisturbed := t.TempDir()
	mustRun(t, Engine{Store: open(t, dir)}, cells[:2]...)
	mustRun(t, Engine{Store: open(t, undisturbed)}, cells[:2]...)
	if export(t, dir) != export(t, undisturbed) {
		t.Error("a resumed run exports other bytes")
	}
}

// Instances that a dataset does not have are an error, and so is a file that changes between the plan
// and the work.
func TestCellsThatCannotBeComputed(t *testing.T) {
	e := Engine{Store: open(t, t.TempDir())}
	var index *datasets.IndexError
	if err := e.Run(t.Context(), []Span{{Trial: cellsOf(t, series("test-fifo"), 1).Trial, From: -1}}); !errors.As(err, &index) {
		t.Errorf("instance -1: %v", err)
	}
	tasksPath, programsPath := filepath.Join(t.TempDir(), "tasks.csv"), filepath.Join(t.TempDir(), "programs.csv")
	write := func(seconds string) {
		for path, text := range map[string]string{
			tasksPath:    "task,t1,t2,t3,t4,t7\na,9,8,7,6," + seconds + "\n",
			programsPath: "name,class,solo_s,serial,compute,memory,parallelism\na,CI," + seconds + ",1,0,0,1\nb,US,3,1,0,0,1\n",
		} {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	tasks, programs := series("test-fifo"), corunSeries("test-corun-pairs")
	tasks.Dataset, tasks.Model = "profile:"+tasksPath, mig.Free.String()
	programs.Dataset = "corunfile:" + programsPath + "?kappa=0"
	for _, c := range []struct {
		series store.Series
		metric string
		want   [2]float64 // with 5 s, and with 4 s
	}{
		{tasks, track.MetricMakespan, [2]float64{5, 4}},
		{programs, track.MetricThroughput, [2]float64{8. / 5, 7. / 4}},
	} {
		write("5")
		first := cellsOf(t, c.series, 1)
		if v, err := first.Values(mustRun(t, e, first), c.metric); err != nil || math.Abs(v[0]-c.want[0]) > 1e-12 {
			t.Errorf("%v: %v, %v", c, v, err)
		}
		write("4")
		if err := (&Engine{Store: open(t, t.TempDir())}).Run(t.Context(), []Span{first}); !says(err, "changed while it was used") {
			t.Errorf("cells of the old file: %v", err)
		}
		second := cellsOf(t, c.series, 1)
		if v, err := second.Values(mustRun(t, e, second), c.metric); err != nil || math.Abs(v[0]-c.want[1]) > 1e-12 {
			t.Errorf("%v after the file changed: %v, %v", c, v, err)
		}
	}
	if _, err := SpanOf(new(mig.Catalog), tasks, 2); !errors.As(err, &index) {
		t.Errorf("two instances of a file: %v", err)
	}
}

func TestSchedule(t *testing.T) {
	s := cellsOf(t, series("test-fifo"), 3)
	p, answer, err := s.Schedule(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, answer); v != nil {
		t.Errorf("violations %v", v)
	}
	row := get(t, mustRun(t, Engine{Store: open(t, t.TempDir())}, s), s, 2)
	if m, _ := row.Metrics.Get(track.MetricMakespan); m != float64(answer.Makespan()) {
		t.Errorf("makespan %v drawn and %v stored", answer.Makespan(), m)
	}
	for algorithm, want := range map[string]string{
		"test-invalid": "invalid schedule", "test-panic": "panic: 6 tasks", "test-bound": "is of a track without schedules",
	} {
		if _, _, err := cellsOf(t, series(algorithm), 1).Schedule(t.Context(), 0); !says(err, want) {
			t.Errorf("%s: %v", algorithm, err)
		}
	}
}

// What planning allocates does not grow with the number of cells, and all are counted.
func TestPlansOfAnyNumberOfCellsTakeTheSameMemory(t *testing.T) {
	allocated := func(n int) uint64 {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		e := Engine{Store: open(t, t.TempDir()), Workers: 1}
		e.Progress = func(done, total int) {
			cancel()
			if done != 0 || total != n {
				t.Errorf("%d of %d cells, want %d", done, total, n)
			}
		}
		cells := []Span{cellsOf(t, series("test-fifo"), n)}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := e.Run(ctx, cells); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := allocated(pieceSize), allocated(100*pieceSize)
	if many > few+1<<20 {
		t.Errorf("%d bytes for %d cells, %d for %d", few, pieceSize, many, 100*pieceSize)
	}
}

// Two commands may know different models of one name: a dataset has another content on each.
func TestContentOnModelsOfOneName(t *testing.T) {
	contents := map[string]bool{}
	for _, create := range []mig.Seconds{1, 2} {
		a30 := mig.MustLookup("A30")
		g := &mig.GPU{Name: "Twin", CostSource: "a test", ComputeSlices: a30.ComputeSlices, MemorySlices: a30.MemorySlices}
		for _, p := range a30.Profiles {
			changed := *p
			changed.Create = create
			g.Profiles = append(g.Profiles, &changed)
		}
		if _, err := new(mig.Catalog).Add(g); err != nil {
			t.Fatal(err)
		}
		content, err := Content(track.Batch, "far/MIXSCALINGUNIFORM+WIDETIMES?n=6", g)
		if err != nil {
			t.Fatal(err)
		}
		contents[content] = true
	}
	if len(contents) != 2 {
		t.Errorf("%d contents, want 2", len(contents))
	}
}
