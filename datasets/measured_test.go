package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/task"
)

func TestManifestMatchesTheFiles(t *testing.T) {
	var listed, present []string
	for _, f := range slices.Concat(readManifest().Files, readManifest().Traces) {
		text, err := files.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(text)
		if got := hex.EncodeToString(sum[:]); got != f.SHA256 {
			t.Errorf("%s has SHA-256 %s, the manifest says %s", f.Path, got, f.SHA256)
		}
		if f.Source == "" || f.Summary == "" {
			t.Errorf("%s lacks a source or a summary", f.Path)
		}
		listed = append(listed, f.Path)
	}
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path != "manifest.json" {
			present = append(present, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(listed)
	if !slices.Equal(listed, present) {
		t.Errorf("the manifest lists %v, there are %v", listed, present)
	}
}

func TestMeasuredTables(t *testing.T) {
	for table, want := range map[string]struct {
		rows        int
		first, last measurement
	}{
		rodiniaA100: {
			80,
			measurement{"A100", "Rodinia", "Backprop", 1, 0.43844, 0.00728, 10, "FAR [8]"},
			measurement{"A100", "Rodinia", "PathFinder", 7, 0.006029, 0.000585, 10, "FAR [8]"},
		},
		rodiniaA30: {
			48,
			measurement{"A30", "Rodinia", "Backprop", 1, 1.4982, 0.0081, 2, "FAR [8]"},
			measurement{"A30", "Rodinia", "DWT2D", 4, 0.013518, 0.00427, 2, "FAR [8]"},
		},
		a30Batch: {
			24,
			measurement{"A30", "Rodinia", "ParticleFilter", 1, 1.26246, 0, 0, "FAR [8]"},
			measurement{"A30", "Rodinia", "PathFinder", 4, 20.6617, 0, 0, "FAR [8]"},
		},
	} {
		rows := tables()[table]
		if len(rows) != want.rows || rows[0] != want.first || rows[len(rows)-1] != want.last {
			t.Errorf("%s: %d rows from %+v to %+v", table, len(rows), rows[0], rows[len(rows)-1])
		}
	}
}

// TestRodiniaHasThePublishedArea compares with the area baseline of FAR 6.4, which
// the paper's rho = 1.22 rests on: sum of min s t(s) over 7 slices = 10.36466 s with
// times of five digits.
func TestRodiniaHasThePublishedArea(t *testing.T) {
	in, err := InstanceOf[task.Batches](MustParse("rodinia"), mig.MustLookup("A100"), 0)
	if err != nil {
		t.Fatal(err)
	}
	area := 0.0
	for i := range in.Tasks {
		least := math.Inf(1)
		for _, s := range mig.MustLookup("A100").Sizes() {
			least = min(least, float64(s)*float64(in.Tasks[i].On(s)))
		}
		area += least
	}
	if got := area / 7; math.Abs(got-10.36466) > 1e-5 {
		t.Errorf("area baseline %v s, want 10.36466", got)
	}
}

func TestKernelsAndTheirOrder(t *testing.T) {
	a100 := strings.Fields("Backprop BFS CFD Gaussian HeartWall HotSpot LavaMD LU Myocyte NN NW SRAD_v1 SRAD_v2 StreamCluster ParticleFilter PathFinder")
	a30 := strings.Fields("Backprop BFS CFD Gaussian HeartWall HotSpot LavaMD LU NN NW SRAD_v1 SRAD_v2 StreamCluster ParticleFilter PathFinder DWT2D")
	for _, c := range []struct {
		spec, gpu string
		want      []string
	}{
		{"rodinia", "A100", a100},
		{"rodinia", "A100-80GB", a100},
		{"rodinia", "A30", a30},
		{"a30-batch", "A30", strings.Fields("ParticleFilter NW LU LavaMD Huffman HeartWall Gaussian PathFinder")},
	} {
		g := mig.MustLookup(c.gpu)
		in, err := InstanceOf[task.Batches](MustParse(c.spec), g, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := taskNames(in.Tasks); !slices.Equal(got, c.want) || !slices.Equal(in.Lengths, []int{len(c.want)}) {
			t.Errorf("%s on %s: %v in batches %v", c.spec, c.gpu, got, in.Lengths)
		}
		if err := in.Tasks.Validate(g); err != nil {
			t.Errorf("%s on %s: %v", c.spec, c.gpu, err)
		}
	}
	in, _ := InstanceOf[task.Batches](MustParse("a30-batch"), mig.MustLookup("A30"), 0)
	if lava := in.Tasks[3]; lava.Fits(1) || lava.On(2) != 21.697 {
		t.Errorf("LavaMD takes %v, %v s; it fits no single slice", lava.On(1), lava.On(2))
	}
}

func taskNames(b task.Batch) []string {
	var out []string
	for _, t := range b {
		out = append(out, t.Name)
	}
	return out
}

func TestShuffledOrders(t *testing.T) {
	g := mig.MustLookup("A100")
	names := func(spec string, index int) []string {
		in, err := InstanceOf[task.Batches](MustParse(spec), g, index)
		if err != nil {
			t.Fatal(err)
		}
		return taskNames(in.Tasks)
	}
	const spec = "rodinia?order=shuffled"
	paper, zero := names("rodinia", 0), names(spec, 0)
	if slices.Equal(zero, paper) || slices.Equal(zero, names(spec, 1)) || slices.Equal(zero, names(spec+"&seed=2", 0)) {
		t.Error("two orders that should differ are the same")
	}
	if !slices.Equal(zero, names(spec, 0)) {
		t.Error("the same instance has two orders")
	}
	slices.Sort(zero)
	slices.Sort(paper)
	if !slices.Equal(zero, paper) {
		t.Errorf("shuffling changes the kernels to %v", zero)
	}
}

func TestUnmeasuredGPUs(t *testing.T) {
	for spec, gpus := range map[string][]string{"rodinia": {"H100", "H200", "B200"}, "a30-batch": {"A100", "H100"}} {
		for _, gpu := range gpus {
			_, err := InstanceOf[task.Batches](MustParse(spec), mig.MustLookup(gpu), 0)
			var bad *UnmeasuredError
			if !errors.As(err, &bad) || bad.GPU != gpu || bad.Dataset != spec || !slices.Contains(bad.Measured, "A30") {
				t.Errorf("%s on %s: %v, want an UnmeasuredError", spec, gpu, err)
			}
		}
	}
}

func TestBadMeasurements(t *testing.T) {
	const measuredHeader = "gpu,suite,kernel,size,mean_seconds,std_seconds,runs,source\n"
	const good = measuredHeader + "A30,S,a,1,4,0.1,2,src\nA30,S,a,2,2,0.1,2,src\nA30,S,a,4,inf,,,src\n"
	if _, err := parseMeasurements("f.csv", []byte(good)); err != nil {
		t.Fatalf("a valid file: %v", err)
	}
	for _, c := range []struct{ old, replacement, message string }{
		{"runs,source", "runs", "f.csv:1: the header"},
		{good[len(measuredHeader):], "", "no rows"},
		{"A30,S,a,1", "A31,S,a,1", "f.csv:2: unknown GPU"},
		{"A30,S,a,2", "A100,S,a,2", "f.csv:3: the row is for A100"},
		{"A30,S,a,2", "A30,S,,2", "must not be empty"},
		{"A30,S,a,2", "A30,S,b,2", "f.csv:3: found b on 2 slices"},
		{"A30,S,a,2", "A30,S,a,1", "f.csv:3: found a on 1 slices"},
		{"A30,S,a,4,inf,,,src\n", "", "lacks rows"},
		{good[len(measuredHeader):], strings.Repeat(good[len(measuredHeader):], 2), "f.csv:5: kernel a is there twice"},
		{"2,2,0.1,2", "2,,0.1,2", `f.csv:3: mean_seconds: "" is not a number`},
		{"2,2,0.1,2", "2,-2,0.1,2", "f.csv:3: the mean is -2 s"},
		{"2,2,0.1,2", "2,NaN,0.1,2", "f.csv:3: the mean is NaN s"},
		{"2,2,0.1,2", "2,x,0.1,2", `f.csv:3: mean_seconds: "x" is not a number`},
		{"2,2,0.1,2", "2,2,-0.1,2", "f.csv:3: the standard deviation"},
		{"2,2,0.1,2", "2,2,0.1,", "f.csv:3: 0 runs"},
		{"2,2,0.1,2", "2,2,0.1,-1", "f.csv:3: -1 runs"},
	} {
		text := strings.Replace(good, c.old, c.replacement, 1)
		if text == good {
			t.Fatalf("%q is not in the file", c.old)
		}
		if _, err := parseMeasurements("f.csv", []byte(text)); err == nil || !strings.Contains(err.Error(), c.message) {
			t.Errorf("%q instead of %q: %v, want a message with %q", c.replacement, c.old, err, c.message)
		}
	}
}

func TestProfile(t *testing.T) {
	g := mig.MustLookup("A30")
	path := filepath.Join(t.TempDir(), "tasks.csv")
	if err := os.WriteFile(path, []byte("task,t1,t2,t4\na,4,2,1\nb,inf,3,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := MustParse("profile:" + path)
	in, err := InstanceOf[task.Batches](s, g, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := taskNames(in.Tasks); !slices.Equal(got, []string{"a", "b"}) || !slices.Equal(in.Lengths, []int{2}) || s.Instances() != 1 {
		t.Errorf("tasks %v in batches %v, %d instances", got, in.Lengths, s.Instances())
	}
	file := in.Tasks
	d := MustParse("profile:" + path + "?draw=50&batches=2&seed=7")
	seen := map[string]bool{}
	for index := range 3 {
		in, err := InstanceOf[task.Batches](d, g, index)
		if err != nil || !slices.Equal(in.Lengths, []int{50, 50}) || len(in.Tasks) != 100 || d.Instances() != 0 {
			t.Fatalf("drawn: %v, %v, %d instances", in.Lengths, err, d.Instances())
		}
		if err := in.Tasks.Validate(g); err != nil { // no name twice
			t.Error(err)
		}
		count := map[string]int{}
		for _, drawn := range in.Tasks {
			name, _, _ := strings.Cut(drawn.Name, "-")
			i := slices.IndexFunc(file, func(o task.Task) bool { return o.Name == name })
			count[name]++
			if i < 0 || drawn.On(2) != file[i].On(2) {
				t.Fatalf("%s is not as the file has it", drawn.Name)
			}
		}
		if count["a"] < 25 || count["b"] < 25 { // 100 fair draws: less than one in a million
			t.Errorf("drawn %v", count)
		}
		seen[fmt.Sprint(taskNames(in.Tasks))] = true
	}
	if len(seen) != 3 {
		t.Error("two instances are the same")
	}
	for _, spec := range []string{"?batches=2", "?seed=2", "?draw=0&seed=2", "?draw=1000000&batches=1000000"} {
		if _, err := Parse("profile:" + path + spec); err == nil {
			t.Errorf("%s is taken", spec)
		}
	}
	var bad *task.ParseError
	if _, err := InstanceOf[task.Batches](s, mig.MustLookup("A100"), 0); !errors.As(err, &bad) || bad.File != path {
		t.Errorf("an A30 file for A100: %v, want a ParseError about %s", err, path)
	}
	if _, err := InstanceOf[task.Batches](MustParse("profile:"+path+".none"), g, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
}
