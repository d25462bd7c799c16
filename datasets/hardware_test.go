package datasets

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"

	"miglab/harness/mig"
)

// Valid files, one of each kind. The times are made up.
const (
	kernelsFile = "gpu,gpu_name,driver,source,date,suite,kernel,size,mean_seconds,std_seconds,runs\n" +
		"A30,NVIDIA A30,1.2,mig,2026-11-21,S,a,1,4,0.1,10\n" +
		"A30,NVIDIA A30,1.2,mig,2026-11-21,S,a,2,2,0.1,10\n" +
		"A30,NVIDIA A30,1.2,mig,2026-11-22,S,a,4,1,0,1\n" +
		"A30,NVIDIA A30,1.2,mig,2026-11-22,S,b,1,inf,0,0\n" +
		"A30,NVIDIA A30,1.2,mig,2026-11-22,S,b,2,6,0.1,10\n" +
		"A30,NVIDIA A30,1.2,mig,2026-11-22,S,b,4,5,0.1,10\n"
	reconfigurationFile = "gpu,gpu_name,driver,source,date,partition,size,operation,threads,runs,mean_seconds,std_seconds,min_seconds,max_seconds,total_seconds,attempts\n" +
		"A100,\"NVIDIA A100, 40GB\",1.2,mig,2026-11-21,1,1,create,1,10,0.16,0.001,0.15,0.17,0.16,1\n" +
		"A100,\"NVIDIA A100, 40GB\",1.2,mig,2026-11-21,4-2-1,1,create,3,10,0.6,0.001,0.5,0.7,1.1,1\n" +
		"A100,\"NVIDIA A100, 40GB\",1.2,mig,2026-11-21,1,1,destroy,1,1,0.2,0,0.2,0.2,0.2,2.5\n"
	isolationFile = "gpu,gpu_name,driver,source,date,kernel,size,beside,runs,median_seconds,difference_percent,timed\n" +
		"H100,NVIDIA H100,1.2,mig,2026-11-21,a,3,b:4@0,10,2.02,1,process\n" +
		"H100,NVIDIA H100,1.2,mig,2026-11-21,a,3,,10,2,0,process\n" +
		"H100,NVIDIA H100,1.2,mig,2026-11-21,a,3,b:2@0 c:1@2,10,1.98,-1,process\n"
	executionFile = "gpu,gpu_name,driver,source,date,algorithm,task,device,size,slice,simulated_start_s,simulated_end_s,real_start_s,real_end_s,deviation_percent\n" +
		"A30,NVIDIA A30,1.2,mig,2026-11-21,far,a#1,0,2,2,0.1,10,0,10.1,0.99\n" +
		"A30,NVIDIA A30,1.2,mig,2026-11-21,far,a#2,1,4,0,0,8,0.5,8,0\n"
	overlapFile = "gpu,gpu_name,driver,source,date,gpu_uuid,group,job,kernel,sms,gpu_sms,run,iterations,window_s,iteration_s,overlap,samples,sm_clock_min_mhz,sm_clock_mean_mhz,sm_clock_max_mhz,power_mean_w,power_max_w,temperature_max_c,throttle\n" +
		"H200,NVIDIA H200,1.2,sm-partition,2026-11-21,u,a:8,1,a,8,132,1,10,1,0.1,1,3,1700,1755.5,1980,600,690.5,61,power-cap\n"
)

var hardwareFilesOf = map[string]string{
	"kernels": kernelsFile, "reconfiguration": reconfigurationFile, "isolation": isolationFile, "execution": executionFile,
	"overlap": overlapFile,
}

const (
	loadColumns = ",samples,sm_clock_min_mhz,sm_clock_mean_mhz,sm_clock_max_mhz,power_mean_w,power_max_w,temperature_max_c,throttle"
	loadValues  = ",3,1700,1755.5,1980,600,690.5,61,power-cap"
)

var loadOfRows = Load{3, 1700, 1755.5, 1980, 600, 690.5, 61, "power-cap"}

// folder is a folder of files, by name.
func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// loaded is a folder of files like those above: those of the kinds that have samples get them.
func loaded(files map[string]string) fstest.MapFS {
	out := folder(files)
	for name, file := range out {
		if strings.HasSuffix(name, ".reconfiguration.csv") || strings.HasSuffix(name, ".isolation.csv") {
			head, rows, _ := strings.Cut(string(file.Data), "\n")
			file.Data = []byte(head + loadColumns + "\n" + regexp.MustCompile(`(?m)([^\n])$`).ReplaceAllString(rows, "${1}"+loadValues))
		}
	}
	return out
}

