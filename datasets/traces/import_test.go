package traces_test

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/datasets/traces"
	"miglab/harness/mig"
	"miglab/harness/task"
)

var a100 = mig.MustLookup("A100-80GB")

func Example() {
	const trace = "submit_s,lifetime_s,gpus,gpu_milli\n" +
		"100,50,1,230\n" +
		"160,5,2,1000\n" +
		"170,never,1,500\n"
	jobs, rejected, err := traces.Read(strings.NewReader(trace), "trace.csv", "csv", traces.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	requests, _ := traces.Requests(a100, traces.Compute, 10, jobs)
	_ = task.WriteRequests(os.Stdout, requests)
	for _, r := range rejected {
		fmt.Printf("line %d: %s\n", r.Line, r.Reason)
	}
	// Output:
	// arrival_slot,lifespan,profile,gpus
	// 0,5,2g.20gb,0
	// 6,1,7g.80gb,2
	// line 4: lifetime_s is "never"; write a number; instants of the end are the column end_s
}

//go:embed testdata
var testdata embed.FS

func textOf(name string) string {
	text, err := testdata.ReadFile("testdata/" + name)
	if err != nil {
		panic(err)
	}
	return string(text)
}

var openbText, heliosText, phillyText = textOf("openb.csv"), textOf("helios.csv"), textOf("philly.json")

// The columns of the files of cluster-trace-gpu-v2023 and HeliosData that jobs have.
var (
	openb  = map[string]string{"submit_s": "creation_time", "end_s": "deletion_time", "gpus": "num_gpu"}
	helios = map[string]string{"submit_s": "submit_time", "start_s": "start_time", "end_s": "end_time", "gpus": "gpu_num"}
)

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		format, text string
		options      traces.Options
		jobs         string // submission after the first, lifetime, GPUs, share and line of each
		rejected     []string
	}{
		{
			"csv", openbText,
			traces.Options{Columns: openb},
			"0 60 1 220 3; 2 58 1 220 5; 5 5 1 220 11; 10 10 8 1000 2",
			[]string{
				"4: asks for no GPU", "6: has a lifetime of -1 s; it must end after it was submitted",
				`7: gpu_milli is "0.22"; write a whole number`, `8: gpu_milli is "2200"; write a whole number of thousandths`,
				"9: the line has 2 fields, the header 11", "10: the quotes are not closed or not doubled; a line holds one row",
			},
		},
		{
			"csv", heliosText,
			traces.Options{Columns: helios},
			"0 249 4 1000 2",
			[]string{`3: start_time is ""; write a number or an instant`, `4: start_time is ""`, `5: start_time is ""`},
		},
		{
			"philly", phillyText,
			traces.Options{},
			"0 10 1 1000 7; 39 3674 2 1000 2",
			[]string{
				"4: has no attempts: it was never started", "5: has an attempt without start_time or end_time, so that its lifetime is not known",
				"6: json: cannot unmarshal number into Go struct field phillyJob.attempts of type []struct",
			},
		},
		{
			"csv", "submit_s,lifetime_s,gpu_milli\n0,5,500\n1,5,\n",
			traces.Options{},
			"0 5 1 500 2",
			[]string{`3: gpu_milli is ""; write a whole number`},
		},
		{
			"csv", "lifetime_s,t,n\n1000,7000,2\n500,6000,\n-1,6000,1\n1e300,6000,1\n",
			traces.Options{Columns: map[string]string{"submit_s": "t", "gpus": "n"}, Unit: 0.001},
			"0 0.5 1 1000 3; 1 1 2 1000 2",
			[]string{"4: has a lifetime of -0.001 s; it must end after it was submitted", "5: has a lifetime of 1e+297 s, more than 100 years; is the unit right?"},
		},
	} {
		jobs, rejected, err := traces.Read(strings.NewReader(c.text), "f", c.format, c.options)
		if err != nil {
			t.Errorf("%s: %v", c.format, err)
			continue
		}
		var got []string
		for _, j := range jobs {
			got = append(got, fmt.Sprint(j.Submit-jobs[0].Submit, j.Lifetime, j.GPUs, j.Milli, j.Line))
		}
		if strings.Join(got, "; ") != c.jobs {
			t.Errorf("%s: jobs %q, want %q", c.format, got, c.jobs)
		}
		if len(rejected) != len(c.rejected) {
			t.Errorf("%s: rejected %v, want %q", c.format, rejected, c.rejected)
			continue
		}
		for i, r := range rejected {
			if line := fmt.Sprintf("%d: %s", r.Line, r.Reason); !strings.HasPrefix(line, c.rejected[i]) {
				t.Errorf("%s: %q, want %q", c.format, line, c.rejected[i])
			}
		}
	}
}

