//go:build unix

package external

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/run"
	"miglab/harness/schedule"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
	"miglab/reports/leaderboard"
)

// problem has n tasks that fit every size.
func problem(n int) schedule.Problem {
	p := schedule.Problem{GPU: mig.MustLookup("A100")}
	for i := range n {
		seconds := map[mig.Slices]mig.Seconds{}
		for _, size := range p.GPU.Sizes() {
			seconds[size] = mig.Seconds(10+i) / mig.Seconds(size)
		}
		p.Tasks = append(p.Tasks, task.New(fmt.Sprintf("task %d", i), seconds))
	}
	return p
}

// settle returns how a program's answer to a problem ends: nil, or an error of a kind.
func settle(t *testing.T, id string, p schedule.Problem) error {
	t.Helper()
	a, err := algo.ParseFor(id, algo.TrackBatch)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Schedule(t.Context(), p)
	if err == nil {
		_, err = schedule.Measure(p, s)
	}
	return err
}

func kindOf(err error) string {
	if failure, ok := errors.AsType[algo.Failure](err); ok {
		return failure.FailureKind()
	}
	if _, ok := errors.AsType[*schedule.InvalidError](err); ok {
		return run.KindInvalid
	}
	if err == nil {
		return ""
	}
	return fmt.Sprint(err)
}

// An ending is how an instance ends with a fault.
type ending struct{ kind, text string }

// faults are those of the programs of all tracks.
var faults = map[string]ending{
	"hangs":              {store.KindTimeout, `did not answer within [0-9.]+m?s \(\?timeout=\)$`},
	"hangs-with-half":    {store.KindTimeout, `did not answer within [0-9.]+m?s \(\?timeout=\); it wrote half a line: "{\\"type\\":\\"sch"$`},
	"crashes":            {KindCrashed, `ended \(exit status 3\) before it answered; standard error ends with\ndividing\nby zero$`},
	"is-killed":          {KindCrashed, `ended \(signal: killed\) before it answered$`},
	"says-garbage":       {KindProtocol, `no message: .*invalid character 'S' .*: "Segmentation fault\\n"$`},
	"says-nothing":       {KindProtocol, `writes a line that is no message`},
	"says-half":          {KindProtocol, `ended \(exit status 0\) before it answered; it wrote half a line: "{`},
	"says-much":          {KindProtocol, `writes a line of more than \d+ bytes \(64 KiB and 64 times the question, up to 16 MiB\): "xxx`},
	"says-wrong-id":      {KindProtocol, `id \d+ is not the \d+ that was asked$`},
	"says-more":          {KindProtocol, `writes more than an answer, beginning with "{`},
	"declines-twice":     {KindProtocol, `writes more than an answer, beginning with "{`},
	"says-nan":           {KindProtocol, `no message: .*invalid character 'N'`},
	"shouts":             {KindProtocol, `no message: unknown field "TYPE"; did you mean "type"\? \(known: .*\): `},
	"says-twice":         {KindProtocol, `no message: id: the field is there twice: `},
	"says-unknown":       {KindProtocol, `no message: unknown field "confidence" \(known: .*\): `},
	"closes-input":       {KindProtocol, `closed its standard input before it answered$`},
	"closes-output":      {KindProtocol, `closed its standard output before it answered$`},
	"reports-crash":      {KindCrashed, `reports a crash: "division by zero"; standard error ends with\nin line 7$`},
	"reports-long-crash": {KindCrashed, `reports a crash: "ä{900}ä*\.\.\. \(cut; 40\d\d\d bytes in all\); standard error ends with\nin line 7$`},
	"declines":           {run.KindInfeasible, `declines: "too many tasks"$`},
	"complains":          {run.KindInfeasible, `declines: "ä{900}ä*\.\.\. \(cut; 40\d\d\d bytes in all\)$`},
	"complains-much":     {KindProtocol, `writes a line of more than \d+ bytes`},
	"hangs-at-exit":      {"", ""},
	"ends-after-answer":  {"", ""},
	"says-more-later":    {"", ""},
	"chats":              {"", ""},
	"well":               {"", ""},
}