func TestReadHardware(t *testing.T) {
	h, err := ReadHardware(loaded(map[string]string{
		"README.md":                 "not a table",
		"a.kernels.csv":             kernelsFile,
		"new.isolation.csv":         strings.ReplaceAll(isolationFile, "2026-11-21", "2027-01-02"),
		"old.isolation.csv":         isolationFile,
		"z-1_B.isolation.csv":       isolationFile,
		"crlf.execution.csv":        strings.ReplaceAll(executionFile, "\n", "\r\n"),
		"a.reconfiguration.csv":     reconfigurationFile,
		"blank.reconfiguration.csv": strings.ReplaceAll(reconfigurationFile, "\n", "\n\n"),
	}))
	if err != nil {
		t.Fatal(err)
	}
	var isolation []string
	for _, table := range h.Isolation {
		isolation = append(isolation, table.File+" "+table.Date+" "+table.Source)
	}
	if want := []string{"old 2026-11-21 mig", "z-1_B 2026-11-21 mig", "new 2027-01-02 mig"}; !slices.Equal(isolation, want) {
		t.Errorf("tables of isolation %q, want %q, by date and then by file", isolation, want)
	}
	p := Provenance{"A100", "NVIDIA A100, 40GB", "1.2", "mig", "2026-11-21"}
	if got, want := h.Reconfiguration[0].Rows[1], (ReconfigurationTime{p, "4-2-1", 1, "create", 3, 10, 0.6, 0.001, 0.5, 0.7, 1.1, 1, loadOfRows}); got != want || h.Reconfiguration[0].Provenance != p {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := h.Reconfiguration[1].Rows; !slices.Equal(got, h.Reconfiguration[0].Rows) {
		t.Errorf("with blank lines: %+v", got)
	}
	p = Provenance{"A30", "NVIDIA A30", "1.2", "mig", "2026-11-21"}
	if got, want := h.Execution[0].Rows[0], (ExecutionTime{p, "far", "a#1", 0, 2, 2, 0.1, 10, 0, 10.1, 0.99}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if rows := h.Kernels[0].Rows; len(rows) != 6 || !math.IsInf(float64(rows[3].Mean), 1) || rows[2].Date != "2026-11-22" {
		t.Errorf("kernels %+v", rows)
	}
	if h, err := ReadHardware(folder(nil)); err != nil || !reflect.DeepEqual(h, HardwareSet{}) {
		t.Errorf("an empty folder: %+v, %v", h, err)
	}
}

// Files of these kinds have the conditions of the runs.
func TestConditionsOfHardware(t *testing.T) {
	for kind, load := range map[string]func(HardwareSet) Load{
		"reconfiguration": func(h HardwareSet) Load { return h.Reconfiguration[0].Rows[2].Load },
		"isolation":       func(h HardwareSet) Load { return h.Isolation[0].Rows[2].Load },
	} {
		file := "x." + kind + ".csv"
		good := loaded(map[string]string{file: hardwareFilesOf[kind]})
		if h, err := ReadHardware(good); err != nil || load(h) != loadOfRows {
			t.Errorf("%s: %v", kind, err)
		}
		_, err := ReadHardware(folder(map[string]string{file: hardwareFilesOf[kind]}))
		if err == nil || !strings.Contains(err.Error(), ":1: the header is") || !strings.Contains(err.Error(), "throttle") {
			t.Errorf("%s without the columns: %v", kind, err)
		}
		_, err = ReadHardware(folder(map[string]string{file: strings.Replace(string(good[file].Data), "1980", "1600", 1)}))
		if err == nil || !strings.Contains(err.Error(), ":2: 3 samples, clocks from 1700 to 1600 MHz") {
			t.Errorf("%s with wrong clocks: %v", kind, err)
		}
	}
}

func TestBadHardware(t *testing.T) {
	for _, c := range []struct{ kind, old, replacement, message string }{
		// Shape.
		{"kernels", kernelsFile, "", `x.kernels.csv:1: the file is empty`},
		{"kernels", kernelsFile[strings.Index(kernelsFile, "\n"):], "", `x.kernels.csv:1: there are no rows`},
		{"kernels", "gpu,gpu_name", "gpu_name,gpu", `x.kernels.csv:1: the header is "gpu_name,gpu,`},
		{"kernels", ",runs\n", "\n", `:1: the header is`},
		{"kernels", ",runs\n", ",runs,more\n", `:1: the header is`},
		{"kernels", ",a,1,4,0.1,10", ",a,1,4,0.1", `:2: the line has 10 fields`},
		{"kernels", ",a,1,", ",\"a,1,", `:2: extraneous or missing " in quoted-field`},
		// Cells.
		{"kernels", ",a,1,", ",,1,", `:2: kernel: must not be empty`},
		{"kernels", ",a,1,", ",a ,1,", `:2: kernel: "a " must have no control characters`},
		{"kernels", "0.1,10\nA30,NVIDIA A30,1.2,mig,2026-11-21,S,a,2", "0.1,10.5\nA30,NVIDIA A30,1.2,mig,2026-11-21,S,a,2", `:2: runs: "10.5" is not a whole number`},
		{"execution", "a#1,0,", "a#1,00,", `:2: device: "00" is not a whole number`},
		{"execution", "a#1,0,", "a#1,,", `:2: device: "" is not a whole number`},
		{"execution", "0.5,8,0\n", ",8,0\n", `:3: real_start_s: "" is not a number`},
		// Provenance.
		{"kernels", "A30,NVIDIA A30,1.2,mig,2026-11-21,S,a,1", "A31,NVIDIA A30,1.2,mig,2026-11-21,S,a,1", `:2: unknown GPU "A31"; did you mean "A30"?`},
		{"kernels", "A30,NVIDIA A30,1.2,mig,2026-11-21,S,a,1", "a30,NVIDIA A30,1.2,mig,2026-11-21,S,a,1", `:2: gpu is "a30"; write A30`},
		{"kernels", "1.2,mig,2026-11-21,S,a,1", "1.2,MIG,2026-11-21,S,a,1", `:2: unknown source "MIG"; did you mean "mig"?`},
		{"kernels", "1.2,mig,2026-11-21,S,a,1", "1.2,sm-partition,2026-11-21,S,a,1", `:2: unknown source "sm-partition" (known: mig)`},
		{"kernels", "1.2,mig,2026-11-21,S,a,1", "1.2,mig,2026-02-30,S,a,1", `:2: date is "2026-02-30"`},
		{"kernels", "1.2,mig,2026-11-21,S,a,2", "1.3,mig,2026-11-21,S,a,2", `:3: the row is of A30 (NVIDIA A30, driver 1.3, mig), the file's first of A30 (NVIDIA A30, driver 1.2, mig)`},
		{"isolation", "H100,NVIDIA H100,1.2,mig,2026-11-21,a,3,,", "H200,NVIDIA H100,1.2,mig,2026-11-21,a,3,,", `:3: the row is of H200`},
		// Kernels.
		{"kernels", "S,a,2", "S,a,3", `:3: found a on 3 slices; each kernel needs one row for each of the sizes [1 2 4]`},
		{"kernels", "A30,NVIDIA A30,1.2,mig,2026-11-22,S,b,4,5,0.1,10\n", "", `:6: the last kernel lacks rows`},
		{"kernels", "S,b,", "S,a,", `:5: kernel a is there twice`},
		{"kernels", "a,1,4,", "a,1,0x1p2,", `:2: mean_seconds: "0x1p2" is not a number`},
		{"kernels", "a,1,4,", "a,1,1_0,", `:2: mean_seconds: "1_0" is not a number`},
		{"kernels", "a,1,4,", "a,1,-4,", `:2: the mean is -4 s`},
		{"kernels", "a,1,4,", "a,1,NaN,", `:2: the mean is NaN s`},
		{"kernels", "a,1,4,0.1,10", "a,1,4,0,0", `:2: 0 runs took 4 s on average`},
		{"kernels", "a,1,4,0.1", "a,1,4,inf", `:2: the standard deviation is +Inf s`},
		// Reconfiguration.
		{"reconfiguration", ",1,destroy", ",5,destroy", `:4: A100 has no instances of size 5; it has the sizes [1 2 3 4 7]`},
		{"reconfiguration", "4-2-1", "4-3", `:3: the partition "4-3" has no instance of size 1`},
		{"reconfiguration", "destroy", "destory", `:4: unknown operation "destory"; did you mean "destroy"?`},
		{"reconfiguration", "create,3", "create,4", `:3: 4 threads; a round of 4-2-1 has work for 1 to 3`},
		{"reconfiguration", "create,3", "create,0", `:3: 0 threads`},
		{"reconfiguration", "4-2-1,1,create,3", "1,1,create,1", `:3: create of size 1 in 1 by 1 threads is there twice`},
		{"reconfiguration", "destroy,1,1", "destroy,1,0", `:4: 0 runs`},
		{"reconfiguration", "0.7,1.1", "0.7,inf", `:3: mean 0.6 s, from 0.5 s to 0.7 s, total +Inf s; all must be positive and finite`},
		{"reconfiguration", "0.16,0.001", "0,0.001", `:2: mean 0 s`},
		{"reconfiguration", "0.16,0.001", "0.16,-1", `:2: the standard deviation is -1 s`},
		{"reconfiguration", "0.16,0.001", "0.18,0.001", `:2: the mean 0.18 s does not lie between 0.15 s and 0.17 s`},
		// Isolation.
		{"isolation", "a,3,,", "a,5,,", `:3: H100 has no instances of size 5`},
		{"isolation", "a,3,,10", "a,3,,0", `:3: 0 runs`},
		{"isolation", "10,2,0", "10,inf,0", `:3: the median is +Inf s`},
		{"isolation", "H100,NVIDIA H100,1.2,mig,2026-11-21,a,3,,10,2,0,process\n", "", `:2: a on size 3 has no row alone`},
		{"isolation", "b:2@0 c:1@2", "b:4@0", `:4: a on size 3 beside "b:4@0" is there twice`},
		{"isolation", "2.02,1,process\n", "2.02,1.1,process\n", `:2: the difference is 1.1 %; 2.02 s over the 2 s alone makes 1 %`},
		{"isolation", "b:4@0", "b:4@2", `:2: beside: "b:4@2": H100 cannot place size 4 at slice 2`},
		{"isolation", "1.98,-1,process", "1.98,-1,wall", `:4: unknown kind of time "wall"`},
		{"isolation", "1.98,-1,process", "1.98,-1,window", `:4: the time is that of a window, in the file's first row that of a process`},
		{"isolation", "b:4@0", "b", `:2: beside: "b" is not a kernel on an instance`},
		{"isolation", "b:4@0", ":4@0", `:2: beside: ":4@0" is not a kernel on an instance`},
		{"isolation", "c:1@2", "c:1@1", `:4: beside: "c:1@1" overlaps an instance before it`},
		// Execution.
		{"execution", "far,a#2", "miso,a#2", `:3: the schedule is that of miso, the file's first of far`},
		{"execution", "a#2", "a#1", `:3: task a#1 is there twice`},
		{"execution", "a#2,1", "a#2,-1", `:3: device -1; they count from 0`},
		{"execution", "0,2,2,", "0,2,1,", `:2: A30 cannot place size 2 at slice 1`},
		{"execution", "0,2,2,", "0,3,0,", `:2: A30 has no instances of size 3`},
		{"execution", "0.1,10,", "10,10,", `:2: simulated from 10 s to 10 s`},
		{"execution", "0.1,10,", "-1,10,", `:2: simulated from -1 s to 10 s`},
		{"execution", "0.5,8,0\n", "8.5,8,0\n", `:3: for real from 8.5 s to 8 s`},
		{"execution", "0.5,8,0\n", "0.5,inf,0\n", `:3: for real from 0.5 s to +Inf s`},
		{"execution", "10.1,0.99\n", "10.1,NaN\n", `:2: the deviation is NaN %; 10.1 s against the simulated 10 s make 0.9901 % of the former`},
		// Co-runs.
	} {
		good := hardwareFilesOf[c.kind]
		text := strings.Replace(good, c.old, c.replacement, 1)
		if strings.HasSuffix(c.old, ",b,") {
			text = strings.ReplaceAll(good, c.old, c.replacement)
		}
		if text == good {
			t.Fatalf("%q is not in the file of %s", c.old, c.kind)
		}
		file := "x." + c.kind + ".csv"
		_, err := ReadHardware(loaded(map[string]string{file: text}))
		if err == nil || !strings.Contains(err.Error(), c.message) || !strings.HasPrefix(err.Error(), file+":") {
			t.Errorf("%q instead of %q: %v\nwant a message that begins with the file and has %q", c.replacement, c.old, err, c.message)
		}
	}
	for file, message := range map[string]string{
		"x.csv":               "files are named NAME.KIND.csv",
		".kernels.csv":        "files are named NAME.KIND.csv",
		"a b.kernels.csv":     "letters, digits, - and _",
		"a?.kernels.csv":      "letters, digits, - and _",
		"ä.kernels.csv":       "letters, digits, - and _",
		"x.kernels":           "files are named NAME.KIND.csv",
		"x.kernel.csv":        `unknown kind of table "kernel"; did you mean "kernels"?`,
		"x.y.kernels.csv":     `unknown kind of table "y.kernels"`,
		"x.kernels.csv/a.csv": "x.kernels.csv",
	} {
		if _, err := ReadHardware(folder(map[string]string{file: kernelsFile})); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%s: %v, want a message with %q", file, err, message)
		}
	}
}

// write returns the files of a set.
func write(h HardwareSet) map[string]string {
	out := map[string]string{}
	writeTables(out, "kernels", h.Kernels)
	writeTables(out, "reconfiguration", h.Reconfiguration)
	writeTables(out, "isolation", h.Isolation)
	writeTables(out, "execution", h.Execution)
	writeTables(out, "overlap", h.Overlap)
	return out
}

func writeTables[Row HardwareRow](out map[string]string, kind string, tables []HardwareTable[Row]) {
	for _, t := range tables {
		var b bytes.Buffer
		if err := WriteHardware(&b, t.Rows); err != nil {
			panic(err)
		}
		out[t.File+"."+kind+".csv"] = b.String()
	}
}

// same compares to the last bit; NaN equals NaN.
func same(a, b HardwareSet) bool { return fmt.Sprintf("%#v", a) == fmt.Sprintf("%#v", b) }

// TestHardwareRoundTrip writes what cannot be written in a few digits.
func TestHardwareRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := rapid.SampledFrom(mig.GPUs()).Draw(t, "GPU")
		word := rapid.StringMatching(`[a-z,"#:;A-Z]{1,8}`)
		p := Provenance{g.Name, word.Draw(t, "name"), word.Draw(t, "driver"), mig.SourceMIG, "2026-11-21"}
		seconds := func(label string) mig.Seconds { return mig.Seconds(rapid.Float64Range(1e-6, 1e6).Draw(t, label)) }
		load := Load{3, 345, float64(seconds("clock")), 1980, 400.25, 700.5, 61, "power-cap+sw-thermal"}
		var h HardwareSet
		var kernels []KernelTime
		for _, s := range g.Sizes() {
			kernels = append(kernels, KernelTime{p, "S", "k", s, seconds("mean"), seconds("deviation"), 3})
		}
		kernels[0].Mean, kernels[0].StdDev, kernels[0].Runs = mig.Seconds(math.Inf(1)), 0, 0
		h.Kernels = []HardwareTable[KernelTime]{{"a", p, kernels}}
		m := seconds("median")
		h.Isolation = []HardwareTable[IsolationTime]{{"b", p, []IsolationTime{{p, "k", 1, "", 2, m, 0, TimedWindow, load}, {p, "k", 1, "x:1@1", 2, 3 * m, 200, TimedWindow, load}}}}
		d := seconds("least")
		h.Reconfiguration = []HardwareTable[ReconfigurationTime]{{"c", p, []ReconfigurationTime{{p, "2-2", 2, "destroy", 2, 5, d * 1.5, 0, d, d * 3, d * 9, 1, load}}}}
		end := seconds("end")
		h.Execution = []HardwareTable[ExecutionTime]{{"d", p, []ExecutionTime{{p, word.Draw(t, "algorithm"), word.Draw(t, "task"), 1, 2, 0, 0, end, end / 3, end * 1.25, 20}}}}
		again, err := ReadHardware(folder(write(h)))
		if err != nil {
			t.Fatal(err)
		}
		if !same(again, h) {
			t.Fatalf("%+v became %+v", h, again)
		}
	})
}