// TestFilesThatCannotBeRead has what is wrong with a whole file, which is an error and no list of
// rejected rows.
func TestFilesThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ format, text, want string }{
		{"csv", "", "f:1: the file is empty; begin with a header that has submit_s,lifetime_s"},
		{"csv", "submit_s,life\n1,2\n", "f:1: lifetime_s or end_s: the column is missing; the header is submit_s,life; for a column of another name, say --columns submit_s=THAT; miglab advise --snapshot needs no times"},
		{"csv", "submit_s,lifetime_s,submit_s\n", "f:1: submit_s: the column is there twice"},
		{"csv", "submit_s,lifetime_s\n1,2\n1,\x00\n", "there is a NUL byte"},
		{"philly", `{"a":1}`, "there is no array"},
		{"philly", phillyText[:len(phillyText)-40], "what follows was not read"},
		{"philly", phillyText[:len(phillyText)-3], "what follows was not read"},
		{"philli", "", `unknown format`},
	} {
		if _, _, err := traces.Read(strings.NewReader(c.text), "f", c.format, traces.Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.format, c.text, err, c.want)
		}
	}
}

// TestSharesHaveAUnit imports logs that say shares in other units and looks at the profiles that come out.
func TestSharesHaveAUnit(t *testing.T) {
	const percent = "submit_s,lifetime_s,gpus,gpu_milli\n0,9,1,14\n1,9,1,50\n2,9,1,100\n3,9,2,100\n"
	const mixed = "submit_s,lifetime_s,gpu_milli\n0,9,25\n1,9,100\n2,9,800\n3,9,150\n"
	const several = "submit_s,lifetime_s,gpus,gpu_milli\n5,4,1,50\n6,3,8,1000\n"
	for _, c := range []struct {
		format, text, unit string
		want               string // the profiles, or the error
	}{
		{"csv", percent, "", "f: no job with one GPU has a share above 100, or only whole hundreds: are shares percent or thousandths? Say --share-unit percent or thousandths"},
		{"csv", percent, traces.Percent, "1g.10gb 4g.40gb 7g.80gb 7g.80gbx2"},
		{"csv", percent, traces.Thousandths, "1g.10gb 1g.10gb 1g.10gb 7g.80gbx2"},
		{"csv", strings.ReplaceAll(percent, ",14\n", ",140\n"), "", "1g.10gb 1g.10gb 1g.10gb 7g.80gbx2"},
		{"csv", strings.ReplaceAll(percent, ",14\n", ",\n"), "", "share above 100"}, // no share is a whole GPU
		{"csv", "submit_s,lifetime_s,gpus\n0,9,1\n1,9,100\n", "", "7g.80gb 7g.80gbx100"},
		{"csv", "submit_s,lifetime_s,gpu_milli\n0,9,0.142857\n1,9,.5\n2,9,1\n3,9,1.1\n4,9,0\n", traces.Fraction, "1g.10gb 4g.40gb 7g.80gb"},
		{"csv", "submit_s,lifetime_s,gpu_milli\n0,9,0.5\n1,9,1\n", "", "share above 100"},
		{"csv", "submit_s,lifetime_s,gpu_milli\n0,9,33.3\n1,9,101\n", traces.Percent, "3g.40gb"},
		{"csv", mixed, traces.Percent, "2g.20gb 7g.80gb 7g.80gbx8"}, // whole GPUs in the same column; 150 % are neither
		{"csv", strings.ReplaceAll(mixed, "150", "200"), "", "share above 100, or only whole hundreds"},
		{"csv", "submit_s,lifetime_s,gpu_milli\n0,9,0.25\n1,9,1.0\n2,9,3\n3,9,1.5\n", traces.Fraction, "2g.20gb 7g.80gb 7g.80gbx3"},
		{"csv", "submit_s,lifetime_s,gpu_milli\n0,9,250\n1,9,2000\n2,9,1001\n", "", "2g.20gb 7g.80gbx2"},
		{"csv", "submit_s,lifetime_s,gpus,gpu_milli\n0,9,1.0,500.0\n1,9,2.00,1000\n2,9,1.5,1000\n3,9,1,2000\n", "", "4g.40gb 7g.80gbx2"},
		{"csv", several, "", "no job with one GPU has a share above 100"},
		{"csv", several, traces.Percent, "4g.40gb"},
		{"csv", several, traces.Thousandths, "1g.10gb 7g.80gbx8"},
		{"philly", phillyText, traces.Percent, "f: the format philly has whole GPUs"},
		{"csv", percent, "percents", `unknown unit of shares "percents"; did you mean "percent"`},
	} {
		jobs, _, err := traces.Read(strings.NewReader(c.text), "f", c.format, traces.Options{ShareUnit: c.unit})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %q, %q: %v, want %q", c.format, c.text, c.unit, err, c.want)
			}
			continue
		}
		requests, _ := traces.Requests(a100, traces.Compute, 1, jobs)
		var got []string
		for _, r := range requests {
			name := r.Profile.String()
			if r.GPUs > 1 {
				name += fmt.Sprint("x", r.GPUs)
			}
			got = append(got, name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %q, %q: profiles %q, want %q", c.format, c.text, c.unit, got, c.want)
		}
	}
}

