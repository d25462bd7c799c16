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
	"miglab/paper-figures/claim"
	"miglab/paper-figures/manifest"
	"miglab/paper-figures/verdict"
)

// The columns of the files in datasets/hardware.
const (
	origin              = "gpu,gpu_name,driver,source,date,"
	reconfigurationHead = origin + "partition,size,operation,threads,runs,mean_seconds,std_seconds,min_seconds,max_seconds,total_seconds,attempts,samples,sm_clock_min_mhz,sm_clock_mean_mhz,sm_clock_max_mhz,power_mean_w,power_max_w,temperature_max_c,throttle\n"
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

// TestSampled has 2.262 standard errors on each side, the quantile of 9 degrees of freedom.
func TestSampled(t *testing.T) {
	m := verdict.Sampled(5, 2, 10, verdict.Measurements, 0)
	if half := 2.262157 * 2 / math.Sqrt(10); m.Value != 5 || m.Replicates != 10 || math.Abs(m.High-5-half) > 1e-6 || math.Abs(5-m.Low-half) > 1e-6 {
		t.Errorf("%+v", m)
	}
	c := verdict.Claim{Relation: verdict.Equal, Published: 5, Margin: -1}
	if j := verdict.Judge(c, verdict.Sampled(5, 0, 1, verdict.Measurements, 0)); j.Verdict != verdict.Inconclusive {
		t.Errorf("a single run decides: %+v", j)
	}
}

// table1Claims are the claims of Table 1, with the values of the GPU models.
func table1Claims(t *testing.T) *claim.Set {
	t.Helper()
	published := claimsHead
	for _, name := range []string{"A30", "A100", "H100"} {
		g := mig.MustLookup(name)
		for _, s := range g.Sizes() {
			p := g.Profile(s)
			published += fmt.Sprintf("table1,%s,create,size %d,printed,input,=,%.2f,,2,,s,,,,,,Table 1,,,,\n", name, s, p.Create) +
				fmt.Sprintf("table1,%s,destroy,size %d,printed,input,=,%.2f,,2,,s,,,,,,Table 1,,,,\n", name, s, p.Destroy)
		}
	}
	claims, err := load(published, "")
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

func TestReconfigurationTable(t *testing.T) {
	claims := table1Claims(t)
	judged := slices.DeleteFunc(slices.Clone(claims.All), func(c claim.Claim) bool {
		return !slices.Contains([]string{"A30 create size 1", "A30 destroy size 1", "A100 create size 7"}, c.String())
	})
	measured := reconfigurationHead +
		"A30,NVIDIA A30,570.1,mig,2026-11-21,1,1,create,1,10,0.114,0.001,0.1,0.2,0.114,1,0,0,0,0,0,0,0,unknown\n" +
		"A30,NVIDIA A30,570.1,mig,2026-11-21,1,1,destroy,1,10,0.116,0.001,0.1,0.2,0.116,1,0,0,0,0,0,0,0,unknown\n"
	build := func(files map[string]string) ([]manifest.Row, string) {
		p := Paper{Name: "p", Claims: claims, Artefacts: []Artefact{{Name: "table1", Build: ReconfigurationTable}}}
		if err := checkPaper(&p); err != nil {
			t.Fatal(err)
		}
		d := &Data{Claims: claims, Hardware: hardware(t, files)}
		p.Artefacts[0].Build(d)
		var text strings.Builder
		if err := d.Tables[0].Table.Text(&text); err != nil {
			t.Fatal(err)
		}
		return d.judge(judged), text.String()
	}
	for what, files := range map[string]map[string]string{
		"no files": nil,
	} {
		rows, text := build(files)
		if len(rows) != 3 || rows[0].Verdict != verdict.Input || rows[0].Why.Text != "cost of the GPU model" {
			t.Errorf("%s: %+v", what, rows)
		}
		if want := "needs an A30 under MIG: run `miglab profile reconfiguration --out DIR` there, copy DIR/reconfiguration.csv to " +
			"FOLDER/NAME.reconfiguration.csv and run `miglab reproduce --hardware FOLDER`"; !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
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
	if !strings.Contains(rows[3].Why.Detail, "NVIDIA A30, driver 570.1, 2026-11-21") {
		t.Errorf("%+v", rows[3])
	}
	for _, part := range []string{"0.114", "0.116", "measured on A30; source: mig, NVIDIA A30, driver 570.1, 2026-11-21", "NOT RUNNABLE: needs an A100", "NOT RUNNABLE: needs an H100"} {
		if !strings.Contains(text, part) {
			t.Errorf("the table lacks %q:\n%s", part, text)
		}
	}
}
