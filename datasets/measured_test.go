package datasets

import (
	"bytes"
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
	"miglab/harness/strictcsv"
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

// TestA100Batch: the kernels of DRL Table 3 have the times of the public table.
func TestA100Batch(t *testing.T) {
	all := map[string]task.Task{}
	for _, name := range []string{"rodinia", "a100-batch"} {
		in, err := InstanceOf[task.Batches](MustParse(name), mig.MustLookup("A100"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if name == "rodinia" {
			for _, k := range in.Tasks {
				all[k.Name] = k
			}
			continue
		}
		if len(in.Tasks) != 8 {
			t.Errorf("%d tasks", len(in.Tasks))
		}
		for _, k := range in.Tasks {
			name, _, _ := strings.Cut(k.Name, "#")
			public, ok := all[name]
			for _, s := range mig.MustLookup("A100").Sizes() {
				if !ok || k.On(s) != public.On(s) {
					t.Errorf("%s on %d slices: %v s, published %v", k.Name, s, k.On(s), public.On(s))
				}
			}
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

func taskNames(b task.Batch) []string {
	var out []string
	for _, t := range b {
		out = append(out, t.Name)
	}
	return out
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

func TestPublishedMeasurementsAreComplete(t *testing.T) {
	for _, f := range readManifest().Files {
		if row, err := checkMeasurements(mig.MustLookup(tables()[f.Table][0].GPU), tables()[f.Table], f.Unmeasured...); err != nil {
			t.Errorf("%s, row %d: %v", f.Table, row, err)
		}
	}
}

func parseMeasurements(file string, text []byte) error {
	t, err := strictcsv.Read[measurement](bytes.NewReader(text), file, "there are no rows", "std_seconds", "runs")
	if err != nil {
		return err
	}
	g, err := new(mig.Catalog).Lookup(t.Rows[0].GPU)
	if err != nil {
		return t.Fail(0, "", err)
	}
	row, err := checkMeasurements(g, t.Rows)
	if err != nil {
		return t.Fail(row, "", err)
	}
	return nil
}

func TestBadMeasurements(t *testing.T) {
	const measuredHeader = "gpu,suite,kernel,size,mean_seconds,std_seconds,runs,source\n"
	const good = measuredHeader + "A30,S,a,1,4,0.1,2,src\nA30,S,a,2,2,0.1,2,src\nA30,S,a,4,inf,,,src\n"
	if err := parseMeasurements("f.csv", []byte(good)); err != nil {
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
		{"2,2,0.1,2", "2,2,0.1,-1", "f.csv:3: the number of runs is -1; it must be a whole number from 0"},
	} {
		text := strings.Replace(good, c.old, c.replacement, 1)
		if text == good {
			t.Fatalf("%q is not in the file", c.old)
		}
		if err := parseMeasurements("f.csv", []byte(text)); err == nil || !strings.Contains(err.Error(), c.message) {
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

func TestFolderOfTasks(t *testing.T) {
	dir, g := t.TempDir(), mig.MustLookup("A100")
	put := func(name string, seconds int) {
		t.Helper()
		text := fmt.Sprintf("task,t1,t2,t3,t4,t7\na,%d,6,5,4,3\n", seconds)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	digest := func() string {
		d := task.NewDigest()
		MustParse("profile:" + dir).(Varied).AddTo(d)
		return d.String()
	}
	folder := MustParse("profile:" + dir)
	if _, err := folder.Instance(g, 0); err == nil || !strings.Contains(err.Error(), dir+" has 0 files *.csv") {
		t.Errorf("an empty folder: %v", err)
	}
	for i, name := range []string{"tasks-0010.csv", "tasks-0002.csv", "notes.txt"} {
		put(name, 20+i)
	}
	if n := folder.Instances(); n != 2 {
		t.Errorf("%d instances, want 2", n)
	}
	for i, want := range []mig.Seconds{21, 20} { // in the order of the names
		if in, err := InstanceOf[task.Batches](folder, g, i); err != nil || in.Tasks[0].On(1) != want {
			t.Errorf("instance %d: %v, %v, want %v s", i, in, err, want)
		}
	}
	before := digest()
	put("tasks-0010.csv", 30)
	changed := digest()
	put("tasks-0011.csv", 30)
	if before == changed || changed == digest() {
		t.Error("a file that is changed or added leaves the digest")
	}
	put("tasks-0002.csv", -1)
	if _, err := folder.Instance(g, 0); err == nil || !strings.Contains(err.Error(), "tasks-0002.csv:2: t1: ") {
		t.Errorf("a file with a mistake: %v", err)
	}
	if _, err := Parse("profile:" + dir + "?draw=5"); err == nil || !strings.Contains(err.Error(), "folder") {
		t.Errorf("draws from a folder: %v", err)
	}
}