// TestTimestamps reads instants as RFC 3339 has them wherever an instant is expected. They have
// no origin in common with seconds, so that a file has one kind of them.
func TestTimestamps(t *testing.T) {
	for _, c := range []struct {
		format, text string
		want         string // arrival and lifespan of each request in slots of a second
		rejected     string
	}{
		{"csv", "submit_s,lifetime_s\n2020-06-09T18:41:01Z,5\n2020-06-09T20:41:03.5+02:00,6\n2020-06-09 18:41:11,7\n", "0 5; 2 6; 10 7", ""},
		{"csv", "submit_s,lifetime_s\n10,5\n2020-06-09T18:41:01Z,5\n12,5\n", "0 5; 2 5", `submit_s is "2020-06-09T18:41:01Z"; write a number, as the times before it`},
		{"csv", "submit_s,lifetime_s\n2020-06-09T18:41:01Z,5\n12,5\n", "0 5", `submit_s is "12"; write an instant since 2000 such as 2020-06-09T18:41:01Z, as the times before it`},
		{"csv", "submit_s,lifetime_s\n2020-06-09 18:41:01+00:00,5\n2020-06-09 20:41:03 +02:00,6\n2020-06-09T18:41:04.25,7\n2020-06-09 18:41:05 +0000,7\n2020-06-09 20:41:06+02,7\n", "0 5; 2 6; 3 7; 4 7; 5 7", ""},
		{"csv", "submit_s,end_s\n2020-06-09 18:41:01,2020-06-09 18:42:01\n2020-06-09 18:41:02,50\n2020-06-09 18:41:03,2020-06-09 18:41:02\n", "0 60", `3: end_s is "50"; write an instant`},
		{"csv", "submit_s,start_s,end_s\n10,15,25\n11,15,16\n", "0 10; 1 1", ""}, // the wait is no lifetime
		{"csv", "submit_s,lifetime_s\n2020-06-09 18:41:01,2020-06-09 18:42:01\n", "", "instants of the end are the column end_s"},
		{"csv", "submit_s,lifetime_s\nyesterday,5\n12,5\n", "0 5", `submit_s is "yesterday"; write a number or an instant since 2000 such as 2020-06-09T18:41:01Z`},
		{"csv", "submit_s,lifetime_s\n2020-06-09T18:41:01Z,5\n1970-01-01 00:00:00,5\n", "0 5", `submit_s is "1970-01-01 00:00:00"; write a number or an instant since 2000`},
		{"philly", strings.ReplaceAll(phillyText, "2017-10-07 01:12:19", "2017-10-07T03:12:39+02:00"), "0 30; 39 3674", "4: has no attempts"},
	} {
		jobs, rejected, err := traces.Read(strings.NewReader(c.text), "f", c.format, traces.Options{})
		if err != nil {
			t.Errorf("%s %q: %v", c.format, c.text, err)
			continue
		}
		requests, _ := traces.Requests(a100, traces.Compute, 1, jobs)
		var got []string
		for _, r := range requests {
			got = append(got, fmt.Sprint(r.Arrival, r.Lifespan))
		}
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s %q: %q, want %q", c.format, c.text, got, c.want)
		}
		reason := ""
		if len(rejected) > 0 {
			reason = fmt.Sprintf("%d: %s", rejected[0].Line, rejected[0].Reason)
		}
		if !strings.Contains(reason, c.rejected) || c.rejected == "" && reason != "" {
			t.Errorf("%s %q: rejected %q, want %q", c.format, c.text, reason, c.rejected)
		}
	}
}

