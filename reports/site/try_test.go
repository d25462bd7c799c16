package site_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "miglab/algorithms"
	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
	"miglab/reports/site"
)

// goTool runs the Go command with further environment variables.
func goTool(t *testing.T, env []string, args ...string) string {
	t.Helper()
	c := exec.Command("go", args...)
	c.Env = append(os.Environ(), append(env, "CGO_ENABLED=0")...)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %q: %v\n%s", args, err, &stderr)
	}
	return strings.TrimSpace(string(out))
}

// buildTry builds the program of try.html as make site does.
func buildTry(t *testing.T) *site.Program {
	t.Helper()
	wasm := filepath.Join(t.TempDir(), "try.wasm")
	goTool(t, []string{"GOOS=js", "GOARCH=wasm"}, "build", "-buildvcs=false", "-ldflags", "-s -w", "-o", wasm, "miglab/harness/cmd/miglab-wasm")
	start, err := os.ReadFile(filepath.Join(goTool(t, nil, "env", "GOROOT"), "lib", "wasm", "wasm_exec.js"))
	if err == nil {
		err = os.WriteFile(filepath.Join(filepath.Dir(wasm), "wasm_exec.js"), start, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := site.ReadProgram(wasm)
	if err != nil {
		t.Fatal(err)
	}
	if most := 8 << 20; len(p.Wasm) > most {
		t.Errorf("the program has %d bytes, more than %d", len(p.Wasm), most)
	}
	return p
}

// A tried is what is chosen on try.html, and the tasks of the pasted text.
type tried struct {
	gpu, model, algorithms, text string
	count                        int
	tasks                        task.Batch
}

// link is the address that brings back what is chosen.
func (b *tried) link() string {
	return "try.html#" + url.Values{"gpu": {b.gpu}, "count": {fmt.Sprint(b.count)}, "model": {b.model}, "algorithms": {b.algorithms}, "tasks": {b.text}}.Encode()
}

// schedulers are those of the page. A batch is scheduled by one half of them.
var schedulers = []string{"far,miso,treedp", "fixpart,fixpartbest,lns,nomig"}

// newTried draws a batch of at most ten tasks for an A30, A100 or H100. Some do not fit all sizes.
func newTried(t *testing.T, i int) tried {
	rng := rand.New(rand.NewPCG(45, uint64(i)))
	b := tried{gpu: []string{"A30", "A100", "H100"}[i%3], model: mig.Reconfiguration(rng.IntN(3)).String(), algorithms: schedulers[i/3%2], count: 1 + rng.IntN(2)}
	g := mig.MustLookup(b.gpu)
	for k := range 1 + rng.IntN(10) {
		d := math.Exp(rng.NormFloat64() * 2)
		times := map[mig.Slices]mig.Seconds{}
		for _, s := range g.Sizes() {
			if s == g.ComputeSlices || rng.IntN(8) > 0 {
				times[s] = mig.Seconds(d / math.Pow(float64(s), rng.Float64()*1.2))
			}
		}
		b.tasks = append(b.tasks, task.New(fmt.Sprintf("task %d", k), times))
	}
	var text strings.Builder
	if err := task.WriteStream(&text, g, task.Batches{Tasks: b.tasks, Lengths: []int{len(b.tasks)}}); err != nil {
		t.Fatal(err)
	}
	b.text = text.String()
	return b
}

// natively is what an algorithm answers outside the browser: a schedule as JSON, or an error.
func (b *tried) natively(t *testing.T, algorithm string) (out string, makespan, bound mig.Seconds) {
	t.Helper()
	model, err := mig.ParseReconfiguration(b.model)
	if err != nil {
		t.Fatal(err)
	}
	p := schedule.Problem{GPU: mig.MustLookup(b.gpu), Count: b.count, Model: model, Tasks: b.tasks}
	a, err := algo.ParseFor(algorithm, algo.TrackBatch)
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.Schedule(t.Context(), p)
	if infeasible, ok := errors.AsType[*algo.InfeasibleError](err); ok {
		return infeasible.Error(), 0, 0
	}
	w, boundErr := bounds.Prove(t.Context(), p, mig.Seconds(math.Inf(1)))
	var file strings.Builder
	if err := errors.Join(err, boundErr, schedule.Encode(&file, p, s)); err != nil {
		t.Fatal(err)
	}
	return file.String(), s.Makespan(), w.Bound
}

const (
	settled = `document.querySelector("#try-status").textContent !== "" && !document.querySelector("#try-status").textContent.endsWith("…")`
	status  = `document.querySelector("#try-status").textContent`
	files   = `[...document.querySelectorAll("#try-results:not([hidden]) #try-rows tr")].map((r) => (r.querySelector("a") ? decodeURIComponent(r.querySelector("a").href.replace("data:application/json,", "")) : r.querySelector(".wrong").textContent))`
)

// reopen opens a link in a page that runs already, and waits for its answer.
func (tab *tab) reopen(link string) {
	tab.t.Helper()
	get[bool](tab, fmt.Sprintf(`(document.querySelector("#try-status").textContent = "…", location.hash = %q, true)`, link[strings.Index(link, "#"):]))
	tab.wait(settled)
}

// TestTry: the page schedules as miglab does, byte by byte.
func TestTry(t *testing.T) {
	d := sample()
	d.Instances = append(d.Instances, a30Instance())
	d.Try = buildTry(t)
	page := openTab(t, d)
	for _, c := range []struct {
		name string
		test func(*tab)
	}{
		{"example", tryExample},
		{"batches", tryBatches},
		{"mistakes", tryMistakes},
		{"looks", tryLooks},
	} {
		t.Run(c.name, func(t *testing.T) {
			page.t = t
			page.size(1280, 900)
			c.test(page)
		})
	}
	page.lock.Lock()
	defer page.lock.Unlock()
	for _, trouble := range page.troubles {
		t.Errorf("the browser complains: %s", trouble)
	}
	for _, r := range page.requests {
		if !strings.HasPrefix(r, page.address) && !strings.HasPrefix(r, "blob:null/") && r != "about:blank" {
			t.Errorf("a request for %.200s", r)
		}
	}
}

// a30Instance has a task for an A30.
func a30Instance() site.Instance {
	p := schedule.Problem{GPU: mig.MustLookup("A30"), Tasks: task.Batch{task.New("small", map[mig.Slices]mig.Seconds{1: 4, 2: 2, 4: 1})}}
	return site.Instance{Track: "batch", Dataset: "small", Problem: p, Lower: 1, Plans: []site.Plan{{Algorithm: "whole", Schedule: onParts(p, "4@0")}}}
}

func tryExample(tab *tab) {
	tab.open("try.html")
	tab.wait(settled)
	tab.t.Logf("ready after %.0f ms", get[float64](tab, `performance.now()`))
	tab.equal("the example", get[string](tab, `document.querySelector("#try").elements.example.value`), "drl/WIDETIMES on A100")
	tab.equal("the schedulers", get[[]string](tab, `[...document.querySelectorAll(".plan h2")].map((h) => h.textContent)`), []string{"far", "miso", "treedp"})
	tab.equal("the file", get[string](tab, `document.querySelector("#try-rows a").download`), "schedule-far.json")
	change := func(field, value string) {
		get[bool](tab, fmt.Sprintf(`(() => { const f = document.querySelector("#try").elements[%q]; f.value = %q; f.dispatchEvent(new Event("change", {bubbles: true})); return true; })()`, field, value))
	}
	// What is asked last counts, and an example gives way to one that has the columns of the GPU.
	for _, gpu := range []string{"H100", "A100", "A30"} {
		change("gpu", gpu)
	}
	tab.wait(settled)
	tab.equal("the example that fits", get[string](tab, `document.querySelector("#try").elements.example.value`), "small on A30")
	tab.equal("its optimum", get[string](tab, status), "far, miso and treedp end first, after 1.130 s. No schedule ends earlier: the certified bound is as high.")
	tab.equal("the address", get[bool](tab, `location.hash.includes("gpu=A30")`), true)
	change("tasks", "task,t1,t2,t4\nmine,4,2,1\n")
	tab.wait(settled)
	tab.equal("own tasks", get[string](tab, `document.querySelector("#try").elements.example.value`), "")
	tab.equal("their name in the chart", get[string](tab, `document.querySelector(".gantt text.name").textContent`), "mine")
	for _, box := range []string{"far", "miso", "treedp"} {
		tab.click(fmt.Sprintf("#try-algorithms [value=%s]", box))
	}
	tab.wait(settled)
	tab.equal("no scheduler", get[string](tab, status), "Choose a scheduler.")
}

// TestTryWithoutExamples: a site without instances, as of site --own, asks for tasks and shows no error.
func TestTryWithoutExamples(t *testing.T) {
	d := sample()
	d.Instances, d.Try = nil, buildTry(t)
	page := openTab(t, d)
	page.open("try.html")
	page.wait(settled)
	page.equal("the invitation", get[string](page, status), "Write tasks below the header task,t1,t2,t4 and choose Schedule.")
	page.equal("errors", get[int](page, `document.querySelectorAll(".wrong").length`), 0)
	page.reopen((&tried{gpu: "A100", count: 1, model: "free", algorithms: "far", text: header + "a,8,4,3,2,1\n"}).link())
	page.equal("own tasks", get[int](page, `document.querySelectorAll("#try-rows a").length`), 1)
}

func tryBatches(tab *tab) {
	n := 6
	if deep.On() {
		n = 200
	}
	tab.open("try.html")
	tab.wait(settled)
	schedules := 0
	for i := range n {
		b := newTried(tab.t, i)
		tab.reopen(b.link())
		got := get[[]string](tab, files)
		best, bound := mig.Seconds(math.Inf(1)), mig.Seconds(0)
		for k, algorithm := range strings.Split(b.algorithms, ",") {
			want, makespan, certified := b.natively(tab.t, algorithm)
			if makespan > 0 {
				schedules++
				best, bound = min(best, makespan), certified
			}
			if k >= len(got) || got[k] != want && !(makespan == 0 && strings.HasSuffix(got[k], ": "+want)) {
				tab.t.Fatalf("batch %d, %s: the page has\n%q, want\n%s\n%s", i, algorithm, got, want, b.text)
			}
		}
		if says, part := get[string](tab, status), fmt.Sprintf("after %.3f s", best); !strings.Contains(says, part) {
			tab.t.Errorf("batch %d: %q, want one with %q", i, says, part)
		}
		if says, part := get[string](tab, `document.querySelector("#try-bounds").textContent`), fmt.Sprintf("The certified bound is %.3f s", bound); !strings.Contains(says, part) {
			tab.t.Errorf("batch %d: %q, want one with %q", i, says, part)
		}
	}
	tab.t.Logf("%d schedules of %d batches", schedules, n)
	if schedules < 2*n {
		tab.t.Errorf("only %d schedules of %d batches", schedules, n)
	}
}

const header = "task,t1,t2,t3,t4,t7\n"

// mistakes are on an A100 where they name no GPU. The first is none.
var mistakes = []tried{
	{algorithms: "far", text: header + "a,8,4,3,2,1\nb,9,5,4,3,2\n"},
	{algorithms: "far", text: header + "a,8,4,3,2,1\nb,9,5,4,x,2\n"},
	{algorithms: "far", text: header + "a,8,4,3,2,1\n\"a\",9,5,4,3,2\n"},
	{algorithms: "far", text: header + "a,8,4,3\n"},
	{algorithms: "far", text: "task,t1,t2,t4\na,8,4,3\n"},
	{algorithms: "far", text: header},
	{algorithms: "far", text: " "},
	{algorithms: "far", text: header + "a\"b,8,4,3,2,1\n"},
	{algorithms: "far", text: header + "<b>&amp;,-8,4,3,2,1\n"},
	{algorithms: "far", text: "task,batch,t1,t2,t3,t4,t7\na,1,8,4,3,2,1\nb,2,8,4,3,2,1\n"},
	{algorithms: "nomig", text: header + "a,8,4,3,2,1\n\nb,9,5,4,3,inf\n"},
	{algorithms: "treedp", text: header + manyTasks()},
	{algorithms: "lns?iterations=x", text: header + "a,8,4,3,2,1\n"},
	{algorithms: "far", gpu: "A10", text: header + "a,8,4,3,2,1\n"},
}

// manyTasks has more tasks than treedp takes.
func manyTasks() (text string) {
	for i := range 19 {
		text += fmt.Sprintf("t%d,5,4,3,2,1\n", i)
	}
	return text
}

// tryMistakes: errors are those of the program, and so is a schedule.
func tryMistakes(tab *tab) {
	dir := tab.t.TempDir()
	program := filepath.Join(dir, "miglab")
	goTool(tab.t, nil, "build", "-buildvcs=false", "-o", program, "miglab/harness/cmd/miglab")
	tab.open("try.html")
	tab.wait(settled)
	for _, c := range mistakes {
		if c.gpu == "" {
			c.gpu = "A100"
		}
		c.count, c.model = 1, "sequential"
		if err := os.WriteFile(filepath.Join(dir, "tasks.csv"), []byte(c.text), 0o644); err != nil {
			tab.t.Fatal(err)
		}
		run := exec.Command(program, "schedule", "--tasks", "tasks.csv", "--format", "json", "--gpu", c.gpu, "--algorithm", c.algorithms)
		run.Dir = dir
		var stderr strings.Builder
		run.Stderr = &stderr
		out, err := run.Output()
		want := string(out)
		if err != nil {
			want = strings.NewReplacer("miglab: ", "", "--gpu A10: ", "", "\n", "").Replace(stderr.String())
		}
		tab.reopen(c.link())
		got := get[string](tab, status)
		if rows := get[[]string](tab, files); len(rows) > 0 {
			got = rows[0]
		}
		tab.equal(fmt.Sprintf("%s on %s of %q", c.algorithms, c.gpu, c.text), got, want)
	}
	tab.reopen((&tried{gpu: "A100", count: 5, model: "free", algorithms: "far", text: header + "a,8,4,3,2,1\n"}).link())
	tab.equal("more GPUs", get[string](tab, status), "5 GPUs: this page takes 1 to 4; miglab schedule --gpus takes more")
}

func tryLooks(tab *tab) {
	b := newTried(tab.t, 1)
	for _, width := range []int64{1280, 390} {
		tab.size(width, 900)
		tab.open(b.link())
		tab.wait(settled)
		for range 2 { // both themes
			if wide := get[float64](tab, `document.documentElement.scrollWidth`); wide > float64(width) {
				tab.t.Errorf("the page is %v pixels wide, on a screen of %d", wide, width)
			}
			tab.equal("cells that are cut", get[[]string](tab, `[...document.querySelectorAll("#try :is(select, button, textarea, label), #try-results :is(td, th), .gantt text")].filter((e) => e.offsetParent !== null && e.getBoundingClientRect().right > innerWidth + 0.5).map((e) => e.textContent)`), []string{})
			tab.equal("the table's columns that are out of sight, in pixels", get[int](tab, `(({scrollWidth, clientWidth}) => scrollWidth - clientWidth)(document.querySelector("#try-results .scroll"))`), 0)
			if low := get[[]string](tab, contrast); len(low) > 0 {
				tab.t.Errorf("too little contrast: %q", low)
			}
			if found := tab.serious(); len(found) > 0 {
				tab.t.Errorf("axe-core finds %q", found)
			}
			tab.click("#theme")
		}
	}
}