func TestFaultsOfSchedulers(t *testing.T) {
	for fault, want := range with(faults, map[string]ending{
		"says-1e999":   {run.KindInvalid, `placements\[0\].end_s: 1e999 is too large`},
		"lies":         {run.KindInvalid, `makespan_s: \S+ is not the end of the last task`},
		"invents-task": {run.KindInvalid, `unknown task "task 0\?"; did you mean "task 0"`},
		"overlaps":     {run.KindInvalid, `tasks overlap`},
		"forgets":      {run.KindInvalid, `missing task`},
		"adds-60000":   {KindProtocol, `writes a line of more than \d+ bytes`},
	}) {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			// Twice, since what happened before must not show.
			for range 2 {
				patiently(t, want, command(fault), func(id string) (kind, text string) {
					err := settle(t, id, problem(3))
					if err != nil {
						text = err.Error()
					}
					return kindOf(err), text
				})
			}
		})
	}
}

// with returns endings with some replaced or added.
func with(all, others map[string]ending) map[string]ending {
	all = maps.Clone(all)
	maps.Copy(all, others)
	return all
}

// patiently runs a program and checks how it ends. One that is to run out of time gets more and more
// of it, because on a slow machine it takes long to come to its fault.
func patiently(t *testing.T, want ending, id string, run func(id string) (kind, text string)) {
	t.Helper()
	if want.kind != store.KindTimeout {
		kind, text := run(id)
		check(t, want, kind, text)
		return
	}
	for timeout := 300 * time.Millisecond; ; timeout *= 4 {
		kind, text := run(fmt.Sprintf("%s&timeout=%v", id, timeout))
		if timeout > 10*time.Second || want.met(kind, text) {
			check(t, want, kind, text)
			return
		}
	}
}

func check(t *testing.T, want ending, kind, text string) {
	t.Helper()
	if !want.met(kind, text) {
		t.Errorf("kind %q, want %q: %s\nwant it to match %s; it has %d bytes, valid UTF-8: %v", kind, want.kind, text, want.text,
			len(text), utf8.ValidString(text))
	}
}

// met reports whether a program ended so, with an error that is short and valid UTF-8.
func (e ending) met(kind, text string) bool {
	return kind == e.kind && regexp.MustCompile(e.text).MatchString(text) && utf8.ValidString(text) &&
		len(text) <= maxText+tailBytes+200
}

// Neither side blocks when the question is larger than a pipe holds and the program writes
// much before it reads.
func TestFullPipesDoNotBlock(t *testing.T) {
	for _, fault := range []string{"well", "chats"} {
		if err := settle(t, command(fault), problem(3000)); err != nil {
			t.Errorf("%s: %v", fault, err)
		}
	}
	a, err := algo.ParseFor(command("floods"), algo.TrackBatch)
	if err == nil || !strings.Contains(err.Error(), "nobody asked for this") {
		t.Errorf("%v, %v", a.ID, err)
	}
}

func TestProgramsThatCannotCompeteAreRefused(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "script")
	if err := os.WriteFile(script, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[string]string{
		"exec:":                `names no program; write for example exec:\./my-scheduler`,
		"exec:   ":             `names no program`,
		"exec:./there-is-none": `"exec:./there-is-none": exec: "./there-is-none": .*no such file`,
		"exec:there-is-none":   `executable file not found in \$PATH; name a program by its path or one on the PATH$`,
		"exec:" + script:       `permission denied; make the file executable \(chmod \+x\), or put its interpreter before it, as in exec:python3 ` + script + `$`,
		"exec:" + dir:          `is a directory|permission denied`,
		command("hangs-at-hello") + "&start=200ms": `did not answer within 200ms \(\?start=\)`,
		command("crashes-at-hello"):                `ended \(exit status 7\) before it answered`,
		command("says-banner"):                     `writes more than an answer, beginning with "my scheduler 3\.0\\n"|no message`,
		command("declines-track"):                  `does not say hello for the batch track: it declines: "no batch"`,
		command("speaks-protocol-4"):               `protocol 4 is not from 1 to 3`,
		command("has-odd-name"):                    `name "a\\x1b\[2J" has a character that cannot be printed`,
		command("has-long-name"):                   `name has 101 bytes; at most 100 are allowed`,
		command("well") + "&timeout=5":             `parameter "timeout": "5" is not a duration; write for example 500ms or 10s`,
		command("well") + "&start=-1s":             `parameter "start": "-1s" is not a duration`,
		"exec:true?memory=2":                       `parameter "memory": "2" is not an amount; write for example 512MiB or 2GiB`,
		"exec:true?memory=0GiB":                    `"0GiB" is not an amount`,
		"exec:true?memory=9999999999GiB":           `"9999999999GiB" is not an amount`,
		"exec:true?memroy=1GiB":                    `did you mean "memory"`,
	} {
		if _, err := algo.ParseFor(id, algo.TrackBatch); err == nil || !regexp.MustCompile(want).MatchString(err.Error()) {
			t.Errorf("%s: %v\nwant it to match %s", id, err, want)
		}
	}
	for _, track := range []string{algo.TrackBound, algo.TrackOffline} {
		if _, err := algo.ParseFor(command("well"), track); err == nil || !strings.Contains(err.Error(), "do the tracks batch, corun, dispatch, placement, stream, not "+track) {
			t.Errorf("%s: %v", track, err)
		}
	}
}