// TestCommentsAndSeparators reads files as spreadsheets and other programs write them.
func TestCommentsAndSeparators(t *testing.T) {
	const sacct = "JobIDRaw|Submit|State|ElapsedRaw|ReqTRES|AllocTRES\n# moved\n1|2026-11-01T12:30|COMPLETED|60|gres/gpu=2|\n2|2026-11-01T12:31:00|COMPLETED|60|cpu=1,gres/gpu=\"2|cpu=1,gres/gpu=1\n"
	for _, c := range []struct{ format, text, want string }{
		{"csv", "# by hand\nsubmit_s,lifetime_s,gpus\n0,9,2\n# maintenance, of a day\n  #5,9,1\n7,9,1\n", "0 9 2; 7 9 1"},
		{"csv", "#submit_s,lifetime_s\n0,9\n", "missing"},
		{"csv", "submit_s,lifetime_s,#gpus\n0,9,2\n", "0 9 1"},
		{"csv", "#id,submit_s,lifetime_s\n1,0,9\n#2,7,9\n", "0 9 1; 7 9 1"},
		{"csv", "submit_s;lifetime_s;gpus\r\n0;9;\"2\"\r\n\r\n7;9;\r\n", "0 9 2; 7 9 1"},
		{"csv", "gpus\tsubmit_s\tlifetime_s\tprofile\n2\t0\t9\t\n\t\t\t\n\t7\t9\t1g.10gb\n", "0 9 2; 7 9 1"},
		{"csv", "submit_s | lifetime_s\n0 | 9\n", "0 9 1"},
		{"csv", "submit_s,end_s\n2026-11-01T12:30,2026-11-01 12:31\n2026-11-01 12:30Z,2026-11-01T13:31:30+01:00\n2026-11-01T12:30+00:00,2026-11-01T12:30:01\n", "0 60 1; 0 90 1; 0 1 1"},
		{"sacct", sacct, "0 60 2; 60 60 1"},
		{"sacct", strings.ReplaceAll(sacct, "|", ";"), "0 60 2; 60 60 1"},
		{"sacct", strings.ReplaceAll(sacct, "|", "\t"), "0 60 2; 60 60 1"},
	} {
		jobs, rejected, err := traces.Read(strings.NewReader(c.text), "f", c.format, traces.Options{})
		var got []string
		for _, j := range jobs {
			got = append(got, fmt.Sprint(j.Submit-jobs[0].Submit, j.Lifetime, j.GPUs))
		}
		if err != nil && strings.Contains(err.Error(), c.want) {
			continue
		}
		if err != nil || len(rejected) > 0 || strings.Join(got, "; ") != c.want {
			t.Errorf("%s %q: %q, rejected %v, %v; want %q", c.format, c.text, got, rejected, err, c.want)
		}
	}
}

// TestEveryRowCounts mixes rows that are right with others, and finds every line in one of the two
// lists.
func TestEveryRowCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(rapid.SampledFrom([]string{"1,2,1,500", "0,1,4,1000", `"3",4,1,1`, "1,2", `"1,2,3`, "a,2,1,5", "1,2,0,5", "1,2,1,5000", "1,-2,1,5", `a"b,1,1,1`})).Draw(t, "rows")
		text := "submit_s,lifetime_s,gpus,gpu_milli\n" + strings.Join(rows, "\n")
		jobs, rejected, err := traces.Read(strings.NewReader(text), "f", "csv", traces.Options{ShareUnit: traces.Thousandths})
		if err != nil {
			t.Fatal(err)
		}
		seen := make([]int, len(rows))
		for _, j := range jobs {
			seen[j.Line-2]++
		}
		for _, r := range rejected {
			seen[r.Line-2]++
		}
		for i, n := range seen {
			good := strings.Count(rows[i], ",") == 3 && i >= 0 && (rows[i] == "1,2,1,500" || rows[i] == "0,1,4,1000" || strings.HasPrefix(rows[i], `"3"`))
			if n != 1 {
				t.Fatalf("line %d, %q, is in %d lists", i+2, rows[i], n)
			}
			for _, j := range jobs {
				if j.Line == i+2 && !good {
					t.Fatalf("%q became %+v", rows[i], j)
				}
			}
		}
	})
}

