package figures

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/paper-figures/verdict"
)

// The columns of the files in datasets/hardware.
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

func TestReconfigurations(t *testing.T) {
	row := func(gpu, source, date, partition string, size int, operation string, mean float64) string {
		return fmt.Sprintf("%s,N,1,%s,%s,%s,%d,%s,1,4,%g,0.01,0.01,9,9,1\n", gpu, source, date, partition, size, operation, mean)
	}
	h := hardware(t, map[string]string{
		"a.reconfiguration.csv": reconfigurationHead + row("A100", "mig", "2027-01-01", "1", 1, "create", 0.3) +
			row("A100", "mig", "2027-01-01", "2-2-2", 2, "create", 0.4) + row("A100", "mig", "2027-01-01", "2", 2, "destroy", 0.5),
		"b.reconfiguration.csv": reconfigurationHead + row("A100-80GB", "mig", "2026-01-01", "1", 1, "create", 0.6) + row("A100-80GB", "mig", "2026-01-01", "7", 7, "create", 0.7),
		"c.reconfiguration.csv": reconfigurationHead + row("A100", "mps-sm-limit", "2028-01-01", "1", 1, "create", 0.8) + row("A100", "mps-sm-limit", "2028-01-01", "3", 3, "create", 0.8),
		"d.reconfiguration.csv": reconfigurationHead + row("H100", "mig", "2028-01-01", "1", 1, "create", 0.9),
	})
	got := map[Operation]float64{}
	for o, r := range Reconfigurations(h, "A100") {
		got[o] = float64(r.Mean)
	}
	// The newest file of the model has 1 and not 7; what MPS limits is not MIG; in 2-2-2
	// the instance is not the only one.
	want := map[Operation]float64{{"create", 1}: 0.3, {"destroy", 2}: 0.5, {"create", 7}: 0.7}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestIsolation(t *testing.T) {
	row := func(source, date, kernel, beside string, percent float64) string {
		return fmt.Sprintf("A100,N,1,%s,%s,%s,3,%s,4,%.17g,%g,process\n", source, date, kernel, beside, 10*(1+percent/100), percent)
	}
	h := hardware(t, map[string]string{
		"a.isolation.csv": isolationHead + row("mig", "2026-02-01", "a", "", 0) + row("mig", "2026-02-01", "a", "x:4@0", -3) + row("mig", "2026-02-01", "a", "x:2@0", 2) +
			row("mig", "2026-02-01", "b", "", 0),
		"b.isolation.csv": isolationHead + row("mig", "2026-01-01", "a", "", 0) + row("mig", "2026-01-01", "a", "x:4@0", 9) +
			row("mig", "2026-01-01", "b", "", 0) + row("mig", "2026-01-01", "b", "x:4@0", 0),
		"c.isolation.csv": isolationHead + row("mps-sm-limit", "2026-03-01", "a", "", 0) + row("mps-sm-limit", "2026-03-01", "a", "x:4@0", 50),
	})
	got := Isolation(h, "A100")
	a, b := got[KernelOn{"a", 3}], got[KernelOn{"b", 3}]
	if len(got) != 2 || a.Difference != -3 || b.Beside != "x:4@0" || b.Difference != 0 {
		t.Errorf("%+v; want -3 %% for a, which is larger than 2 %% and newer than 9 %%, and 0 %% for b, from the one file that has it beside another", got)
	}
	if other := Isolation(h, "H100"); len(other) != 0 {
		t.Errorf("on H100: %v", other)
	}
}

func TestExecution(t *testing.T) {
	file := func(last float64, source, date, algorithm string, device int, tasks ...string) string {
		text := executionHead
		for i, task := range tasks {
			end := last - float64(i)
			text += fmt.Sprintf("A30,N,1,%s,%s,%s,%s,%d,1,%d,0,%g,0,%g,0\n", source, date, algorithm, task, device, i, end, end)
		}
		return text
	}
	batch := []string{"a#1", "b", "a#2"}
	h := hardware(t, map[string]string{
		"a.execution.csv": file(10, "mig", "2026-01-02", "far", 0, "a#1", "b", "a#2"),
		"b.execution.csv": file(20, "mig", "2026-01-01", "far", 0, "b", "a#1", "a#2"),
		"c.execution.csv": file(30, "mps-sm-limit", "2026-02-01", "far", 0, "a#1", "b", "a#2"),
		"d.execution.csv": file(40, "mig", "2026-02-01", "miso", 0, "a#1", "b", "a#2"),
		"e.execution.csv": file(50, "mig", "2026-02-01", "far", 0, "a#1", "b", "a#2", "c"),
		"f.execution.csv": file(60, "mig", "2026-02-01", "far", 0, "a#1", "b", "c"),
		"g.execution.csv": file(70, "mig", "2026-02-01", "far", 1, "a#1", "b", "a#2"),
	})
	var got []string
	for _, r := range Execution(h, "A30", "far", batch) {
		got = append(got, fmt.Sprint(r.Task, " ", r.RealEnd))
	}
	if want := "[a#2 8 b 9 a#1 10]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s: the newest one of the batch, the algorithm, MIG and one GPU; of two runs of a kernel the first to end first", got, want)
	}
	if rows := h.Execution[1].Rows; rows[0].Task != "a#1" || len(rows) != 3 {
		t.Errorf("the rows of the file have changed: %v", rows)
	}
	if other := Execution(h, "A100", "far", batch); other != nil {
		t.Errorf("on A100: %v", other)
	}
}

