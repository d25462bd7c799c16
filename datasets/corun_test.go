package datasets

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

func window(t testing.TB, text string, index int) corun.Window {
	t.Helper()
	in, err := InstanceOf[corun.Window](MustParse(text), mig.MustLookup("A100"), index)
	if err != nil {
		t.Fatal(err)
	}
	if v := in.Check(); v != nil {
		t.Fatalf("%s, instance %d: %v", text, index, v)
	}
	return in
}

func namesOf(jobs []task.Program) []string {
	var out []string
	for i := range jobs {
		out = append(out, jobs[i].Name)
	}
	return out
}

func countsOf(jobs []task.Program) (n [3]int) {
	for i := range jobs {
		n[slices.Index(task.Classes(), jobs[i].Class)]++
	}
	return n
}

func TestPrograms(t *testing.T) {
	all := Programs()
	if got := countsOf(all); len(all) != 27 || got != [3]int{8, 10, 9} {
		t.Errorf("%d programs, %v by class; Table IV has 27: 8, 10 and 9", len(all), got)
	}
	unseen, seen := 0, map[string]bool{}
	for i, p := range all {
		if err := p.Validate(); err != nil {
			t.Error(err)
		}
		if seen[p.Name] {
			t.Errorf("%s is there twice", p.Name)
		}
		seen[p.Name] = true
		if p.Unseen {
			unseen++
		}
		if public := table4()[i].Kernel != ""; p.Fitted != public {
			t.Errorf("%s: fitted is %v", p.Name, p.Fitted)
		}
	}
	if unseen != 9 {
		t.Errorf("%d programs are not trained on; Table IV marks 9", unseen)
	}
	all[0].Solo = 0
	if Programs()[0].Solo == 0 {
		t.Error("a caller can change Table IV")
	}
}

// TestDrawnPrograms looks at many draws of each program without public times.
func TestDrawnPrograms(t *testing.T) {
	var solo []float64
	for draw := range uint64(100) {
		for _, p := range programs(draw) {
			if p.Fitted {
				continue
			}
			shape := classShapes[p.Class]
			for _, x := range []struct {
				value float64
				in    interval
			}{{p.Serial, shape.serial}, {p.Parallelism, shape.parallelism}, {p.Memory, shape.memory}} {
				if x.value < x.in.low || x.value > x.in.high {
					t.Fatalf("draw %d: %+v is out of %+v", draw, p, shape)
				}
			}
			if p.ByRule() != p.Class {
				t.Fatalf("draw %d: %+v is %s by the rule", draw, p, p.ByRule())
			}
			// A US job gains less than 10 % from one GPC to eight.
			if gain := p.Relative(0.125, 0.125); (p.Class == task.Unscalable) != (gain < 1.1) {
				t.Fatalf("draw %d: %s of class %s gains %v", draw, p.Name, p.Class, gain)
			}
			if err := p.Validate(); err != nil {
				t.Fatal(err)
			}
			solo = append(solo, math.Log(float64(p.Solo)/20))
		}
	}
	mean, squares := 0.0, 0.0
	for _, x := range solo {
		mean += x / float64(len(solo))
		squares += x * x / float64(len(solo))
	}
	if e := 4 * 0.5 / math.Sqrt(float64(len(solo))); math.Abs(mean) > e || math.Abs(math.Sqrt(squares)-0.5) > e {
		t.Errorf("ln(solo / 20 s) has mean %v and deviation %v, want 0 and 0.5", mean, math.Sqrt(squares))
	}
}