// TestReadmeOfHardwareShowsTheColumns holds the headers that it prints against the code.
func TestReadmeOfHardwareShowsTheColumns(t *testing.T) {
	text, err := os.ReadFile("hardware/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for kind, file := range hardwareFilesOf {
		head, _, _ := strings.Cut(file, "\n")
		if slices.Contains([]string{"reconfiguration", "isolation"}, kind) {
			head += loadColumns
		}
		if !strings.Contains(string(text), "\n    "+head+"\n") {
			t.Errorf("README.md does not show the columns of %s: %s", kind, head)
		}
	}
}

func FuzzReadHardware(f *testing.F) {
	for kind, text := range hardwareFilesOf {
		file := "x." + kind + ".csv"
		f.Add(kind, string(loaded(map[string]string{file: text})[file].Data))
	}
	f.Add("isolation", strings.ReplaceAll(isolationFile, "b:4@0", "::4@0"))
	f.Add("execution", executionFile[:strings.LastIndex(executionFile, ",")])
	f.Fuzz(func(t *testing.T, kind, text string) {
		file := "x." + kind + ".csv"
		if !fs.ValidPath(file) || strings.Contains(file, "/") {
			return
		}
		h, err := ReadHardware(folder(map[string]string{file: text}))
		if err != nil {
			if !strings.Contains(err.Error(), file) {
				t.Fatalf("the error does not name the file: %v", err)
			}
			return
		}
		files := write(h)
		if again, err := ReadHardware(folder(files)); err != nil || !same(again, h) {
			t.Fatalf("%+v was written as %q, which reads as %+v, %v", h, files[file], again, err)
		}
	})
}