// TestSampled has 2.262 standard errors on each side, the quantile of 9 degrees of freedom.
func TestSampled(t *testing.T) {
	m := Sampled(5, 2, 10)
	if half := 2.262157 * 2 / math.Sqrt(10); m.Value != 5 || m.Replicates != 10 || math.Abs(m.High-5-half) > 1e-6 || math.Abs(5-m.Low-half) > 1e-6 {
		t.Errorf("%+v", m)
	}
	c := verdict.Claim{Relation: verdict.Equal, Published: 5, Margin: -1}
	if j := verdict.Judge(c, Sampled(5, 0, 1)); j.Verdict != verdict.Inconclusive {
		t.Errorf("a single run decides: %+v", j)
	}
}

// table1Claims are the claims of Table 1, with the values of the GPU models.
func table1Claims(t *testing.T) *Claims {
	t.Helper()
	published := publishedHead
	for _, name := range []string{"A30", "A100", "H100"} {
		g := mig.MustLookup(name)
		for _, s := range g.Sizes() {
			p := g.Profile(s)
			published += fmt.Sprintf("table1,%s create size %d,printed,input,=,%.2f,,2,,s,,Table 1\n", name, s, p.Create) +
				fmt.Sprintf("table1,%s destroy size %d,printed,input,=,%.2f,,2,,s,,Table 1\n", name, s, p.Destroy)
		}
	}
	claims, err := load(published, "", "")
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestReconfigurationTable(t *testing.T) {
	claims := table1Claims(t)
	judged := slices.DeleteFunc(slices.Clone(claims.All), func(c Claim) bool {
		return c.Name != "A30 create size 1" && c.Name != "A30 destroy size 1" && c.Name != "A100 create size 7"
	})
	measured := reconfigurationHead +
		"A30,NVIDIA A30,570.1,mig,2026-11-21,1,1,create,1,10,0.114,0.001,0.1,0.2,0.114,1\n" +
		"A30,NVIDIA A30,570.1,mig,2026-11-21,1,1,destroy,1,10,0.116,0.001,0.1,0.2,0.116,1\n"
	build := func(files map[string]string) ([]Row, string) {
		p := Paper{Name: "p", Claims: claims, Artefacts: []Artefact{ReconfigurationTable(hardware(t, files))}}
		if err := p.Check(); err != nil {
			t.Fatal(err)
		}
		d := &Data{Claims: claims, artefact: "table1"}
		out, err := p.Artefacts[0].Build(d)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if err := out.Tables[0].Table.Text(&text); err != nil {
			t.Fatal(err)
		}
		return d.judge(judged, out), text.String()
	}
	for what, files := range map[string]map[string]string{
		"no files": nil, "MPS": {"x.reconfiguration.csv": strings.ReplaceAll(measured, ",mig,", ",mps-sm-limit,")},
	} {
		rows, text := build(files)
		if len(rows) != 3 || rows[0].Verdict != verdict.Input || rows[0].Reason != "cost of the GPU model" {
			t.Errorf("%s: %+v", what, rows)
		}
		if want := "needs an A30 under MIG: run `miglab profile reconfiguration --out DIR` there, put DIR/reconfiguration.csv into " +
			"datasets/hardware as NAME.reconfiguration.csv and build again"; !strings.Contains(text, want) {
			t.Errorf("%s: the table lacks %q:\n%s", what, want, text)
		}
	}
	rows, text := build(map[string]string{"x.reconfiguration.csv": measured})
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s, %s: %s", r.Claim, r.Reading, r.Verdict))
	}
	want := []string{
		"A30 create size 1, default: INPUT", "A30 create size 1, measured on a GPU: REPRODUCED", "A30 destroy size 1, default: INPUT",
		"A30 destroy size 1, measured on a GPU: DEVIATES", "A100 create size 7, default: INPUT",
	}
	if !slices.Equal(got, want) {
		t.Errorf("with an A30: %q", got)
	}
	if !strings.Contains(rows[3].Reason, "NVIDIA A30, driver 570.1, 2026-11-21") {
		t.Errorf("%+v", rows[3])
	}
	for _, part := range []string{"0.114", "0.116", "measured on A30; source: mig, NVIDIA A30, driver 570.1, 2026-11-21", "NOT RUNNABLE: needs an A100", "NOT RUNNABLE: needs an H100"} {
		if !strings.Contains(text, part) {
			t.Errorf("the table lacks %q:\n%s", part, text)
		}
	}
}
