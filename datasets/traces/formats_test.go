package traces_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"miglab/datasets/traces"
	"miglab/harness/mig"
	"miglab/harness/task"
)

var sacctText, podsText = textOf("sacct.txt"), textOf("pods.json")

// TestClusterFormats reads the files of Slurm and of Kubernetes, and finds each
// row among the jobs or, with its reason, among the rejected rows.
func TestClusterFormats(t *testing.T) {
	const never, step, running = "it was never started", "is a step of a job; the job has a row of its own", "has no end"
	for _, c := range []struct {
		format, text string
		options      traces.Options
		rows         int
		jobs         string // submission after the first, lifetime, GPUs, profile, model and line of each
		rejected     []string
	}{
		{
			"sacct", sacctText,
			traces.Options{},
			15,
			"0 93784 2 a100 2; 60 600 1 1g.10gb a100 5; 60 30 1 1g.10gb 6; 390 60 2 1g.10gb 16",
			[]string{
				"3: " + step, "4: " + step, "7: is PENDING: " + never, "8: asks for no GPU", "9: is RUNNING and " + running, "10: is CANCELLED: " + never,
				"11: asks for gres/shard=2, and the file does not say which share", "12: asks for 2 kinds of GPUs or instances",
				"13: the line has 12 fields, the header 11", `14: Elapsed is "1:00"; write days, hours, minutes and seconds such as 1-02:03:04`,
				"15: asks for gres/gpu=x; write a whole number",
			},
		},
		{
			"sacct", sacctText,
			traces.Options{Snapshot: true},
			15, "0 1 1 9",
			[]string{"2: is COMPLETED: it holds no GPU now", "3: " + step, "4: " + step, "5: is COMPLETED", "6: is FAILED", "7: is PENDING", "8: ", "10: ", "11: ", "12: ", "13: ", "14: is TIMEOUT", "15: ", "16: "},
		},
		{
			"pods", podsText,
			traces.Options{},
			17,
			"0 600 1 3g.40gb 4; 0 600 1 1g.10gb+2g.20gb 14; 0 600 2 1g.10gb 15; 0 600 1 1g.10gb+me 19; 60 600 2 NVIDIA-H100-80GB-HBM3 5; 120 600 2 6; 150 600 2 7",
			[]string{
				"8: asks for no GPU", "9: is Running and " + running, "10: is Running and ", "11: is Pending: " + never, "12: asks for nvidia.com/gpu.shared, and the file does not say",
				"13: asks for nvidia.com/gpumem", "16: asks for devices by resourceClaims", "17: has no container with finishedAt",
				`18: nvidia.com/gpu is "500m"; write a whole number`, "20: json: cannot unmarshal array",
			},
		},
		{
			"pods", podsText,
			traces.Options{Snapshot: true, Pending: true},
			17, "0 1 1 9; 0 1 1 1g.10gb 10; 0 1 1 1g.10gb 11",
			[]string{"4: is Succeeded: it holds no GPU now", "5: ", "6: ", "7: ", "8: ", "12: ", "13: ", "14: ", "15: ", "16: ", "17: is Failed", "18: ", "19: ", "20: "},
		},
	} {
		jobs, rejected, err := traces.Read(strings.NewReader(c.text), "f", c.format, c.options)
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		var got []string
		for _, j := range jobs {
			words := strings.Fields(fmt.Sprint(j.Submit-jobs[0].Submit, j.Lifetime, j.GPUs, " "+j.Profile+" "+j.Model+" ", j.Line))
			got = append(got, strings.Join(words, " "))
		}
		if strings.Join(got, "; ") != c.jobs {
			t.Errorf("%s: jobs %q, want %q", c.format, got, c.jobs)
		}
		if len(jobs)+len(rejected) != c.rows || len(rejected) != len(c.rejected) {
			t.Errorf("%s: %d jobs and %d rejected, want %d rows: %v", c.format, len(jobs), len(rejected), c.rows, rejected)
			continue
		}
		for i, r := range rejected {
			if line := fmt.Sprintf("%d: %s", r.Line, r.Reason); !strings.HasPrefix(line, c.rejected[i]) {
				t.Errorf("%s: %q, want %q", c.format, line, c.rejected[i])
			}
		}
	}
}