// Looking up results starts no program: neither do boards and audits.
func TestCanonicalNamesStartNoProgram(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n: >$0-was-started\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := algo.MustParse("exec:  " + path)
	s := store.Series{
		Track: algo.TrackCorun, Dataset: "corun/queues", GPU: "A100", Count: 1, Algorithm: a.ID, Version: 1, Weights: a.Weights(),
		Model: "sequential",
	}
	var err error
	if s.Content, err = run.Content(track.Corun, s.Dataset, mig.MustLookup(s.GPU)); err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w, err := db.Writer(filepath.Join(db.Dir(), store.FileName(0, 1)))
	if err == nil {
		err = errors.Join(w.Append(s, store.Row{Metrics: store.NewMetrics(map[string]float64{track.MetricMakespan: 3})}), w.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	board, err := leaderboard.Standings(db, leaderboard.Conditions{Track: track.Corun, GPU: mig.MustLookup("A100")})
	if err != nil || len(board) != 1 || board[0].Algorithm != "exec:"+path {
		t.Errorf("%+v, %v", board, err)
	}
	if _, err := leaderboard.Audit(t.Context(), &run.Engine{Store: db}, new(mig.Catalog), 0); err == nil {
		t.Error("results without a bound were audited")
	}
	started := func() bool { _, err := os.Stat(path + "-was-started"); return err == nil }
	if started() {
		t.Error("the program was started")
	}
	if _, err := run.Resolve(new(mig.Catalog), s); err == nil || !started() {
		t.Errorf("to run it, it is started: %v", err)
	}
}

func TestOneNameForOneProgram(t *testing.T) {
	a, err := algo.Parse("exec:  sleep   5 ?timeout=10s")
	if err != nil || a.ID != "exec:sleep 5" {
		t.Errorf("%q, %v", a.ID, err)
	}
}

func TestAProcessThatFailsLaterIsReplaced(t *testing.T) {
	a, err := algo.ParseFor(command("changes-version"), algo.TrackBatch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Schedule(t.Context(), problem(2)); err != nil {
		t.Fatal(err)
	}
	alive.Lock()
	var own *process
	for p := range alive.processes {
		if fmt.Sprint(p.cmd.Process.Pid) == fmt.Sprint(a.Spec.Version) {
			own = p
		}
	}
	alive.Unlock()
	if err := own.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-own.ended
	_, err = a.Schedule(t.Context(), problem(2))
	if kindOf(err) != KindProtocol || !strings.Contains(fmt.Sprint(err), `now says to be "bad" version`) {
		t.Errorf("%v", err)
	}
}

// engine runs a program on instances and returns the rows in the order of the instances.
func engine(t *testing.T, series store.Series, n, workers int) (rows []store.Row) {
	t.Helper()
	span, err := run.SpanOf(new(mig.Catalog), series, n)
	if err != nil {
		t.Fatal(err)
	}
	st, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	e := run.Engine{Store: st, Workers: workers}
	if err := e.Run(t.Context(), []run.Span{span}); err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(span.Series.Algorithm, prefix) && span.Series.Weights == "" {
		t.Fatalf("%v does not name the program's contents", span.Series)
	}
	rows, err = st.Rows(span.Series, 0, n)
	if err != nil || len(rows) != n {
		t.Fatalf("%v has %d of %d rows, %v", span.Series, len(rows), n, err)
	}
	for i := range rows {
		rows[i].Micros = 0 // no two runs agree on it
	}
	return rows
}

func TestRunsGoOnAndOrderDoesNotShow(t *testing.T) {
	for _, fault := range []string{"crashes-on-even", "ends-after-answer", "says-more-later"} {
		series := store.Series{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", GPU: "A100", Algorithm: command(fault)}
		trial, err := run.Resolve(new(mig.Catalog), series)
		if err != nil || trial.Series.Version != 3 || trial.Series.Weights == "" {
			t.Fatalf("%+v, %v", trial, err)
		}
		var before []store.Row
		for _, workers := range []int{1, 4} {
			kinds := map[string]int{}
			rows := engine(t, series, deep.N(6, 12), workers)
			for i, row := range rows {
				kinds[row.Kind]++
				if before != nil && fmt.Sprint(row) != fmt.Sprint(before[i]) {
					t.Errorf("%s with %d workers: %v, with one %v", fault, workers, row, before[i])
				}
			}
			if crashed := kinds[KindCrashed]; kinds[""]+crashed != len(rows) || (crashed > 0) != (fault == "crashes-on-even") || kinds[""] == 0 {
				t.Errorf("%s: %v", fault, kinds)
			}
			before = rows
		}
	}
}

func TestStreamsAreSeenBatchByBatch(t *testing.T) {
	series := store.Series{Track: algo.TrackStream, Dataset: "far/MIXEDSCALING+WIDETIMES?batches=3", GPU: "A30", Algorithm: command("well")}
	for _, row := range engine(t, series, 3, 1) {
		if asked, _ := row.Metrics.Get("asked"); row.Kind != "" || asked != 3 {
			t.Errorf("%v after %v questions", row, asked)
		}
	}
}

// Starting a process does not count as deciding.
func TestTookLeavesOutTheStart(t *testing.T) {
	a, err := algo.ParseFor(command("well"), algo.TrackBatch)
	if err != nil {
		t.Fatal(err)
	}
	b, err := algo.Make[algo.Batch](a)
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if _, err := b.Schedule(t.Context(), problem(2)); err != nil {
		t.Fatal(err)
	}
	if took := b.(algo.Timed).Took(); took <= 0 || took > time.Since(begin) {
		t.Errorf("took %v", took)
	}
}

func TestProgramsAreIdentifiedByContent(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	weights := func(id string) string {
		a, err := algo.Parse(id)
		if err != nil {
			t.Fatal(err)
		}
		return a.Weights()
	}
	write := func(text string) {
		if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("#!/bin/sh\n# one\n")
	as, through, without := weights("exec:"+script), weights("exec:sh "+script), weights("exec:sh")
	if again := weights("exec:" + script + " --flag"); again != as {
		t.Errorf("an argument that is no file shows: %s, %s", as, again)
	}
	write("#!/bin/sh\n# other\n")
	if weights("exec:"+script) == as || weights("exec:sh "+script) == through || weights("exec:sh") != without || through == without {
		t.Error("the content of the script does not show, or something else does")
	}
	if err := os.Remove(script); err != nil {
		t.Fatal(err)
	}
	if _, err := algo.Parse("exec:" + script); err == nil {
		t.Error("a program that is gone is found")
	}
}

func TestMemoryIsLimited(t *testing.T) {
	if raced || runtime.GOOS != "linux" {
		t.Skip("no limit here")
	}
	unlimited := command("allocates") + "&timeout=1h"
	limited := strings.Replace(unlimited, "4194304GiB", "256MiB", 1)
	if err := settle(t, limited, problem(1)); kindOf(err) != KindCrashed || !strings.Contains(err.Error(), "before it answered; standard error ends with") {
		t.Errorf("%v", err)
	}
	if err := settle(t, unlimited, problem(1)); err != nil {
		t.Errorf("without a limit: %v", err)
	}
}

// A fifo is held open by processes that must be killed with the program that started them.
type fifo struct {
	path string
	read *os.File
}

func newFifo(t *testing.T) fifo {
	t.Helper()
	f := fifo{path: filepath.Join(t.TempDir(), "fifo")}
	if err := syscall.Mkfifo(f.path, 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if f.read, err = os.OpenFile(f.path, os.O_RDONLY|syscall.O_NONBLOCK, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.read.Close() })
	return f
}

// held waits until a process holds the fifo open.
func (f fifo) held(t *testing.T) {
	t.Helper()
	for begin := time.Now(); !f.wasHeld(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatal("no process holds it")
		}
	}
}

// wasHeld reports whether a process has opened the fifo since the last question.
func (f fifo) wasHeld() bool {
	n, _ := f.read.Read(make([]byte, 1)) // without a process it ends, too
	return n > 0
}

// free waits until no process holds it open.
func (f fifo) free(t *testing.T) {
	t.Helper()
	f.read.SetReadDeadline(time.Now().Add(time.Minute))
	if n, err := f.read.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Fatalf("a process is left: %d, %v", n, err)
	}
}

func TestNoProcessIsLeft(t *testing.T) {
	schedule := func(ctx context.Context, id string) error {
		a, err := algo.ParseFor(id, algo.TrackBatch)
		if err != nil {
			t.Fatal(err)
		}
		_, err = a.Schedule(ctx, problem(2))
		return err
	}
	for fault, kind := range map[string]string{
		"hangs-with-child": store.KindTimeout, "ends-with-child": KindCrashed,
	} {
		t.Run(fault, func(t *testing.T) {
			f := newFifo(t)
			// On a slow machine it takes long until the fifo is open.
			for timeout := 2 * time.Second; ; timeout *= 4 {
				err := schedule(t.Context(), fmt.Sprintf("%s&timeout=%v", command(fault+" "+f.path), timeout))
				if kindOf(err) != kind {
					t.Errorf("%v", err)
				}
				if f.wasHeld() {
					break
				}
				if timeout > 10*time.Second {
					t.Fatal("no process holds the fifo")
				}
			}
			f.free(t)
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		f := newFifo(t)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- schedule(ctx, command("holds "+f.path)) }()
		f.held(t)
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		f.free(t)
	})
	t.Run("closed", func(t *testing.T) {
		f := newFifo(t)
		if _, err := algo.ParseFor(command("holds "+f.path), algo.TrackBatch); err != nil {
			t.Fatal(err)
		}
		f.held(t)
		Close()
		f.free(t)
		alive.Lock()
		defer alive.Unlock()
		if n := len(alive.processes); n > 0 {
			t.Errorf("%d processes are left", n)
		}
	})
	t.Run("closed and asked again", func(t *testing.T) {
		a, err := algo.ParseFor(command("well"), algo.TrackBatch)
		if err != nil {
			t.Fatal(err)
		}
		Close()
		if _, err := a.Schedule(t.Context(), problem(2)); err != nil {
			t.Error(err)
		}
	})
	t.Run("killed", func(t *testing.T) {
		if runtime.GOOS != "linux" {
			t.Skip("the kernel does not see to it")
		}
		f := newFifo(t)
		harness := exec.Command(os.Args[0])
		harness.Env = append(os.Environ(), "MIGLAB_TEST_FIFO="+f.path)
		if err := harness.Start(); err != nil {
			t.Fatal(err)
		}
		f.held(t)
		if err := harness.Process.Kill(); err != nil {
			t.Error(err)
		}
		harness.Wait()
		f.free(t)
	})
}

// interpreter returns the path of Python itself: what is on the PATH may be a version manager, which takes several
// times as long to start.
var interpreter = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(path)), err
})

