package task_test

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

func TestRequestProfiles(t *testing.T) {
	for name, want := range map[string]string{
		"A100-80GB": "1g.10gb 1g.20gb 2g.20gb 3g.40gb 4g.40gb 7g.80gb", // MFI Table I
		"A30":       "1g.6gb 2g.12gb 4g.24gb",
	} {
		var got []string
		for _, p := range task.RequestProfiles(mig.MustLookup(name)) {
			got = append(got, p.String())
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", name, got, want)
		}
	}
}

func TestReadRequests(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := task.RequestProfiles(g)
	got, err := task.ReadRequests(strings.NewReader("\ufeffprofile, lifespan,arrival_slot\r\n1g.10gb,3,0\r\n\r\n7g.80gb,forever,0\r\n\" 2g.20gb\",1,7\r\n"), "t.csv", g, task.Requests{})
	want := task.Requests{Requests: []task.Request{{Lifespan: 3, Profile: p[0]}, {Lifespan: task.Forever, Profile: p[5]}, {Arrival: 7, Lifespan: 1, Profile: p[2]}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
}

// TestComments: files without names have comments, and a task may have a name that begins like one.
func TestComments(t *testing.T) {
	const text = "# of March, \"raw\n\narrival_slot,lifespan,profile\n#0,1,7g.80gb\n0,3,1g.10gb\n# the end\n8,3,7g.80gb\n"
	g := mig.MustLookup("A100-80GB")
	got, err := task.ReadRequests(strings.NewReader(text), "t.csv", g, task.Requests{})
	if err != nil || len(got.Requests) != 2 || got.Requests[1].Arrival != 8 {
		t.Errorf("%v, %v", got, err)
	}
	_, err = task.ReadRequests(strings.NewReader(text+"7,1,1g.10gb\n"), "t.csv", g, task.Requests{})
	if err == nil || !strings.HasPrefix(err.Error(), "t.csv:8: arrival_slot: 7 comes after 8 on line 7") {
		t.Error(err)
	}
	jobs, err := readJobs("# of March\n" + goodJobs)
	if err != nil || len(jobs) != 2 {
		t.Errorf("%v, %v", jobs, err)
	}
	tasks, err := task.ReadCSV(strings.NewReader("task,t1,t2,t3,t4,t7\n#1,5,4,3,2,1\n"), "t.csv", a100)
	if err != nil || len(tasks) != 1 || tasks[0].Name != "#1" {
		t.Errorf("%v, %v", tasks, err)
	}
}

func TestBadRequestFiles(t *testing.T) {
	const header = "arrival_slot,lifespan,profile\n"
	for text, message := range map[string]string{
		"":                                      "t.csv:1: the file is empty; begin with the header arrival_slot,lifespan,profile",
		header:                                  "t.csv:1: there are no requests",
		"slot,lifespan,profile\n0,1,1g.10gb\n":  "t.csv:1: slot: unknown column; the header of a requests file is arrival_slot,lifespan,profile",
		"arrival_slot,profile\n0,1g.10gb\n":     "t.csv:1: lifespan: the column is missing",
		header + "0,1\n":                        "t.csv:2: the line has 2 fields",
		header + "0,1,1g.10gb\n0,1,8g.10gb\n":   `t.csv:3: profile: unknown profile of A100-80GB "8g.10gb"; did you mean`,
		header + "0,1,1g.10gb+me\n":             `"1g.10gb+me" cannot be requested; it takes the slices of another profile: request 1g.10gb, 1g.20gb, 2g.20gb`,
		header + "0,1,1g.10gb-me\n":             `unknown profile of A100-80GB "1g.10gb-me"; did you mean "1g.10gb"`, // and not 1g.10gb+me, which is refused
		header + "0,-1,1g.10gb\n":               `t.csv:2: lifespan: "-1" is not a lifespan; write a whole number of slots from 1`,
		header + "0,0,1g.10gb\n":                `"0" is not a lifespan`,
		header + "0,1.5,1g.10gb\n":              `"1.5" is not a lifespan`,
		header + "-1,1,1g.10gb\n":               `t.csv:2: arrival_slot: "-1" is not a slot`,
		header + "99999999999999999999,1,7g\n":  `is not a slot`,
		header + "5,1,1g.10gb\n\n4,1,1g.10gb\n": "t.csv:4: arrival_slot: 4 comes after 5 on line 2; sort the requests by arrival",
		header + "0,1,\"1g\n":                   "close every quote",

		"arrival_ms,work_ms,memory_mb\n0,0,10\n":          `t.csv:2: work_ms: "0" is not work; write the whole milliseconds that it takes on a whole GPU, from 1`,
		"arrival_ms,work_ms,memory_mb\n0,5,0\n":           `t.csv:2: memory_mb: "0" is not memory; write whole MB from 1`,
		"memory_mb,arrival_ms,work_ms\n1,9,5\n1,8,5\n":    "t.csv:3: arrival_ms: 8 comes after 9 on line 2; sort the requests by arrival",
		"arrival_ms,work_ms,memory_mb\n0,5,81921\n":       "t.csv:2: memory_mb: the request asks for 81921 MB, more than any profile of A100-80GB has",
		"arrival_ms,work_ms,memory_mb,gpus\n0,5,10,2\n":   "t.csv:1: gpus: unknown column",
		"arrival_slot,arrival_ms\n0,5\n":                  "t.csv:1: arrival_slot: unknown column; the header of a requests file is arrival_ms,work_ms,memory_mb",
		"lifespan,profile,\"arrival_slot\narrival_ms\"\n": `unknown column; the header of a requests file is arrival_slot,lifespan,profile`,
	} {
		_, err := task.ReadRequests(strings.NewReader(text), "t.csv", mig.MustLookup("A100-80GB"), task.Requests{})
		if bad, ok := errors.AsType[*task.ParseError](err); !ok || bad.File != "t.csv" || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %v\nwant a ParseError with %q", text, err, message)
		}
	}
}

func TestRequestsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
		var want []task.Request
		slot := 0
		for range rapid.IntRange(1, 20).Draw(t, "requests") {
			slot += rapid.IntRange(0, 1000).Draw(t, "gap")
			lifespan := rapid.OneOf(rapid.Just(task.Forever), rapid.IntRange(1, 1<<32-1)).Draw(t, "lifespan")
			want = append(want, task.Request{Arrival: slot, Lifespan: lifespan, Profile: rapid.SampledFrom(task.RequestProfiles(g)).Draw(t, "profile")})
		}
		var text bytes.Buffer
		if err := task.WriteRequests(&text, want); err != nil {
			t.Fatal(err)
		}
		got, err := task.ReadRequests(&text, "t.csv", g, task.Requests{})
		if err != nil || !reflect.DeepEqual(got.Requests, want) {
			t.Fatalf("%v, %v; want %v", got, err, want)
		}
	})
}