// TestPartsOfTheDemand: rejected rows say whether demand is lost, and a snapshot has a job for each instance that a pod or
// job holds. Ended pods and jobs hold nothing, whatever they asked for.
func TestPartsOfTheDemand(t *testing.T) {
	const sacct, requested = "JobID|Submit|State|ElapsedRaw|AllocTRES\n", "JobID|Submit|State|ElapsedRaw|AllocTRES|ReqTRES\n"
	pod := func(phase, limits string) string {
		return `{"items": [{"spec": {"containers": [{"resources": {"limits": {` + limits + `}}}]}, "status": {"phase": "` + phase + `", "startTime": "2024-05-01T09:00:05Z"}}]}`
	}
	const two, kinds = `"nvidia.com/mig-1g.10gb": "2"`, `"nvidia.com/mig-1g.10gb": "1", "nvidia.com/gpu": 1`
	for _, c := range []struct {
		format, text string
		snapshot     bool
		jobs         int
		part         traces.Part
		reason       string
	}{
		{"sacct", sacct + "1|2024-05-01T09:00:00|PENDING|0|", false, 0, traces.Waiting, "is PENDING and was allocated nothing; the column ReqTRES"},
		{"sacct", sacct + "1|2024-05-01T09:00:00|CANCELLED by 7|0|", false, 0, traces.Waiting, "is CANCELLED and was allocated nothing"},
		{"sacct", requested + "1|2024-05-01T09:00:00|CANCELLED by 7|0||gres/gpu=1", false, 0, traces.Waiting, "is CANCELLED: it was never started"},
		{"sacct", "JobID|Submit|State|Elapsed|ReqTRES\n1|2024-05-01T09:00:00|CANCELLED by 7|00:00:00|gres/gpu=1", false, 0, traces.Waiting, "is CANCELLED: it was never started"},
		{"sacct", requested + "1|2024-05-01T09:00:00|CANCELLED by 7|0|gres/gpu=1|gres/gpu=1", false, 1, 0, ""},
		{"sacct", requested + "1|2024-05-01T09:00:00|COMPLETED|9||gres/gpu=1", false, 1, 0, ""},
		{"csv", "submit_s,lifetime_s,profile,gpus\n1,2,,2", false, 1, 0, ""},
		{"csv", "submit_s,lifetime_s,profile\n1,2,", false, 0, traces.NoJob, "asks for no GPU"},
		{"csv", "submit_s,lifetime_s,profile,gpus\n1,2,,0", false, 0, traces.NoJob, "asks for no GPU"},
		{"philly", `[{"submitted_time": "2017-10-01 00:00:00", "attempts": []}]`, false, 0, traces.Waiting, "has no attempts: it was never started"},
		{"sacct", sacct + "1|2024-05-01T09:00:00|CANCELLED by 7|0|", true, 0, traces.Past, "is CANCELLED: it holds"},
		{"sacct", sacct + "1|2024-05-01T09:00:00|COMPLETED|9|cpu=8", false, 0, traces.NoJob, "asks for no GPU"},
		{"sacct", sacct + "1|2024-05-01T09:00:00|RUNNING|9|gres/gpu=1", false, 0, traces.Running, "is RUNNING"},
		{"sacct", sacct + "1|2024-05-01T09:00:00|RUNNING|9|gres/gpu:a100_1g.10gb=3", true, 1, 0, ""},
		{"sacct", sacct + "1|2024-05-01T09:00:00|RUNNING|9|gres/gpu=3", true, 1, 0, ""},
		{"pods", pod("Running", two), true, 1, 0, ""},
		{"pods", pod("Running", kinds), true, 0, traces.Lost, "asks for 2 kinds"},
		{"pods", pod("Succeeded", kinds), true, 0, traces.Past, "is Succeeded"},
		{"pods", pod("Pending", kinds), true, 0, traces.Waiting, "is Pending"},
	} {
		jobs, rejected, err := traces.Read(strings.NewReader(c.text), "f", c.format, traces.Options{Snapshot: c.snapshot})
		if err != nil || len(jobs) != c.jobs || len(rejected) > 0 && (rejected[0].Part != c.part || !strings.HasPrefix(rejected[0].Reason, c.reason)) {
			t.Errorf("%s: %d jobs, %+v, %v", c.text, len(jobs), rejected, err)
		}
		_, lost := traces.Requests(mig.MustLookup("A100-80GB"), traces.Compute, 1, jobs)
		if lost != nil {
			t.Errorf("%s: %v", c.text, lost)
		}
	}
	jobs, _, err := traces.Read(strings.NewReader(sacct+"1|2024-05-01T09:00:00|PENDING|0|gres/gpu:1g.10gb=1"), "f", "sacct", traces.Options{Snapshot: true, Pending: true})
	if err != nil || len(jobs) != 1 {
		t.Errorf("%v, %v; --pending counts it", jobs, err)
	}
}