// TestKernelFits computes the residuals again and looks for better parameters nearby.
func TestKernelFits(t *testing.T) {
	g := mig.MustLookup("A100")
	in, err := InstanceOf[task.Batches](MustParse("rodinia"), g, 0)
	if err != nil {
		t.Fatal(err)
	}
	rms := func(k int, p *task.Program) float64 {
		sum := 0.0
		for _, c := range []struct {
			size              mig.Slices
			compute, memories float64
		}{{1, 1, 1}, {2, 2, 2}, {3, 3, 4}, {4, 4, 4}, {7, 7, 8}} {
			r := float64(p.Solo)*p.Relative(c.compute/8, c.memories/8)/float64(in.Tasks[k].On(c.size)) - 1
			sum += r * r / 5
		}
		return math.Sqrt(sum)
	}
	var good int
	var poor, against []string
	fits := KernelFits()
	if len(fits) != 16 {
		t.Fatalf("%d fits; 16 kernels are public", len(fits))
	}
	for k, f := range fits {
		if f.Kernel != in.Tasks[k].Name {
			t.Errorf("kernel %d is %s, want %s", k, f.Kernel, in.Tasks[k].Name)
		}
		if got := rms(k, &f.Fitted); math.Abs(got-f.RMS) > 1e-12 {
			t.Errorf("%s: residual %v, want %v", f.Kernel, f.RMS, got)
		}
		if f.RMS < 0.15 {
			good++
		} else {
			poor = append(poor, f.Kernel)
		}
		if f.Contradicts() {
			against = append(against, f.Program)
		}
		for _, d := range []float64{-0.01, 0.01} {
			for name, change := range map[string]func(*task.Program){
				"solo": func(p *task.Program) { p.Solo *= mig.Seconds(1 + d) },
				"s": func(p *task.Program) {
					rest := 1 - p.Serial
					p.Serial = min(max(p.Serial+d, 0), maxSerial)
					p.Compute *= (1 - p.Serial) / rest
					p.Memory *= (1 - p.Serial) / rest
				},
				"p": func(p *task.Program) {
					before := p.Parallelism
					p.Parallelism = min(max(p.Parallelism+d, minParallelism), 1)
					p.Compute *= p.Parallelism / before
				},
			} {
				p := f.Fitted
				change(&p)
				if got := rms(k, &p); got < f.RMS-1e-9 {
					t.Errorf("%s: residual %v, but %v with %s changed by %v", f.Kernel, f.RMS, got, name, d)
				}
			}
		}
	}
	if good < 12 {
		t.Errorf("%d kernels fit within 15 %%, want 12", good)
	}
	slices.Sort(poor)
	if want := []string{"CFD", "ParticleFilter", "PathFinder", "SRAD_v2"}; !slices.Equal(poor, want) {
		t.Errorf("%v fit worse than 15 %%, want %v", poor, want)
	}
	slices.Sort(against)
	if want := []string{"heartwall", "needle"}; !slices.Equal(against, want) {
		t.Errorf("%v contradict Table IV, want %v", against, want)
	}
}

// TestFitKernel finds the programs again that made-up times are of. On MIG instances, and where only the
// multiprocessors are divided, the same programs take other times.
func TestFitKernel(t *testing.T) {
	g := mig.MustLookup("H200")
	for class, shape := range classShapes {
		p := task.Program{Class: class, Solo: 3, Serial: 0.1, Parallelism: shape.parallelism.middle()}
		p.Memory = (1 - p.Serial) * shape.memory.middle() / (1 - shape.serial.middle())
		p.Compute = computeFor(p.Serial, p.Parallelism, p.Memory)
		for _, divided := range []bool{false, true} {
			var curve []point
			for _, size := range g.Sizes() {
				// 16, 32, 60, 64 and 132 of the 132 multiprocessors, not 1 to 7 eighths.
				at := point{compute: float64(g.Profile(size).SMs) / 132, bandwidth: 1}
				if divided {
					at.bandwidth = float64(g.Profile(size).Length) / 8
				}
				at.seconds = float64(p.Solo) * p.Relative(at.compute, at.bandwidth)
				curve = append(curve, at)
			}
			f := fitKernel("k", tableProgram{}, curve)
			if f.Kernel != "k" || f.Program != "" || f.RMS > 0.001 || math.Abs(float64(f.Fitted.Solo)-3) > 0.01 {
				t.Errorf("%s, %v: %+v", class, divided, f)
			}
			// With the whole bandwidth, US gains little, and memory work shows in the curve.
			if !divided && f.Fitted.Class != class {
				t.Errorf("%s was fitted as %s", class, f.Fitted.Class)
			}
		}
	}
	// A kernel that does not fit one slice has a curve without it.
	k := task.New("k", map[mig.Slices]mig.Seconds{2: 4, 3: 3, 4: 2, 7: 2})
	if f := fitKernel("k", tableProgram{}, instanceCurve(&k)); f.Gain != 2 || math.IsNaN(f.RMS) || f.RMS > 0.5 {
		t.Errorf("%+v", f)
	}
}

