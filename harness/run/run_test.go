package run

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

func series(algorithm string) Series {
	track := algo.TrackBatch
	switch {
	case strings.HasPrefix(algorithm, "test-bound"):
		track = algo.TrackBound
	case strings.HasPrefix(algorithm, "test-stream"):
		track = algo.TrackStream
	}
	return Series{Track: track, Dataset: workload, GPU: "A100", Count: 1, Algorithm: algorithm}
}

func cellsOf(t testing.TB, s Series, n int) []Cell {
	t.Helper()
	cells, err := s.Cells(n)
	if err != nil {
		t.Fatal(err)
	}
	return cells
}

// everything is n instances of every well-behaved and misbehaving algorithm.
func everything(t testing.TB, n int) []Cell {
	var all []Cell
	for _, a := range []string{
		"test-fifo", "test-vandal", "test-panic", "test-invalid", "test-counter", "test-infeasible", "test-failing",
		"test-stream", "test-bound", "test-bound?of=nothing",
	} {
		all = append(all, cellsOf(t, series(a), n)...)
	}
	return all
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

// get is the row of a cell, which must have one.
func get(t testing.TB, r Results, c Cell) store.Row {
	t.Helper()
	row, ok, err := r.Get(c)
	if err != nil || !ok {
		t.Fatalf("%v has the row %v, %v, %v", c, row, ok, err)
	}
	return row
}

func mustRun(t testing.TB, e Engine, cells []Cell) Results {
	t.Helper()
	r, err := e.Run(context.Background(), cells)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSpans(t *testing.T) {
	fifo, stream := cellsOf(t, series("test-fifo"), 5), cellsOf(t, series("test-stream"), 2)
	cells := slices.Concat(fifo[1:4], stream, fifo[4:], fifo[:2], fifo[3:4])
	var got []Span
	var all []Cell
	for span := range Spans(cells) {
		got = append(got, span)
		for i := span.From; i < span.To; i++ {
			all = append(all, span.Cell(i))
		}
	}
	if !slices.Equal(all, cells) || len(got) != 5 {
		t.Errorf("the spans %v are of the cells %v, want %v", got, all, cells)
	}
	for range Spans(cells) {
		break
	}
}

func TestCanonical(t *testing.T) {
	got, err := Series{Track: algo.TrackBound, Dataset: "far/MIXSCALINGUNIFORM+WIDETIMES?n=6", GPU: "a100", Algorithm: "test-bound?of=longest"}.Canonical()
	if err != nil {
		t.Fatal(err)
	}
	want := series("test-bound")
	want.Content = got.Content
	if got != want || got.Content == "" {
		t.Errorf("got %+v, want %+v", got, want)
	}
	var unknown *nearest.UnknownError
	for _, bad := range []func(*Series){
		func(s *Series) { s.GPU = "A101" },
		func(s *Series) { s.Dataset = "far/NOSCALING+WIDETIMES" },
		func(s *Series) { s.Algorithm = "test-fifi" },
	} {
		s := series("test-fifo")
		bad(&s)
		if _, err := s.Canonical(); !errors.As(err, &unknown) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	s := series("test-fifo")
	s.Track = algo.TrackStream
	if _, err := s.Canonical(); !says(err, `"test-fifo" is of the batch track`) {
		t.Errorf("wrong track: %v", err)
	}
	s = series("test-fifo")
	s.Count = -1
	if _, err := s.Canonical(); err == nil {
		t.Error("accepted -1 GPUs")
	}
}

// says reports whether an error has the text.
func says(err error, text string) bool { return err != nil && strings.Contains(err.Error(), text) }

func TestResults(t *testing.T) {
	dir := t.TempDir()
	s := series("test-fifo")
	r := mustRun(t, Engine{Store: open(t, dir)}, cellsOf(t, s, 5))
	makespans, err := r.Values(s, 0, 5, track.MetricMakespan)
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
	row := get(t, r, cellsOf(t, s, 3)[2])
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
	times, err := r.Microseconds(s, 0, 5)
	if err != nil || len(times) != 5 {
		t.Errorf("timings %v, %v", times, err)
	}
	if _, err := r.Values(s, 0, 6, track.MetricMakespan); !says(err, "instance 5, ") || !says(err, "has no result") {
		t.Errorf("missing instance: %v", err)
	}
	if _, err := r.Values(s, 0, 5, track.MetricBound); !says(err, "instance 0, ") || !says(err, `has no metric "bound_s"`) {
		t.Errorf("missing metric: %v", err)
	}
}

func TestErrorRows(t *testing.T) {
	r := mustRun(t, Engine{Store: open(t, t.TempDir())}, everything(t, 2))
	for algorithm, want := range map[string]struct{ kind, text string }{
		"test-panic":            {KindPanic, "panic: 6 tasks"},
		"test-invalid":          {KindInvalid, "invalid schedule"},
		"test-counter":          {KindInvalid, "a counter has the name of the metric makespan_s"},
		"test-infeasible":       {KindInfeasible, "fits nothing"},
		"test-failing":          {KindFailed, "no luck"},
		"test-bound?of=nothing": {KindInvalid, "a bound of NaN s"},
	} {
		s := series(algorithm)
		row := get(t, r, cellsOf(t, s, 1)[0])
		if row.Kind != want.kind || !strings.Contains(row.Error, want.text) || row.Metrics != (store.Metrics{}) {
			t.Errorf("%s: %+v, want %+v", algorithm, row, want)
		}
		if _, err := r.Values(s, 0, 2, track.MetricMakespan); !says(err, ": "+want.kind+": ") || !says(err, want.text) {
			t.Errorf("%s: values gave %v", algorithm, err)
		}
	}
	if v, err := r.Values(series("test-stream"), 0, 2, "batches"); err != nil || !slices.Equal(v, []float64{1, 1}) {
		t.Errorf("batches of a stream: %v, %v", v, err)
	}
	if v, err := r.Values(series("test-bound"), 0, 2, track.MetricBound); err != nil || !(v[0] > 0) {
		t.Errorf("bounds: %v, %v", v, err)
	}
}

func TestAlgorithmsCannotChangeTheInput(t *testing.T) {
	dir := t.TempDir()
	cells := append(cellsOf(t, series("test-vandal"), 1), cellsOf(t, series("test-fifo"), 1)...)
	r := mustRun(t, Engine{Store: open(t, dir), Workers: 1}, cells)
	a, errA := r.Values(series("test-vandal"), 0, 1, track.MetricMakespan)
	b, errB := r.Values(series("test-fifo"), 0, 1, track.MetricMakespan)
	if errA != nil || errB != nil || a[0] != b[0] {
		t.Errorf("%v, %v and %v, %v", a, errA, b, errB)
	}
}

func TestSecondRunComputesNothing(t *testing.T) {
	dir := t.TempDir()
	cells := everything(t, 3)
	mustRun(t, Engine{Store: open(t, dir)}, slices.Concat(cells, cells)) // each listed twice
	if n := count(t, open(t, dir)); n != len(cells) {
		t.Fatalf("%d rows for %d cells", n, len(cells))
	}
	before := calls.Load()
	var progress [][2]int
	mustRun(t, Engine{Store: open(t, dir), Progress: func(done, total int) { progress = append(progress, [2]int{done, total}) }}, cells)
	if n := calls.Load() - before; n != 0 {
		t.Errorf("%d calls in the second run", n)
	}
	if want := [][2]int{{len(cells), len(cells)}}; !slices.Equal(progress, want) {
		t.Errorf("progress %v, want %v", progress, want)
	}
}

func TestProgress(t *testing.T) {
	dir := t.TempDir()
	cells := everything(t, 40)
	mustRun(t, Engine{Store: open(t, dir)}, cells[:10])
	last := -1
	mustRun(t, Engine{Store: open(t, dir), Workers: 4, Progress: func(done, total int) {
		if total != len(cells) || done < last || (last < 0 && done != 10) {
			t.Errorf("progress %d of %d after %d", done, total, last)
		}
		last = done
	}}, cells)
	if last != len(cells) {
		t.Errorf("ended at %d of %d", last, len(cells))
	}
}

func TestWorkersDoNotShow(t *testing.T) {
	one, eight := t.TempDir(), t.TempDir()
	cells := everything(t, 50)
	a := mustRun(t, Engine{Store: open(t, one), Workers: 1}, cells)
	b := mustRun(t, Engine{Store: open(t, eight), Workers: 8}, cells)
	if export(t, one) != export(t, eight) {
		t.Error("1 and 8 workers export different bytes")
	}
	for _, name := range []string{"test-fifo", "test-bound"} {
		metric := track.MetricMakespan
		if name == "test-bound" {
			metric = track.MetricBound
		}
		x, errA := a.Values(series(name), 0, 50, metric)
		y, errB := b.Values(series(name), 0, 50, metric)
		if errA != nil || errB != nil || !slices.Equal(x, y) {
			t.Errorf("%s: %v, %v and %v, %v", name, x, errA, y, errB)
		}
	}
}

func TestShards(t *testing.T) {
	whole, parts := t.TempDir(), t.TempDir()
	cells := everything(t, 30)
	mustRun(t, Engine{Store: open(t, whole)}, cells)
	// Both stores are open before either run begins, as with two processes.
	stores := []*store.DB{open(t, parts), open(t, parts)}
	for i, s := range stores {
		total := 0
		mustRun(t, Engine{Store: s, Shard: Shard{i, 2}, Progress: func(_, n int) { total = n }}, cells)
		if count(t, s) != total || total == 0 || total == len(cells) {
			t.Errorf("shard %d computed %d of %d cells", i, count(t, s), len(cells))
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

func TestTimeout(t *testing.T) {
	dir := t.TempDir()
	cells := append(cellsOf(t, series("test-endless"), 1), cellsOf(t, series("test-fifo"), 1)...)
	e := Engine{Store: open(t, dir), Timeout: 20 * time.Millisecond}
	r := mustRun(t, e, cells)
	if _, err := r.Values(series("test-endless"), 0, 1, track.MetricMakespan); !says(err, ": "+store.KindTimeout+": ") {
		t.Errorf("endless: %v", err)
	}
	if _, err := r.Values(series("test-fifo"), 0, 1, track.MetricMakespan); err != nil {
		t.Error(err)
	}
	before := calls.Load()
	mustRun(t, Engine{Store: open(t, dir), Timeout: 20 * time.Millisecond}, cells)
	if n := calls.Load() - before; n != 1 {
		t.Errorf("%d calls after a time-out, want 1", n)
	}
}

func TestCancel(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	cells := slices.Concat(cellsOf(t, series("test-fifo"), 1), cellsOf(t, series("test-slow"), 400), cellsOf(t, series("test-endless"), 1))
	e := Engine{Store: open(t, dir), Workers: 2, Progress: func(done, _ int) {
		if done > 0 {
			cancel()
		}
	}}
	r, err := e.Run(ctx, cells)
	if err != context.Canceled { //nolint:errorlint // the promise is ctx.Err() itself
		t.Errorf("run gave %v", err)
	}
	s := open(t, dir)
	if n := count(t, s); n == 0 || n >= len(cells) {
		t.Errorf("%d of %d cells kept", n, len(cells))
	}
	if _, ok, err := r.Get(cells[len(cells)-1]); ok || err != nil {
		t.Errorf("the cancelled cell has a row: %v, %v", ok, err)
	}
	// Resuming gives what an undisturbed run gives.
	undisturbed := t.TempDir()
	mustRun(t, Engine{Store: s}, cells[:401])
	mustRun(t, Engine{Store: open(t, undisturbed)}, cells[:401])
	if export(t, dir) != export(t, undisturbed) {
		t.Error("a resumed run exports other bytes")
	}
}

func TestForeignCells(t *testing.T) {
	e := Engine{Store: open(t, t.TempDir())}
	good := cellsOf(t, series("test-fifo"), 1)[0]
	for want, change := range map[string]func(*Cell){
		"cannot be computed; the algorithm is at version": func(c *Cell) { c.Version-- },
		"1 x a100": func(c *Cell) { c.GPU = "a100" },
		"0 x A100": func(c *Cell) { c.Count = 0 },
	} {
		c := good
		change(&c)
		if _, err := e.Run(context.Background(), []Cell{good, c}); !says(err, "cell "+c.String()) || !says(err, want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	c := good
	c.Instance = -1
	var index *datasets.IndexError
	if _, err := e.Run(context.Background(), []Cell{c}); !errors.As(err, &index) {
		t.Errorf("instance -1: %v", err)
	}
}

func TestTasksFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tasks.csv")
	tasks := func(seconds string) {
		if err := os.WriteFile(path, []byte("task,t1,t2,t3,t4,t7\na,9,8,7,6,"+seconds+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tasks("5")
	s := series("test-fifo")
	s.Dataset, s.Model = "profile:"+path, mig.Free
	st := open(t, t.TempDir())
	stale := cellsOf(t, s, 1)
	r := mustRun(t, Engine{Store: st}, stale)
	if v, err := r.Values(s, 0, 1, track.MetricMakespan); err != nil || v[0] != 5 {
		t.Errorf("makespan %v, %v", v, err)
	}
	tasks("4")
	if _, err := (&Engine{Store: st}).Run(context.Background(), stale); !says(err, "its tasks file has changed") {
		t.Errorf("cells of the old file: %v", err)
	}
	r = mustRun(t, Engine{Store: st}, cellsOf(t, s, 1))
	if v, err := r.Values(s, 0, 1, track.MetricMakespan); err != nil || v[0] != 4 {
		t.Errorf("makespan after the file changed: %v, %v", v, err)
	}
	var index *datasets.IndexError
	if _, err := s.Cells(2); !errors.As(err, &index) {
		t.Errorf("two instances of a file: %v", err)
	}
}

func TestSchedule(t *testing.T) {
	e := Engine{Store: open(t, t.TempDir())}
	ctx := context.Background()
	cell := cellsOf(t, series("test-fifo"), 3)[2]
	p, s, err := e.Schedule(ctx, cell)
	if err != nil {
		t.Fatal(err)
	}
	if v := schedule.Check(p, s); v != nil {
		t.Errorf("violations %v", v)
	}
	r := mustRun(t, e, []Cell{cell})
	row := get(t, r, cell)
	if m, _ := row.Metrics.Get(track.MetricMakespan); m != float64(s.Makespan()) {
		t.Errorf("makespan %v drawn and %v stored", s.Makespan(), m)
	}
	var invalid *schedule.InvalidError
	if _, _, err := e.Schedule(ctx, cellsOf(t, series("test-invalid"), 1)[0]); !errors.As(err, &invalid) {
		t.Errorf("invalid: %v", err)
	}
	if _, _, err := e.Schedule(ctx, cellsOf(t, series("test-panic"), 1)[0]); !says(err, "panic: 6 tasks") {
		t.Errorf("panic: %v", err)
	}
	if _, _, err := e.Schedule(ctx, cellsOf(t, series("test-bound"), 1)[0]); !says(err, "is of a track without schedules") {
		t.Errorf("bound: %v", err)
	}
}
