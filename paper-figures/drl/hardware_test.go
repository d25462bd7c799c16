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
	"miglab/paper-figures/verdict"
)

const (
	origin              = "gpu,gpu_name,driver,source,date,"
	reconfigurationHead = origin + "partition,size,operation,threads,runs,mean_seconds,std_seconds,min_seconds,max_seconds,total_seconds,attempts\n"
	isolationHead       = origin + "kernel,size,beside,runs,median_seconds,difference_percent,timed\n"
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
	if id := algo.MustParse(direct.one(rodinia)).ID; id != agent3 {
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
	build := func(files map[string]string) *figures.Output {
		out, err := onGPU{hardware(t, files)}.table3(&figures.Data{Claims: claims})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for what, files := range map[string]map[string]string{"no files": nil, "MPS": file("mps-sm-limit", agent3), "FAR": file("mig", "far")} {
		out := build(files)
		if len(out.Missing) != 27 || len(out.Readings[0].Values) != 0 {
			t.Errorf("%s: %d claims are missing, %d measured", what, len(out.Missing), len(out.Readings[0].Values))
		}
		for name, reason := range out.Missing {
			checkReason(t, name, reason, "execution")
			if want := "`miglab execute --algorithm rl-direct --kernels rodinia --set rodinia=FOLDER "; !strings.Contains(reason, want) || !strings.Contains(reason, "times of PathFinder#1, LavaMD, ") {
				t.Errorf("%s: the reason %q lacks %q or the batch", name, reason, want)
			}
		}
	}
	out := build(file("mig", agent3))
	if len(out.Missing) != 0 {
		t.Errorf("%d claims are missing", len(out.Missing))
	}
	for _, c := range claims.Of("table3") {
		m := out.Readings[0].Values[c.Name]
		want := verdict.Reproduced
		if c.Name == "LU real end" || c.Name == "LU difference" {
			want = verdict.Deviates
		}
		if v := verdict.Judge(c.Claim, m).Verdict; v != want {
			t.Errorf("%s = %v for %v: %s, want %s", c.Name, m.Value, c.Published, v, want)
		}
		if !strings.Contains(m.Detail, "source: mig, NVIDIA A100, driver 570.1, 2026-11-21") {
			t.Errorf("%s: detail %q", c.Name, m.Detail)
		}
	}
}

func TestTextAboutHardware(t *testing.T) {
	claims := load(t)
	for claim, kind := range map[string]string{isolationDifference: "isolation", reconfigurationDeviation: "reconfiguration"} {
		claims.Published("text", claim) // panics where the name is not the paper's
		checkReason(t, claim, needsHardware()[claim], kind)
	}
	measure := func(files map[string]string) figures.Values {
		values := figures.Values{}
		onHardware(hardware(t, files), values)
		return values
	}
	if values := measure(nil); len(values) != 0 {
		t.Errorf("without files: %v", values)
	}
	from := "A100,NVIDIA A100,570.1,mig,2026-11-21,"
	reconfigured := "A30,NVIDIA A30,570.1,mig,2026-11-21,1,1,create,1,4,0.2,0.001,0.19,0.206,0.2,1\n"
	values := measure(map[string]string{
		"a.isolation.csv": isolationHead + from + "a,1,,4,2,0,window\n" + from + "a,1,b:1@1,4,1.97,-1.5,window\n" + from + "c,2,,4,2,0,window\n" + from + "c,2,b:1@2,4,2.02,1,window\n",
		"b.reconfiguration.csv": reconfigurationHead + reconfigured +
			strings.Replace(reconfigured, "create,1,4,0.2,0.001,0.19", "destroy,1,4,0.2,0.001,0.199", 1),
	})
	if d := values[isolationDifference].Value; d != 1.5 {
		t.Errorf("largest difference %v %%, want 1.5, of the one that was faster", d)
	}
	if d := values[reconfigurationDeviation].Value; math.Abs(d-5) > 1e-9 {
		t.Errorf("largest deviation %v %%, want that of 0.19 s from 0.2 s", d)
	}
	if want := "Found for create of size 1; source: mig, NVIDIA A30, driver 570.1, 2026-11-21."; values[reconfigurationDeviation].Detail != want ||
		!strings.HasPrefix(values[isolationDifference].Detail, "Found for a on size 1 beside b:1@1; ") {
		t.Errorf("details %v", values)
	}
}