// TestWorkMayTakeDays: a request file may have work of twelve hours on a whole GPU, and more columns than fit a line.
func TestWorkMayTakeDays(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, text := range []string{
		"arrival_ms,work_ms,memory_mb\n0,43200000,10240\n",
		strings.Repeat(" ", 300) + "work_ms,memory_mb,arrival_ms\n43200000,10240,0\n",
	} {
		got, err := task.ReadRequests(strings.NewReader(text), "t.csv", g, task.Requests{})
		if err != nil || got.Requests[0].Lifespan != (43200000*100+13)/14 {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// TestRequestsAreWrittenWithTheirSlots: a file has slots of a second.
func TestRequestsAreWrittenWithTheirSlots(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	in := task.Requests{SlotSeconds: 60, Requests: []task.Request{{Lifespan: 1, Profile: task.RequestProfiles(g)[0]}}}
	if err := in.WriteCSV(io.Discard, g); err != nil {
		t.Error(err)
	}
	in.Waiting = task.Retry
	if err := in.WriteCSV(io.Discard, g); err == nil || err.Error() != "the slots are of 60 s; a file of requests that wait has slots of a second" {
		t.Error(err)
	}
}

// TestWorkAndMemory: work of 114 ms takes two hundred in 57 % of a GPU, in the smallest profile with enough memory.
func TestWorkAndMemory(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	p := task.RequestProfiles(g)
	const text = "arrival_ms,work_ms,memory_mb\n0,114,10240\n7,114,10241\n7,1,81920\n"
	got, err := task.ReadRequests(strings.NewReader(text), "t.csv", g, task.Requests{})
	want := task.Requests{SlotSeconds: 0.001, Requests: []task.Request{
		{Lifespan: 815, Profile: p[0], Work: 114, MemoryMB: 10240},             // 114 / 0.14 = 814.3
		{Arrival: 7, Lifespan: 408, Profile: p[2], Work: 114, MemoryMB: 10241}, // not 1g.20gb
		{Arrival: 7, Lifespan: 1, Profile: p[5], Work: 1, MemoryMB: 81920},
	}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
	var again strings.Builder
	if err := task.WriteRequests(&again, got.Requests); err != nil || again.String() != text {
		t.Errorf("written as %q, %v", again.String(), err)
	}
	if err := task.WriteRequests(&again, append(got.Requests, task.Request{Arrival: 7, Lifespan: 1, Profile: p[0]})); err == nil || err.Error() != "request 3 asks for a profile and others for work; write them to a file each" {
		t.Errorf("a request of another kind: %v", err)
	}
}

func FuzzReadRequests(f *testing.F) {
	f.Add("arrival_slot,lifespan,profile\n0,3,1g.10gb\n2,forever,7g.80gb\n")
	f.Add("arrival_ms,work_ms,memory_mb\n0,100,10240\n")
	f.Add("profile,lifespan,arrival_slot\n\"3g.40gb\",1,4294967296\n")
	f.Fuzz(func(t *testing.T, text string) {
		g := mig.MustLookup("A100-80GB")
		first, err := task.ReadRequests(strings.NewReader(text), "t.csv", g, task.Requests{})
		if err != nil {
			if _, ok := errors.AsType[*task.ParseError](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		var written bytes.Buffer
		if err := task.WriteRequests(&written, first.Requests); err != nil {
			t.Fatal(err)
		}
		again, err := task.ReadRequests(&written, "t.csv", g, task.Requests{})
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Fatalf("%v, %v; want %v", again, err, first)
		}
	})
}

func TestRequestsForSeveralGPUs(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	const text = "arrival_slot,lifespan,profile,gpus\n0,3,7g.80gb,4\n1,forever,1g.10gb,1\n"
	got, err := task.ReadRequests(strings.NewReader(text), "f", g, task.Requests{})
	if err != nil || got.Requests[0].Instances() != 4 || got.Requests[1].Instances() != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	var again strings.Builder
	if err := task.WriteRequests(&again, got.Requests); err != nil || again.String() != text {
		t.Errorf("written as %q, %v", again.String(), err)
	}
	for line, want := range map[string]string{
		"0,3,1g.10gb,2":  "f:2: gpus: the request asks for 1g.10gb on 2 GPUs; a request for several GPUs needs the profile of a whole one",
		"0,3,7g.80gb,-1": `f:2: gpus: "-1" is not a number of GPUs; write a whole number from 0 to 1048576`,
		"0,3,7g.80gb,":   `f:2: gpus: "" is not a number of GPUs; write a whole number from 0 to 1048576`,
	} {
		_, err := task.ReadRequests(strings.NewReader("arrival_slot,lifespan,profile,gpus\n"+line+"\n"), "f", g, task.Requests{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", line, err, want)
		}
	}
}