func TestPaperQueues(t *testing.T) {
	printed, err := hierarchicalTables.ReadFile("hierarchical/table5.txt")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{} // by the name without and with the mark
	for _, name := range strings.FieldsFunc(string(printed), func(r rune) bool { return strings.ContainsRune(", \n", r) }) {
		seen[name] = true
	}
	for _, p := range Programs() { // both tables mark the same programs
		if p.Unseen && seen[p.Name] || !p.Unseen && seen[p.Name+"*"] {
			t.Errorf("Table V marks %s, Table IV does not, or the other way round", p.Name)
		}
	}
	want := [][3]int{{6, 3, 3}, {3, 6, 3}, {3, 3, 6}, {4, 4, 4}}
	for i, row := range table5() {
		w := window(t, "corun/queues", i)
		if w.Concurrency != 4 || w.Model != (corun.Model{Kappa: 0.25, Delta: 0.3}) {
			t.Errorf("Q%d has Cmax %d and the model %+v", i+1, w.Concurrency, w.Model)
		}
		if got := countsOf(w.Jobs); got != want[i/3] {
			t.Errorf("Q%d has %v jobs by class, want %v", i+1, got, want[i/3])
		}
		if got := namesOf(w.Jobs); !slices.Equal(got, row) {
			t.Errorf("Q%d has %v, want %v", i+1, got, row)
		}
	}
}

func TestCategoryCounts(t *testing.T) {
	for category, want := range map[string]map[int][3]int{
		"ci-dominant": {1: {1, 0, 0}, 2: {1, 1, 0}, 3: {2, 1, 0}, 4: {2, 1, 1}, 7: {4, 2, 1}, 12: {6, 3, 3}, 20: {10, 5, 5}},
		"mi-dominant": {1: {0, 1, 0}, 2: {1, 1, 0}, 4: {1, 2, 1}, 12: {3, 6, 3}},
		"us-dominant": {1: {0, 0, 1}, 2: {1, 0, 1}, 4: {1, 1, 2}, 12: {3, 3, 6}},
		"balanced":    {1: {1, 0, 0}, 2: {1, 1, 0}, 3: {1, 1, 1}, 12: {4, 4, 4}, 14: {5, 5, 4}},
	} {
		for w, want := range want {
			if got := categoryCounts(category, w); got != want {
				t.Errorf("%s with %d jobs: %v, want %v", category, w, got, want)
			}
		}
	}
}

func TestGeneratedQueues(t *testing.T) {
	known := map[string]task.Program{}
	for _, p := range Programs() {
		known[p.Name] = p
	}
	for _, category := range categories {
		text := corunPrefix + category
		for i := range 20 {
			jobs := window(t, text, i).Jobs
			if got, want := countsOf(jobs), categoryCounts(category, 12); got != want {
				t.Errorf("%s, instance %d: %v, want %v", text, i, got, want)
			}
			names := namesOf(jobs)
			slices.Sort(names)
			if len(slices.Compact(names)) != 12 {
				t.Errorf("%s, instance %d has a program twice while others are left", text, i)
			}
			for _, j := range jobs {
				if known[j.Name] != j {
					t.Errorf("%s, instance %d: %+v is not Table IV's", text, i, j)
				}
			}
			for _, p := range window(t, text+"?w=7", i).Jobs {
				if !slices.Contains(jobs, p) {
					t.Errorf("%s, instance %d: %s is in the short window and not in the long one", text, i, p.Name)
				}
			}
		}
		if slices.Equal(window(t, text, 0).Jobs, window(t, text, 1).Jobs) || slices.Equal(window(t, text, 0).Jobs, window(t, text+"?seed=2", 0).Jobs) {
			t.Errorf("%s: another index or seed gives the same queue", text)
		}
	}
	long := window(t, "corun/us-dominant?w=60", 0).Jobs
	of := map[string]int{}
	for _, j := range long {
		if j.Class == task.Unscalable {
			of[j.Name]++
		}
	}
	for name, n := range of {
		if n != 3 && n != 4 {
			t.Errorf("%s is there %d times among 30 of 9 programs", name, n)
		}
	}
}

func TestSeenAndUnseenQueues(t *testing.T) {
	of := map[string]map[string]bool{seenName: {}, unseenName: {}}
	for name := range of {
		for i := range 60 {
			jobs := window(t, corunPrefix+name+"?w=6", i).Jobs
			if got := countsOf(jobs); got != [3]int{2, 2, 2} {
				t.Errorf("%s, instance %d: %v", name, i, got)
			}
			for _, j := range jobs {
				if of[name][j.Name] = true; j.Unseen != (name == unseenName) {
					t.Errorf("%s, instance %d has %s", name, i, j.Name)
				}
			}
		}
	}
	if len(of[seenName]) != 18 || len(of[unseenName]) != 9 {
		t.Errorf("%d seen and %d unseen programs, want 18 and 9", len(of[seenName]), len(of[unseenName]))
	}
}