// TestTypesOfSlurm: whatever stands before a profile in a type is the model, but for mig.
func TestTypesOfSlurm(t *testing.T) {
	for kind, want := range map[string]string{
		"1g.10gb": ",1g.10gb", "a100_1g.10gb": "a100,1g.10gb", "a100-80gb_1g.10gb+me": "a100-80gb,1g.10gb+me",
		"mig-1g.10gb": ",1g.10gb", "MIG_1g.10gb": ",1g.10gb", "a100-1g.10gb-me": "a100,1g.10gb-me",
		"a100_1G.10GB": "a100,1g.10gb", "a100_1g10gb": "a100,1g10gb", "a100-80gb": "a100-80gb,",
	} {
		text := "JobID|Submit|State|ElapsedRaw|AllocTRES\n1|2024-05-01T09:00:00|COMPLETED|9|gres/gpu:" + kind + "=1"
		jobs, _, err := traces.Read(strings.NewReader(text), "f", "sacct", traces.Options{})
		if err != nil || len(jobs) != 1 || jobs[0].Model+","+jobs[0].Profile != want {
			t.Errorf("%s: %+v, %v; want %s", kind, jobs, err, want)
		}
	}
}

// TestProfilesOfOtherModels: the error names the models that have the profile; types of Slurm name the model, too.
func TestProfilesOfOtherModels(t *testing.T) {
	g := mig.MustLookup("A100")
	jobs := []traces.Job{
		{GPUs: 1, Milli: 1000, Profile: "3g.40gb", Model: "a100"},
		{GPUs: 1, Milli: 1000, Profile: "3g.21gb", Model: "h100"},
		{GPUs: 1, Milli: 1000, Model: "nvidia_a100"},
	}
	_, lost := traces.Requests(g, traces.Compute, 1, jobs)
	if len(lost) != 2 || lost[0].Reason != "asks for 3g.40gb, which A100 does not have: say --gpu A100-80GB" || !strings.HasPrefix(lost[1].Reason, `unknown profile of A100 "3g.21gb"`) {
		t.Errorf("%v", lost)
	}
	if got := traces.OtherModels(g, jobs); !strings.Contains(got, ": h100 (1). ") {
		t.Error(got)
	}
	if mig, whole := traces.Type(g, jobs, true), traces.Type(g, jobs, false); mig != "a100" || whole != "nvidia_a100" {
		t.Errorf("%s, %s", mig, whole)
	}
}

// TestBrokenClusterFiles has files that are wrong as a whole.
func TestBrokenClusterFiles(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"pods", "JobID|State\n", "f:1: this looks like sacct: say --format sacct"},
		{"sacct", "{\n", "f:1: this looks like JSON; --format pods"},
		{"sacct", "", "f:1: the file is empty; begin with a header that has Submit,State,JobIDRaw or JobID,ElapsedRaw or Elapsed or End,AllocTRES or ReqTRES"},
		{"sacct", "JobID|State|Elapsed|AllocTRES\n", "f:1: Submit: the column is missing; the header is JobID|State|Elapsed|AllocTRES; write the file with sacct -P -o JobIDRaw,"},
		{"sacct", "JobID|Submit|State|Elapsed|NodeList\n", "f:1: AllocTRES or ReqTRES: the column is missing"},
		{"sacct", "Submit|Submit|State|JobID|End|ReqTRES\n", "f:1: Submit: the column is there twice"},
		{"pods", "[]", "there is no object; the file must be one list as kubectl get pods -A -o json prints it"},
		{"pods", `{"kind":"Pod","metadata":{}}`, "there is no member items"},
		{"pods", `{"items":{}}`, "there is no array"},
		{"pods", podsText[:len(podsText)-60], "and what follows was not read"},
		{"pods", podsText[:len(podsText)-3], "and what follows was not read"},
		{"pods", podsText + podsText, "f:25: there is more text after the end"},
		{"philly", phillyText + "[]", "there is more text after the end"},
	} {
		_, _, err := traces.Read(strings.NewReader(c.text), "f", c.format, traces.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %.60q: %v, want %q", c.format, c.text, err, c.want)
		}
	}
}