// TestJobsFollowTheLaw compares durations with the assumed law.
func TestJobsFollowTheLaw(t *testing.T) {
	jobs := []traces.Job{{Submit: 60, Lifetime: 600, GPUs: 1, Milli: 286}, {Submit: 120, Lifetime: 60, GPUs: 2, Milli: 1000}, {Submit: 180, Lifetime: 0, GPUs: 1, Milli: 1}}
	out, rejected := traces.Jobs(a100, traces.Compute, traces.Law{Alpha: 1, Slack: 3}, jobs)
	if len(out) != 1 || len(rejected) != 2 || !strings.Contains(rejected[0].Reason, "needs 2 GPUs") || !strings.Contains(rejected[1].Reason, "durations are positive") {
		t.Fatalf("%+v, rejected %+v", out, rejected)
	}
	j := out[0]
	for size, want := range map[mig.Slices]task.Minutes{1: 30, 2: 15, 3: 10, 4: 7.5, 7: 30. / 7} {
		if math.Abs(float64(j.On(size)-want)) > 1e-9 {
			t.Errorf("%v min on %d slices, want %v", j.On(size), size, want)
		}
	}
	if j.Arrival != 0 || j.Deadline != 30 {
		t.Errorf("from %v to %v", j.Arrival, j.Deadline)
	}
	if same, _ := traces.Jobs(a100, traces.Compute, traces.Law{Slack: 3}, jobs); same[0].On(1) != 10 || same[0].On(7) != 10 {
		t.Errorf("with alpha 0 the durations differ: %+v", same[0])
	}
}

func FuzzRead(f *testing.F) {
	f.Add("philly", phillyText)
	f.Add("csv", "submit_s,lifetime_s\n1,2\n")
	f.Add("csv", "submit_s,start_s,end_s,gpu_milli\n1,2,3,2000\n")
	f.Add("sacct", sacctText)
	f.Add("pods", podsText)
	f.Fuzz(func(t *testing.T, format, text string) {
		jobs, rejected, err := traces.Read(strings.NewReader(text), "f", format, traces.Options{})
		last := 1 + strings.Count(text, "\n")
		for _, r := range rejected {
			if r.Line < 1 || r.Line > last || r.Reason == "" {
				t.Fatalf("rejected %+v of %d lines", r, last)
			}
		}
		if err != nil || len(jobs) == 0 {
			return
		}
		requests, more := traces.Requests(a100, traces.Memory, 1, jobs)
		if len(requests)+len(more) != len(jobs) {
			t.Fatalf("%d jobs became %d requests, %d rejected", len(jobs), len(requests), len(more))
		}
		var w bytes.Buffer
		if err := task.WriteRequests(&w, requests); err != nil {
			t.Fatal(err)
		}
		if len(requests) == 0 {
			return
		}
		back, err := task.ReadRequests(&w, "f", a100, task.Requests{})
		if err != nil || len(back.Requests) != len(requests) {
			t.Fatalf("%d requests are read back as %d: %v", len(requests), len(back.Requests), err)
		}
	})
}