func TestTrainingQueues(t *testing.T) {
	if n := MustParse("corun/training").Instances(); n != 20 {
		t.Errorf("%d queues, want 20", n)
	}
	for _, text := range []string{"corun/training", "corun/training?w=3", "corun/training?w=40&seed=5"} {
		for i := range 20 {
			jobs := window(t, text, i).Jobs
			if n := countsOf(jobs); n[0]*n[1]*n[2] == 0 {
				t.Errorf("%s, instance %d lacks a class: %v", text, i, namesOf(jobs))
			}
			if k := slices.IndexFunc(jobs, func(p task.Program) bool { return p.Unseen }); k >= 0 {
				t.Errorf("%s, instance %d has %s, which is not trained on", text, i, jobs[k].Name)
			}
		}
	}
}

func TestDrawnQueues(t *testing.T) {
	for i := range 8 {
		jobs := window(t, "corun/drawn", i).Jobs
		if got, want := countsOf(jobs), categoryCounts(categories[i%4], 12); got != want {
			t.Errorf("instance %d: %v by class, want %v", i, got, want)
		}
		for k, p := range jobs {
			if p.Fitted || p.ByRule() != p.Class || slices.Contains(jobs[:k], p) {
				t.Errorf("instance %d: %+v", i, p)
			}
		}
	}
	if slices.Equal(window(t, "corun/drawn", 0).Jobs, window(t, "corun/drawn?seed=2", 0).Jobs) {
		t.Error("another seed draws the same programs")
	}
}

// Another draw changes the programs that are drawn, and no others; the setting changes none.
func TestDrawAndSetting(t *testing.T) {
	one, two := window(t, "corun/queues", 11).Jobs, window(t, "corun/queues?draw=2", 11).Jobs
	for i := range one {
		if (one[i] == two[i]) != one[i].Fitted {
			t.Errorf("%s, fitted %v: draw 1 and 2 give %+v and %+v", one[i].Name, one[i].Fitted, one[i], two[i])
		}
	}
	w := window(t, "corun/balanced?kappa=0.2&delta=0&cmax=3&release=true", 5)
	if want := window(t, "corun/balanced", 5); !slices.Equal(w.Jobs, want.Jobs) {
		t.Error("the setting changes the jobs")
	}
	if w.Concurrency != 3 || w.Model != (corun.Model{Kappa: 0.2, Release: true}) {
		t.Errorf("Cmax %d and %+v", w.Concurrency, w.Model)
	}
}

func TestWindowsThatDoNotExist(t *testing.T) {
	var index *IndexError
	if _, err := InstanceOf[corun.Window](MustParse("corun/queues"), mig.MustLookup("A100"), 12); !errors.As(err, &index) {
		t.Errorf("a 13th queue: %v", err)
	}
	var unmeasured *UnmeasuredError
	if _, err := InstanceOf[corun.Window](MustParse("corun/queues"), mig.MustLookup("H100"), 0); !errors.As(err, &unmeasured) {
		t.Errorf("H100: %v", err)
	}
}

func TestFileOfPrograms(t *testing.T) {
	path := filepath.Join(t.TempDir(), "programs.csv")
	dataset := MustParse("corunfile:" + path + "?cmax=2")
	if _, err := InstanceOf[corun.Window](dataset, mig.MustLookup("H100"), 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("name,class,solo_s,serial,compute,memory,parallelism\na,CI,5,1,2,1,0.5\na,CI,6,0,0,9,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := InstanceOf[corun.Window](dataset, mig.MustLookup("H100"), 0)
	if err != nil || !slices.Equal(namesOf(in.Jobs), []string{"a", "a"}) || in.Concurrency != 2 || in.Check() != nil {
		t.Errorf("%+v, %v", in, err)
	}
	var index *IndexError
	if _, err := InstanceOf[task.Batches](dataset, mig.MustLookup("A100"), 1); !errors.As(err, &index) {
		t.Errorf("a second instance: %v", err)
	}
}

// TestDrawWindow: programs for training are possible, of the classes of a category, and, where asked
// for, without the limits of their class.
func TestDrawWindow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	jobs := make([]task.Program, 12)
	for _, wide := range []float64{0, 1} {
		unlike := 0
		for range 50 {
			DrawWindow(rng, jobs, wide)
			classes := map[task.Class]int{}
			for i := range jobs {
				p := jobs[i]
				p.Name = "x"
				if err := p.Validate(); err != nil {
					t.Fatal(err)
				}
				classes[p.Class]++
				if p.ByRule() != p.Class {
					unlike++
				}
			}
			for _, c := range task.Classes() {
				if n := classes[c]; n != 3 && n != 4 && n != 6 {
					t.Errorf("%d programs of class %s among 12", n, c)
				}
			}
		}
		if (unlike > 0) != (wide > 0) {
			t.Errorf("%d of 600 programs are not of their class by the rule, with the share %v", unlike, wide)
		}
	}
}