// python returns the ID of an example of the Python package; "" where there is no Python and there need not be.
func python(t *testing.T, name string) string {
	t.Helper()
	path, err := interpreter()
	if err != nil {
		if os.Getenv("MIGLAB_REQUIRE_EXTERNAL") == "1" {
			t.Fatal(err)
		}
		return ""
	}
	return "exec:" + path + " " + pythonFolder + "/examples/" + name
}

func TestEarliestSchedulesEverywhere(t *testing.T) {
	id := python(t, "earliest.py")
	if id == "" {
		t.Skip("no python3")
	}
	schedulesEverywhere(t, id)
	other := placements
	other.Algorithm = id
	if _, err := run.Resolve(new(mig.Catalog), other); err == nil || !strings.Contains(err.Error(), `it declines: "only batch, stream"`) {
		t.Errorf("%v", err)
	}
}

// schedulesEverywhere has a program schedule for each GPU and each model of reconfiguration, and for each pair of them if
// tests are deep.
func schedulesEverywhere(t *testing.T, id string) {
	t.Helper()
	for g, gpu := range mig.GPUs() {
		for m, model := range []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free} {
			if !deep.On() && m != g%3 {
				continue
			}
			series := store.Series{Track: algo.TrackBatch, Dataset: "far/MIXEDSCALING+WIDETIMES", GPU: gpu.Name, Count: 2, Algorithm: id, Model: model.String()}
			for _, row := range engine(t, series, 2, 2) {
				if row.Kind != "" {
					t.Errorf("on %s, %v: %s: %s", gpu, model, row.Kind, row.Error)
				}
			}
		}
	}
	impossible := problem(1)
	impossible.Tasks = append(impossible.Tasks, task.New("wide", map[mig.Slices]mig.Seconds{7: 5}))
	if err := settle(t, id, impossible); kindOf(err) != run.KindInfeasible {
		t.Errorf("%v", err)
	}
}