// TestMIGBenchErrors: each has its line once, and no number is too large.
func TestMIGBenchErrors(t *testing.T) {
	const good = `{"jobID":"a","format":"resource-bound-v2","arrivalMS":0,"computeCoreMS":100,"memoryMB":10}`
	for row, want := range map[string]string{
		`{"jobID":1}`: `f:2: jobID: `,
		`{"jobID":"b","format":"resource-bound-v2","arrivalMS":0,"computeCoreMS":9223372036854775807,"memoryMB":10}`: `f:2: job "b": 92233720368547759 is not work`,
		`{"jobID":"b","format":"resource-bound-v2","arrivalMS":4294967296,"computeCoreMS":1,"memoryMB":10}`:          `f:2: job "b": 4294967296 is not a slot`,
		strings.Repeat(" ", 1<<20) + "{":            "f:2: the line is longer than 1048576 bytes",
		strings.Repeat(" ", 1<<17) + "{":            "f:2: the text is incomplete",
		`{"jobID":"b","format":"profile-bound-v1"}`: `f:2: the format is "profile-bound-v1"`,
	} {
		_, err := traces.ReadMIGBench(strings.NewReader(good+"\n"+row), "f")
		if _, ok := errors.AsType[*task.ParseError](err); !ok || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "line 1") {
			t.Errorf("%.200v, want %s", err, want)
		}
	}
}

func FuzzReadMIGBench(f *testing.F) {
	f.Add(`{"jobID":"a","format":"resource-bound-v2","arrivalMS":0,"computeCoreMS":101,"memoryMB":10240}`)
	f.Add(`{"jobID":"a","format":"resource-bound-v2","arrivalMS":4294967295,"computeCoreMS":429496729501,"memoryMB":81920}`)
	f.Fuzz(func(t *testing.T, text string) {
		requests, err := traces.ReadMIGBench(strings.NewReader(text), "f")
		if err != nil || len(requests) == 0 {
			return
		}
		var w bytes.Buffer
		if err := task.WriteRequests(&w, requests); err != nil {
			t.Fatal(err)
		}
		back, err := task.ReadRequests(&w, "f", a100, task.Requests{})
		if err != nil && !strings.Contains(err.Error(), "more than any profile of A100-80GB has") {
			t.Fatal(err)
		}
		for i, q := range back.Requests {
			if q.Arrival != requests[i].Arrival || q.Work != requests[i].Work || q.MemoryMB != requests[i].MemoryMB {
				t.Fatalf("%+v is read back as %+v", requests[i], q)
			}
		}
	})
}

// A job keeps its instance in every slot that it touches: submissions are rounded down, lifetimes up.
func TestSlotsCoverTheJob(t *testing.T) {
	jobs := []traces.Job{
		{Submit: 100, Lifetime: 61, GPUs: 1, Milli: 1000, Line: 2},
		{Submit: 159.9, Lifetime: 60, GPUs: 1, Milli: 1000, Line: 3},
		{Submit: 160, Lifetime: 0.5, GPUs: 1, Milli: 1000, Line: 4},
	}
	requests, rejected := traces.Requests(a100, traces.Compute, 60, jobs)
	if len(rejected) > 0 || len(requests) != len(jobs) {
		t.Fatalf("%d requests of %d jobs, rejected %v", len(requests), len(jobs), rejected)
	}
	for i, want := range [][2]int{{0, 2}, {0, 1}, {1, 1}} {
		if got := [2]int{requests[i].Arrival, requests[i].Lifespan}; got != want {
			t.Errorf("job %d: arrival and lifespan %v, want %v", i, got, want)
		}
	}
}

// A file may name profiles in place of shares. A profile that the GPU lacks is rejected with the nearest one.
func TestProfilesOfAFile(t *testing.T) {
	const text = "submit_s,lifetime_s,kind\n0,5,1g.10gb\n1,5,3g.41gb\n2,5,\n3,5,7G.80Gb\n"
	jobs, rejected, err := traces.Read(strings.NewReader(text), "f", "csv", traces.Options{Columns: map[string]string{"profile": "kind"}})
	if err != nil || len(rejected) != 1 || rejected[0] != (traces.Rejected{Line: 4, Reason: "asks for no GPU", Part: traces.NoJob}) {
		t.Fatalf("%v, %v", rejected, err)
	}
	requests, rejected := traces.Requests(mig.MustLookup("H100"), traces.Compute, 1, jobs)
	if len(requests) != 2 || requests[0].Profile.String() != "1g.10gb" || requests[1].Profile.String() != "7g.80gb" {
		t.Errorf("requests %v", requests)
	}
	if len(rejected) != 1 || rejected[0].Line != 3 || !strings.Contains(rejected[0].Reason, `unknown profile of H100 "3g.41gb"; did you mean "3g.40gb"?`) {
		t.Errorf("rejected %v", rejected)
	}
}
