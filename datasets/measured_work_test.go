package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// The SHA-256 of the columns gpu,work,model,sequence,batch,size,latency_ms of MIGProfiler's 408 rows, without a header:
// from our tables come the same bytes back.
const migprofilerSHA256 = "b35ec5d48f13dbe83ae1ffc832323dcdd21572c3fde4bd9181fbd98c125db8af"

// TestMIGProfilerIsComplete: every row of the source is in the tables, with the latency that the source has.
func TestMIGProfilerIsComplete(t *testing.T) {
	setting := regexp.MustCompile(`^(.*?)-(?:train|infer)(?:-s(\d+))?-b(\d+)$`)
	var text strings.Builder
	for _, name := range []string{
		"migprofiler-infer-a100", "migprofiler-train-a100", "migprofiler-infer-a100-80gb", "migprofiler-train-a100-80gb",
	} {
		kind := strings.Split(name, "-")[1]
		for _, m := range tables()[name] {
			part := setting.FindStringSubmatch(m.Kernel)
			gpu, sequence, latency := m.GPU, part[2], ""
			if gpu == "A100" {
				gpu = "A100-40GB"
			}
			if sequence == "" {
				sequence = "0"
			}
			if !math.IsInf(float64(m.Mean), 1) {
				seconds, _ := new(big.Rat).SetString(fmt.Sprint(float64(m.Mean)))
				latency = seconds.Mul(seconds, big.NewRat(1000, 1)).FloatString(3)
				latency = strings.TrimRight(latency, "0")
				if strings.HasSuffix(latency, ".") {
					latency += "0"
				}
			}
			fmt.Fprintf(&text, "%s,%s,%s,%s,%s,%d,%s\n", gpu, kind, part[1], sequence, part[3], m.Size, latency)
		}
	}
	sum := sha256.Sum256([]byte(text.String()))
	if got := hex.EncodeToString(sum[:]); got != migprofilerSHA256 {
		t.Errorf("the rows have SHA-256 %s, want %s; the first are\n%.300s", got, migprofilerSHA256, text.String())
	}
}

func workOn(t *testing.T, spec, gpu string) task.Batches {
	t.Helper()
	g := mig.MustLookup(gpu)
	in, err := InstanceOf[task.Batches](MustParse(spec), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Tasks.Validate(g); err != nil {
		t.Errorf("%s on %s: %v", spec, gpu, err)
	}
	return in
}

// kernelOf returns the measured kernel that a task repeats.
func kernelOf(t *testing.T, name string) []measurement {
	t.Helper()
	_, kernel, _ := strings.Cut(name, "-")
	for _, rows := range tables() {
		i := slices.IndexFunc(rows, func(m measurement) bool { return m.Kernel == kernel && m.GPU == "A100" })
		if i >= 0 {
			return slices.DeleteFunc(slices.Clone(rows), func(m measurement) bool { return m.Kernel != kernel })
		}
	}
	t.Fatalf("task %s repeats nothing that was measured on A100", name)
	return nil
}

// TestMeasuredWork: on each measured size, a task takes a whole number of times what its kernel took, and it runs on
// no other size.
func TestMeasuredWork(t *testing.T) {
	g := mig.MustLookup("A100")
	for _, k := range workKinds {
		for _, task := range workOn(t, k.name+"?n=500", "A100").Tasks {
			rows := kernelOf(t, task.Name)
			times := math.Round(float64(task.On(7) / rows[len(rows)-1].Mean))
			for _, size := range g.Sizes() {
				want := mig.Seconds(math.Inf(1))
				for _, m := range rows {
					if m.Size == size {
						want = m.Mean * mig.Seconds(times)
					}
				}
				if got := task.On(size); got != want {
					t.Errorf("%s: %s takes %v s on %d slices, want %v", k.name, task.Name, got, size, want)
				}
			}
		}
	}
}

func TestMeasuredKernelsAreDrawn(t *testing.T) {
	// MISO 32, MIGProfiler 10 and 45 on A100-40GB, 16 and 31 on A100-80GB, gpuless 3, Rodinia 16.
	want := map[[2]string]int{
		{"measured/train", "A100"}: 42, {"measured/train", "A100-80GB"}: 16,
		{"measured/infer", "A100"}: 47, {"measured/infer", "A100-80GB"}: 31,
		{"measured/all", "A100"}: 106, {"measured/all", "A100-80GB"}: 47, {"measured/all", "A30"}: 16,
	}
	for on, kernels := range want {
		seen := map[string]bool{}
		for _, task := range workOn(t, on[0]+"?n=5000", on[1]).Tasks {
			_, kernel, _ := strings.Cut(task.Name, "-")
			seen[kernel] = true
		}
		if len(seen) != kernels {
			t.Errorf("%s on %s draws %d kernels, want %d", on[0], on[1], len(seen), kernels)
		}
	}
	if _, err := MustParse("measured/train").Instance(mig.MustLookup("A30"), 0); err == nil ||
		!strings.Contains(err.Error(), "measured on A100, A100-80GB") {
		t.Errorf("training on A30: %v", err)
	}
}

func TestLengthsOfMeasuredWork(t *testing.T) {
	for _, task := range workOn(t, "measured/infer?work=600&n=200", "A100").Tasks {
		if length := float64(task.On(7)); math.Abs(length-600) > 0.1 { // half of the longest request
			t.Errorf("%s takes %v s on the whole GPU, want 600", task.Name, length)
		}
	}
	const n = 20_000
	mean := 0.0
	for _, task := range workOn(t, fmt.Sprintf("measured/infer?n=%d", n), "A100").Tasks {
		mean += math.Log(float64(task.On(7))) / n
	}
	if want := jobLengths(); math.Abs(mean-want.mean) > 5*want.deviation/math.Sqrt(n) {
		t.Errorf("the logarithms have the mean %v, want %v", mean, want.mean)
	}
}

func TestFilledSizes(t *testing.T) {
	const spec = "measured/train?n=300&fill=power"
	if Assumed(spec) == "" || Assumed("measured/train") != "" {
		t.Error("a board does not say that sizes are filled, or says it where none are")
	}
	filled := 0
	plain := workOn(t, "measured/train?n=300", "A100").Tasks
	for i, task := range workOn(t, spec, "A100").Tasks {
		if task.On(4) == plain[i].On(4) {
			continue
		}
		filled++
		low, high := float64(task.On(3)), float64(task.On(7))
		want := low * math.Pow(high/low, math.Log(4.0/3)/math.Log(7.0/3))
		if got := float64(task.On(4)); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s takes %v s on 4 slices, want %v between %v and %v", task.Name, got, want, low, high)
		}
	}
	if filled == 0 {
		t.Error("no size was filled")
	}
}

func TestStreamsOfMeasuredWork(t *testing.T) {
	in := workOn(t, "measured/all?n=2&batches=50&rho=0.8", "A100")
	if len(in.Tasks) != 100 || len(in.Lengths) != 50 || len(in.Arrivals) != 100 || !slices.IsSorted(in.Arrivals) {
		t.Errorf("%d tasks, %d batches, arrivals %v", len(in.Tasks), len(in.Lengths), in.Arrivals)
	}
}
