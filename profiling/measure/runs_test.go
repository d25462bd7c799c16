package measure_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/profiling"
	"miglab/profiling/kernel"
	"miglab/profiling/measure"
)

// ran is a run of a kernel on A100 that took so long.
func ran(name string, size mig.Slices, repetition int, s mig.Seconds) measure.Run {
	return measure.Run{
		GPU: "A100", Name: "NVIDIA A100-SXM4-40GB", UUID: "GPU-1", Driver: "570.1", Source: profiling.MIG, Suite: "suite", Kernel: name, Description: name + "!",
		Size: size, Repetition: repetition, Status: kernel.OK, Seconds: s, Started: time.Date(2026, 11, 21, 9, 30, repetition, 0, time.UTC),
	}
}

// ended is a run that did not go well.
func ended(name string, size mig.Slices, repetition int, status kernel.Status, detail string) measure.Run {
	r := ran(name, size, repetition, 0)
	if r.Status, r.Detail = status, detail; status == kernel.OutOfMemory {
		r.Seconds = inf
	}
	return r
}

var goodRuns = []measure.Run{
	ran("lud", 1, 1, 2.5), ended("lud", 2, 1, kernel.OutOfMemory, `"out of memory", it says`), ended("lud", 3, 1, kernel.Timeout, "killed"), ran("bfs", 7, 1, 1e-9),
}

