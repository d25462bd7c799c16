package drl

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/datasets"
	"miglab/harness/algo"
	figures "miglab/paper-figures"
)

const (
	origin              = "gpu,gpu_name,driver,source,date,"
	reconfigurationHead = origin + "partition,size,operation,threads,runs,mean_seconds,std_seconds,min_seconds,max_seconds,total_seconds\n"
	isolationHead       = origin + "kernel,size,beside,runs,median_seconds,difference_percent\n"
	executionHead       = origin + "algorithm,task,device,size,slice,simulated_start_s,simulated_end_s,real_start_s,real_end_s,deviation_percent\n"
)

// hardware reads files, given by name. Their numbers are made up.
func hardware(t *testing.T, files map[string]string) datasets.HardwareSet {
	t.Helper()
	dir := fstest.MapFS{}
	for name, text := range files {
		dir[name] = &fstest.MapFile{Data: []byte(text)}
	}
	h, err := datasets.ReadHardware(dir)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// executed has the ends of a task on A100 under an algorithm.
func executed(source, algorithm, task string, simulated, real float64) string {
	return fmt.Sprintf("A100,NVIDIA A100,570.1,%s,2026-11-21,%s,%s,0,7,0,0,%g,0,%g,%.17g\n", source, algorithm, task, simulated, real, (1-simulated/real)*100)
}

// command is what a reason has to have: something to type, and where its file goes.
var command = regexp.MustCompile("needs an A100 under MIG: run `miglab profile .*--out DIR`.*put DIR/([a-z]+).csv into datasets/hardware as NAME.([a-z]+).csv")

func checkReason(t *testing.T, claim, reason, kind string) {
	t.Helper()
	if m := command.FindStringSubmatch(reason); m == nil || m[1] != kind || m[2] != kind {
		t.Errorf("%s: the reason %q lacks the command, or that its %s.csv goes into datasets/hardware", claim, reason, kind)
	}
}

func TestTable3(t *testing.T) {
	claims := load(t)
	if id := algo.MustParse(direct.algorithm(rodinia)).ID; id != agent3 {
		t.Errorf("the agent of measured kernels is %s, that of the table %s", id, agent3)
	}
	file := func(source, algorithm string) map[string]string {
		text := executionHead
		for i, k := range batch3(claims) {
			published := claims.Of("table3")[3*i:]
			end := published[1].Published
			if k == "LU" {
				end *= 1.1
			}
			// The two runs of PathFinder come the other way round.
			k = strings.NewReplacer("#1", "#2", "#2", "#1").Replace(k)
			text += executed(source, algorithm, k, published[0].Published, end)
		}
		return map[string]string{"x.execution.csv": text}
	}
	build := func(files map[string]string) map[string]figures.Row {
		out, err := table3(claims, hardware(t, files)).Build(&figures.Data{})
		if err != nil {
			t.Fatal(err)
		}
		rows := map[string]figures.Row{}
		for _, f := range out.Findings {
			rows[f.Name] = f.Row()
		}
		if len(rows) != 27 || len(out.Tables) != 2 {
			t.Errorf("%d claims, %d tables", len(rows), len(out.Tables))
		}
		return rows
	}
	for what, files := range map[string]map[string]string{"no files": nil, "MPS": file("mps-sm-limit", agent3), "FAR": file("mig", "far")} {
		for name, r := range build(files) {
			if r.Verdict != figures.NotRunnable {
				t.Errorf("%s, %s: %s", what, name, r.Verdict)
			}
			checkReason(t, name, r.Reason, "execution")
			if want := "`miglab execute --algorithm rl-direct --kernels rodinia --set rodinia=FOLDER "; !strings.Contains(r.Reason, want) || !strings.Contains(r.Reason, "times of PathFinder#1, LavaMD, ") {
				t.Errorf("%s: the reason %q lacks %q or the batch", name, r.Reason, want)
			}
		}
	}
	for name, r := range build(file("mig", agent3)) {
		want := figures.Reproduced
		if name == "LU real end" || name == "LU difference" {
			want = figures.Deviates
		}
		if r.Verdict != want {
			t.Errorf("%s = %s for %s: %s, want %s", name, r.Measured, r.Published, r.Verdict, want)
		}
		if want == figures.Deviates && !strings.Contains(r.Reason, "source: mig, NVIDIA A100, driver 570.1, 2026-11-21") {
			t.Errorf("%s: reason %q", name, r.Reason)
		}
	}
}

func TestTextAboutHardware(t *testing.T) {
	claims := load(t)
	for claim, kind := range map[string]string{isolationDifference: "isolation", reconfigurationDeviation: "reconfiguration"} {
		claims.Get("text", claim) // panics where the name is not the paper's
		checkReason(t, claim, needsHardware(claim), kind)
	}
	measure := func(files map[string]string) (map[string]figures.Measurement, map[string]string) {
		values, why := map[string]figures.Measurement{}, map[string]string{}
		onHardware(hardware(t, files), values, why)
		return values, why
	}
	if values, _ := measure(nil); len(values) != 0 {
		t.Errorf("without files: %v", values)
	}
	from := "A100,NVIDIA A100,570.1,mig,2026-11-21,"
	reconfigured := "A30,NVIDIA A30,570.1,mig,2026-11-21,1,1,create,1,4,0.2,0.001,0.19,0.206,0.2\n"
	values, why := measure(map[string]string{
		"a.isolation.csv": isolationHead + from + "a,1,,4,2,0\n" + from + "a,1,b:1@1,4,1.97,-1.5\n" + from + "c,2,,4,2,0\n" + from + "c,2,b:1@2,4,2.02,1\n",
		"b.reconfiguration.csv": reconfigurationHead + reconfigured +
			strings.Replace(reconfigured, "create,1,4,0.2,0.001,0.19", "destroy,1,4,0.2,0.001,0.199", 1),
	})
	if d := values[isolationDifference].Value; d != 1.5 {
		t.Errorf("largest difference %v %%, want 1.5, of the one that was faster", d)
	}
	if d := values[reconfigurationDeviation].Value; math.Abs(d-5) > 1e-9 {
		t.Errorf("largest deviation %v %%, want that of 0.19 s from 0.2 s", d)
	}
	if want := "create of size 1; source: mig, NVIDIA A30, driver 570.1, 2026-11-21"; why[reconfigurationDeviation] != want || !strings.HasPrefix(why[isolationDifference], "a on size 1 beside b:1@1; ") {
		t.Errorf("reasons %v", why)
	}
}
