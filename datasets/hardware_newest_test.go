package datasets

import (
	"fmt"
	"strings"
	"testing"
)

// headOf returns the first line of a file.
func headOf(file string) string { return file[:strings.Index(file, "\n")+1] }

// newestOf reads files, given by name. Their numbers are made up.
func newestOf(t *testing.T, files map[string]string) HardwareSet {
	t.Helper()
	h, err := ReadHardware(loaded(files))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestReconfigurations(t *testing.T) {
	row := func(gpu, source, date, partition string, size int, operation string, mean float64) string {
		return fmt.Sprintf("%s,N,1,%s,%s,%s,%d,%s,1,4,%g,0.01,0.01,9,9,1\n", gpu, source, date, partition, size, operation, mean)
	}
	h := newestOf(t, map[string]string{
		"a.reconfiguration.csv": headOf(reconfigurationFile) + row("A100", "mig", "2027-01-01", "1", 1, "create", 0.3) +
			row("A100", "mig", "2027-01-01", "2-2-2", 2, "create", 0.4) + row("A100", "mig", "2027-01-01", "2", 2, "destroy", 0.5),
		"b.reconfiguration.csv": headOf(reconfigurationFile) + row("A100-80GB", "mig", "2026-01-01", "1", 1, "create", 0.6) + row("A100-80GB", "mig", "2026-01-01", "7", 7, "create", 0.7),
		"d.reconfiguration.csv": headOf(reconfigurationFile) + row("H100", "mig", "2028-01-01", "1", 1, "create", 0.9),
	})
	got := map[Operation]float64{}
	for o, r := range h.Reconfigurations("A100") {
		got[o] = float64(r.Mean)
	}
	// The newest file of the model has 1 and not 7; in 2-2-2
	// the instance is not the only one.
	want := map[Operation]float64{{"create", 1}: 0.3, {"destroy", 2}: 0.5, {"create", 7}: 0.7}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWorstIsolation(t *testing.T) {
	row := func(source, date, kernel, beside string, percent float64) string {
		return fmt.Sprintf("A100,N,1,%s,%s,%s,3,%s,4,%.17g,%g,process\n", source, date, kernel, beside, 10*(1+percent/100), percent)
	}
	h := newestOf(t, map[string]string{
		"a.isolation.csv": headOf(isolationFile) + row("mig", "2026-02-01", "a", "", 0) + row("mig", "2026-02-01", "a", "x:4@0", -3) + row("mig", "2026-02-01", "a", "x:2@0", 2) +
			row("mig", "2026-02-01", "b", "", 0),
		"b.isolation.csv": headOf(isolationFile) + row("mig", "2026-01-01", "a", "", 0) + row("mig", "2026-01-01", "a", "x:4@0", 9) +
			row("mig", "2026-01-01", "b", "", 0) + row("mig", "2026-01-01", "b", "x:4@0", 0),
	})
	got := h.WorstIsolation("A100")
	a, b := got[KernelOn{"a", 3}], got[KernelOn{"b", 3}]
	if len(got) != 2 || a.Difference != -3 || b.Beside != "x:4@0" || b.Difference != 0 {
		t.Errorf("%+v; want -3 %% for a, which is larger than 2 %% and newer than 9 %%, and 0 %% for b, from the one file that has it beside another", got)
	}
	if other := h.WorstIsolation("H100"); len(other) != 0 {
		t.Errorf("on H100: %v", other)
	}
}

func TestNewestExecution(t *testing.T) {
	file := func(last float64, source, date, algorithm string, device int, tasks ...string) string {
		text := headOf(executionFile)
		for i, task := range tasks {
			end := last - float64(i)
			text += fmt.Sprintf("A30,N,1,%s,%s,%s,%s,%d,1,%d,0,%g,0,%g,0\n", source, date, algorithm, task, device, i, end, end)
		}
		return text
	}
	batch := []string{"a#1", "b", "a#2"}
	h := newestOf(t, map[string]string{
		"a.execution.csv": file(10, "mig", "2026-01-02", "far", 0, "a#1", "b", "a#2"),
		"b.execution.csv": file(20, "mig", "2026-01-01", "far", 0, "b", "a#1", "a#2"),
		"d.execution.csv": file(40, "mig", "2026-02-01", "miso", 0, "a#1", "b", "a#2"),
		"e.execution.csv": file(50, "mig", "2026-02-01", "far", 0, "a#1", "b", "a#2", "c"),
		"f.execution.csv": file(60, "mig", "2026-02-01", "far", 0, "a#1", "b", "c"),
		"g.execution.csv": file(70, "mig", "2026-02-01", "far", 1, "a#1", "b", "a#2"),
	})
	var got []string
	for _, r := range h.NewestExecution("A30", "far", batch) {
		got = append(got, fmt.Sprint(r.Task, " ", r.RealEnd))
	}
	if want := "[a#2 8 b 9 a#1 10]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s: the newest one of the batch, the algorithm and one GPU; of two runs of a kernel the first to end first", got, want)
	}
	if rows := h.Execution[1].Rows; rows[0].Task != "a#1" || len(rows) != 3 {
		t.Errorf("the rows of the file have changed: %v", rows)
	}
	if other := h.NewestExecution("A100", "far", batch); other != nil {
		t.Errorf("on A100: %v", other)
	}
}