// The hint that a file may be of sacct depends on its header alone.
func TestHintOfAnotherFormat(t *testing.T) {
	for header, want := range map[string]string{
		"JobID|State\n":           "f|g.csv:1: submit_s: the column is missing; the header is JobID|State; this looks like sacct: say --format sacct",
		"arrival_slot,lifespan\n": "f|g.csv:1: submit_s: the column is missing; the header is arrival_slot,lifespan; this looks like requests: say miglab advise --format requests",
		"job|begin\n":             "f|g.csv:1: submit_s: the column is missing; the header is job|begin; for a column of another name, say --columns submit_s=THAT; miglab advise --snapshot needs no times",
		"time,gpus\n":             "f|g.csv:1: submit_s: the column is missing; the header is time,gpus; for a column of another name, say --columns submit_s=THAT; miglab advise --snapshot needs no times",
	} {
		_, _, err := traces.Read(strings.NewReader(header), "f|g.csv", "csv", traces.Options{})
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %q", header, err, want)
		}
	}
}

// TestSlurmTimes reads the lifetime from each column that may have it.
func TestSlurmTimes(t *testing.T) {
	for columns, values := range map[string]string{
		"ElapsedRaw": "3661", "Elapsed": "01:01:01", "Start|End": "2024-05-01T09:00:00|2024-05-01T10:01:01", "Elapsed|ElapsedRaw": "x|3661",
	} {
		text := "JobIDRaw|Submit|State|ReqTRES|" + columns + "\n7|2024-05-01T08:00:00|COMPLETED|gres/gpu=1|" + values + "\n"
		jobs, rejected, err := traces.Read(strings.NewReader(text), "f", "sacct", traces.Options{})
		if err != nil || len(jobs) != 1 || jobs[0].Lifetime != 3661 {
			t.Errorf("%s: %v, %v, %v", columns, jobs, rejected, err)
		}
	}
	// Without an end the lifetime is unknown, and a step is none of the jobs under its raw number either.
	const text = "JobIDRaw|Submit|State|ReqTRES|End\n7|2024-05-01T08:00:00|COMPLETED|gres/gpu=1|2024-05-01T09:00:00\n7.0|2024-05-01T08:00:00|COMPLETED|gres/gpu=1|2024-05-01T09:00:00\n"
	jobs, rejected, err := traces.Read(strings.NewReader(text), "f", "sacct", traces.Options{})
	if err != nil || len(jobs) != 0 || len(rejected) != 2 || !strings.Contains(rejected[0].Reason, `Start is ""`) {
		t.Errorf("%v, %v, %v", jobs, rejected, err)
	}
}

// TestInstancesOfClusterFiles: jobs for one instance become requests for its profile, jobs for several become gangs.
func TestInstancesOfClusterFiles(t *testing.T) {
	for format, c := range map[string]struct{ text, gangs string }{
		"sacct": {sacctText, "[1g.10gb+1g.10gb any]"},
		"pods":  {podsText, "[2g.20gb+1g.10gb any 1g.10gb+1g.10gb any 1g.10gb+me any]"},
	} {
		jobs, _, err := traces.Read(strings.NewReader(c.text), "f", format, traces.Options{})
		if err != nil {
			t.Fatal(err)
		}
		requests, rejected := traces.Requests(mig.MustLookup("H100"), traces.Compute, 1, jobs)
		var gangs []string
		for _, q := range requests {
			if q.Gang != nil {
				gangs = append(gangs, q.Gang.String(), q.Gang.Where())
			}
		}
		if len(requests) != len(jobs) || rejected != nil || fmt.Sprint(gangs) != c.gangs ||
			!slices.ContainsFunc(requests, func(q task.Request) bool { return q.GPUs == 2 && q.Gang == nil }) {
			t.Errorf("%s: %v, %v; want the gangs %s", format, gangs, rejected, c.gangs)
		}
	}
	jobs := []traces.Job{{GPUs: 2000, Milli: traces.WholeGPU, Profile: "1g.10gb", Lifetime: 1, Line: 7}}
	if _, rejected := traces.Requests(mig.MustLookup("H100"), traces.Compute, 1, jobs); len(rejected) != 1 || rejected[0].Reason != "asks for 2000 instances; ask for 1 to 1024" {
		t.Errorf("%v", rejected)
	}
}