func TestReadRunsSaysWhereAndWhatWouldBeRight(t *testing.T) {
	good := string(measure.WriteRuns(goodRuns))
	if runs, err := measure.ReadRuns(strings.NewReader(good), "f"); err != nil || !reflect.DeepEqual(runs, goodRuns) {
		t.Fatalf("%v, %v", runs, err)
	}
	lines := strings.SplitAfter(good, "\n")
	for name, c := range map[string]struct{ old, new, want string }{
		"empty line":        {lines[1], "\n", "f:2: the line is empty; delete the line, and the run is repeated"},
		"field missing":     {"suite,bfs", "bfs", "f:5: wrong number of fields; delete the line, and the run is repeated"},
		"open quote":        {`it says"`, `it says`, `f:3: extraneous or missing " in quoted-field; delete the line, and the run is repeated`},
		"GPU":               {lines[1], strings.Replace(lines[1], "A100", "A10", 1), `f:2: gpu: unknown GPU "A10"; did you mean "A100"? (known: A100, A100-40GB, A100-80GB, A30, A30-24GB, B200, B200-180GB, H100, H100-80GB, H200, H200-141GB)`},
		"alias":             {lines[1], strings.Replace(lines[1], "A100", "A100-40GB", 1), `f:2: gpu: "A100-40GB" must be written A100`},
		"source":            {",mig,", ",mps,", `f:2: source: unknown source "mps"; did you mean "mps-sm-limit"? (known: mig, mps-sm-limit)`},
		"no kernel":         {"bfs,,bfs!", ",,bfs!", "f:5: kernel: the kernel has no name"},
		"size":              {"lud!,2,", "lud!,5,", "f:3: size: A100 has no instances of size 5; its sizes are [1 2 3 4 7]"},
		"size in words":     {"lud!,2,", "lud!,two,", `f:3: size: "two" is not a whole number from 0`},
		"repetition":        {"bfs!,7,0,1,", "bfs!,7,0,0,", "f:5: repetition: repetitions count from 1"},
		"negative":          {"bfs!,7,0,1,", "bfs!,7,-1,1,", `f:5: sms: "-1" is not a whole number from 0`},
		"status":            {",timeout,", ",time-out,", `f:4: status: unknown status "time-out"; did you mean "timeout"? (known: crash, ok, oom, timeout, wrong)`},
		"ok without time":   {",ok,2.5,", ",ok,,", "f:2: seconds: a run with status ok must have a finite time"},
		"ok with inf":       {",ok,2.5,", ",ok,inf,", "f:2: seconds: a run with status ok must have a finite time"},
		"oom with time":     {",oom,inf,", ",oom,3,", "f:3: seconds: a run with status oom must have the time inf"},
		"timeout with time": {",timeout,,", ",timeout,inf,", "f:4: seconds: a run with status timeout cannot have a time"},
		"negative time":     {",ok,2.5,", ",ok,-2.5,", `f:2: seconds: "-2.5" is not a positive number of seconds, inf, or empty`},
		"NaN":               {",ok,2.5,", ",ok,NaN,", `f:2: seconds: "NaN" is not a positive number of seconds, inf, or empty`},
		"too long":          {",ok,2.5,", ",ok,1e13,", `f:2: seconds: "1e13" is not a positive number of seconds, inf, or empty`},
		"day":               {"2026-11-21T09:30:01Z", "2026-11-21", `f:2: started: "2026-11-21" is not an instant such as 2026-11-21T09:30:00Z`},
		"zone":              {"2026-11-21T09:30:01Z", "2026-11-21T09:30:01+01:00", `f:2: started: "2026-11-21T09:30:01+01:00" is not an instant such as 2026-11-21T09:30:00Z`},
		"power":             {",0,0,,killed", ",inf,0,,killed", `f:4: power_limit_w: "inf" is not a number of watts from 0`},
		"twice":             {lines[2], lines[1], "f:3: line 2 has the same run; delete one of them"},
		"other driver":      {lines[4], strings.Replace(lines[4], "570.1", "580.2", 1), `f:5: driver: it is "580.2" and was "570.1", on line 2; a file holds one GPU, driver and source`},
		"other GPU":         {lines[4], strings.Replace(lines[4], "GPU-1", "GPU-2", 1), `f:5: gpu_uuid: it is "GPU-2" and was "GPU-1", on line 2; a file holds one GPU, driver and source`},
		"other arguments":   {"lud!,3", "lud?,3", "f:4: description: kernel lud had other arguments on line 2; delete the lines of one of them"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if text == good {
			t.Errorf("%s: the edit changes nothing in\n%s", name, good)
		}
		runs, err := measure.ReadRuns(strings.NewReader(text), "f")
		if _, ok := errors.AsType[*task.ParseError](err); !ok || err.Error() != c.want || runs != nil {
			t.Errorf("%s: got %v\nwant %s", name, err, c.want)
		}
	}
	broken := errors.New("broken pipe")
	if _, err := measure.ReadRuns(iotest.ErrReader(broken), "f"); !errors.Is(err, broken) {
		t.Errorf("%v", err)
	}
}

func TestRunsRoundTrip(t *testing.T) {
	word := rapid.StringMatching(`[a-zß,"'#;. ]{0,9}`)
	number := rapid.IntRange(0, 1<<40)
	rapid.Check(t, func(t *rapid.T) {
		gpu, name, uuid, driver := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu"), word.Draw(t, "name"), word.Draw(t, "UUID"), word.Draw(t, "driver")
		var runs []measure.Run
		for i := range rapid.IntRange(0, 5).Draw(t, "rows") {
			r := measure.Run{
				GPU: gpu.Name, Name: name, UUID: uuid, Driver: driver, Source: profiling.MPSSMLimit, Suite: word.Draw(t, "suite"), Kernel: "k" + word.Draw(t, "kernel"),
				SizeClass: word.Draw(t, "class"), Size: rapid.SampledFrom(gpu.Sizes()).Draw(t, "size"), SMs: number.Draw(t, "sms"), Repetition: i + 1,
				Status: rapid.SampledFrom([]kernel.Status{kernel.OK, kernel.OutOfMemory, kernel.Crash, kernel.Timeout, kernel.Wrong}).Draw(t, "status"),
				Load: datasets.Load{
					Samples: number.Draw(t, "samples"), ClockMin: number.Draw(t, "least"), ClockMean: rapid.Float64Range(0, 1e9).Draw(t, "mean"), ClockMax: number.Draw(t, "most"),
					PowerMean: rapid.Float64Range(0, 1e9).Draw(t, "mean power"), PowerMax: rapid.Float64Range(0, 1e9).Draw(t, "most power"),
					TemperatureMax: number.Draw(t, "temperature"), Throttle: word.Draw(t, "throttle"),
				},
				MemoryClock: number.Draw(t, "memory"),
				PowerLimit:  rapid.Float64Range(0, math.MaxFloat64).Draw(t, "power"), OtherProcesses: number.Draw(t, "others"), Result: word.Draw(t, "result"), Detail: word.Draw(t, "detail"),
			}
			switch r.Status {
			case kernel.OK:
				r.Seconds = mig.Seconds(rapid.Float64Range(math.SmallestNonzeroFloat64, task.MaxSeconds).Draw(t, "seconds"))
			case kernel.OutOfMemory:
				r.Seconds = inf
			}
			if rapid.Bool().Draw(t, "tried") {
				r.Started = time.Unix(rapid.Int64Range(-6e10, 2e11).Draw(t, "started"), 0).UTC()
			}
			runs = append(runs, r)
		}
		text := string(measure.WriteRuns(runs))
		back, err := measure.ReadRuns(strings.NewReader(text), "f")
		if err != nil || !reflect.DeepEqual(back, runs) {
			t.Fatalf("%v\n%v became\n%v", err, runs, back)
		}
	})
}

func FuzzReadRuns(f *testing.F) {
	good := string(measure.WriteRuns(goodRuns))
	f.Add(good)
	f.Add(good[:len(good)-7])
	f.Add(good[:40])
	f.Add(strings.ReplaceAll(good, "\n", "\r\n"))
	f.Add(strings.ReplaceAll(good, "2026-", "0000-"))
	f.Fuzz(func(t *testing.T, text string) {
		runs, err := measure.ReadRuns(strings.NewReader(text), "f")
		if err != nil {
			if e, ok := errors.AsType[*task.ParseError](err); !ok || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		back, err := measure.ReadRuns(strings.NewReader(string(measure.WriteRuns(runs))), "f")
		if err != nil || !reflect.DeepEqual(back, runs) {
			t.Fatalf("%v\n%v became\n%v", err, runs, back)
		}
		p := measure.Summarize(runs)
		p.Warnings()
		p.Kernels()
		if table := p.Table(); table.Text(&strings.Builder{}) != nil {
			t.Fatal("the table is malformed")
		}
	})
}