func TestModelsAndUnits(t *testing.T) {
	jobs := []traces.Job{{Model: "T4"}, {}, {Model: "A10|T4", Lifetime: 1}, {Model: "T4", Lifetime: 2, Submit: 1}}
	if got := traces.OtherModels(mig.MustLookup("A100"), jobs); !strings.Contains(got, ": A10|T4 (1), T4 (2). ") {
		t.Error(got)
	}
	for name, model := range map[string]string{"nvidia_h100_80gb_hbm3": "H100", "NVIDIA-H100-80GB-HBM3": "H100", "h100": "H100", "nvidia_a100-sxm4-40gb": "A100"} {
		one := []traces.Job{{Model: name}}
		if traces.OtherModels(mig.MustLookup(model), one) != "" || traces.OtherModels(mig.MustLookup("A100-80GB"), one) == "" {
			t.Error(name)
		}
	}
	for text, want := range map[string]string{
		"0,5 9,5 100,60": "", "0,5 100,101": "1 of 2 jobs run for longer than the 100 s from the first submission to the last",
		"0,.5 1,.9 100,60": "2 of 3 jobs run for less than a second", "": "",
	} {
		jobs := []traces.Job{}
		for _, word := range strings.Fields(text) {
			var j traces.Job
			if _, err := fmt.Sscanf(word, "%g,%g", &j.Submit, &j.Lifetime); err != nil {
				t.Fatal(err)
			}
			jobs = append(jobs, j)
		}
		if got := traces.DoubtUnit(jobs); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestReasons(t *testing.T) {
	got := traces.Reasons([]traces.Rejected{{Line: 9, Reason: "b"}, {Line: 3, Reason: "a"}, {Line: 7, Reason: "b"}, {Line: 4, Reason: "c"}})
	want := []traces.Reason{{Text: "b", Rows: 2, Line: 7}, {Text: "a", Rows: 1, Line: 3}, {Text: "c", Rows: 1, Line: 4}}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// fuzzFormat checks that the reader of a format neither fails to say why it rejects a row nor makes an impossible job.
func fuzzFormat(f *testing.F, format, text string) {
	f.Add(text, false)
	f.Add(text, true)
	f.Fuzz(func(t *testing.T, text string, snapshot bool) {
		jobs, rejected, err := traces.Read(strings.NewReader(text), "f", format, traces.Options{Snapshot: snapshot, Pending: snapshot})
		last := 1 + strings.Count(text, "\n")
		for _, r := range rejected {
			if r.Line < 1 || r.Line > last || r.Reason == "" {
				t.Fatalf("rejected %+v of %d lines", r, last)
			}
		}
		if err != nil {
			return
		}
		if format != "pods" { // each line that is no comment is in one of the lists
			rows := 0
			for line := range strings.SplitSeq(text, "\n") {
				comment := strings.HasPrefix(strings.TrimLeft(line, " \r"), "#")
				if comment && strings.Contains(line, "Submit") {
					return // this may be the header
				}
				if !comment && strings.TrimSpace(line) != "" {
					rows++
				}
			}
			if format == "sacct" {
				rows-- // the header
			}
			if len(jobs)+len(rejected) != rows {
				t.Fatalf("%d jobs and %d rejected of %d rows", len(jobs), len(rejected), rows)
			}
		}
		for _, j := range jobs {
			if j.GPUs < 1 || j.Milli < 1 || j.Milli > traces.WholeGPU || !(j.Lifetime >= 0) || j.Line < 1 || j.Line > last {
				t.Fatalf("%+v", j)
			}
		}
	})
}

func FuzzSacct(f *testing.F) { fuzzFormat(f, "sacct", sacctText) }
func FuzzPods(f *testing.F)  { fuzzFormat(f, "pods", podsText) }
