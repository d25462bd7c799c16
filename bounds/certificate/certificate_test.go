package certificate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/task"
)

// whole runs all tasks on the largest instance of the first GPU.
func whole(p schedule.Problem) schedule.Schedule {
	root := p.GPU.Tree()[0].Instance
	s := schedule.Schedule{GPU: p.GPU, Algorithm: "whole", Model: p.Model}
	var now mig.Seconds
	operate := func(op schedule.Op, in mig.Instance, takes mig.Seconds) {
		if p.Model == mig.Free {
			takes = 0
		}
		s.Operations = append(s.Operations, schedule.Operation{Op: op, Instance: in, Start: now, End: now + takes})
		now += takes
	}
	there := false
	for _, e := range p.Start {
		if e.GPU > 0 {
			continue
		}
		now = max(now, e.BusyUntil)
		if e.Instance == root {
			there = true
		} else {
			operate(schedule.Destroy, e.Instance, e.Instance.Profile.Destroy)
		}
	}
	if !there {
		operate(schedule.Create, root, root.Profile.Create)
	}
	for i := range p.Tasks {
		begin := max(now, p.ReleaseOf(i))
		now = begin + p.Tasks[i].On(root.Size())
		s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: root, Start: begin, End: now})
	}
	return s
}

// random is the k-th of a list of problems of all GPUs and models, some with several GPUs, a
// start partition or releases.
func random(k, n int) schedule.Problem {
	r := rand.New(rand.NewPCG(11, uint64(k)))
	g := mig.GPUs()[k%len(mig.GPUs())]
	p := schedule.Problem{GPU: g, Model: mig.Reconfiguration(k / len(mig.GPUs()) % 3), Count: 1 + r.IntN(2)*r.IntN(3)}
	scale, falls := math.Exp(4*r.Float64()-2), r.Float64()
	for i := range n {
		x := task.Task{Name: fmt.Sprint("task", i)}
		d := scale * (1 + 20*r.Float64())
		for _, s := range g.Sizes() {
			d *= 1 - falls*r.Float64()
			if s == g.ComputeSlices || r.IntN(6) > 0 {
				x.Set(s, mig.Seconds(d))
			}
		}
		p.Tasks = append(p.Tasks, x)
	}
	if r.IntN(3) == 0 {
		for gpu := range p.Count {
			for _, in := range g.Partitions()[r.IntN(len(g.Partitions()))] {
				p.Start = append(p.Start, schedule.Existing{GPU: gpu, Instance: in, BusyUntil: mig.Seconds(r.IntN(3))})
			}
		}
	}
	if r.IntN(4) == 0 {
		for range n {
			p.Release = append(p.Release, mig.Seconds(r.IntN(5)))
		}
	}
	return p
}

// proven returns a certificate of a plain schedule and the bound of package bounds.
func proven(t testing.TB, p schedule.Problem) certificate.Certificate {
	t.Helper()
	s := whole(p)
	w, err := bounds.Prove(t.Context(), p, s.Makespan())
	if err != nil {
		t.Fatal(err)
	}
	return certificate.New(s, certificate.Witness(w))
}

func TestVerifyAcceptsWhatIsProvenAndNoMore(t *testing.T) {
	kinds := map[string]int{}
	for k := range deep.N(120, 600) {
		p := random(k, 1+k%9)
		c := proven(t, p)
		if err := certificate.Verify(p, c); err != nil {
			t.Errorf("%+v: %+v: %v", p, c.Witness, err)
		}
		kinds[c.Witness.Kind]++
		w := c.Witness
		w.Bound *= 1 + 1e-6
		if err := certificate.Verify(p, certificate.New(c.Schedule, w)); err == nil {
			t.Errorf("%+v: %+v, raised by a millionth, is accepted", p, c.Witness)
		}
	}
	for _, kind := range []string{certificate.SliceWeights, certificate.Chains} {
		if kinds[kind] == 0 {
			t.Errorf("no witness is of the kind %s: %v", kind, kinds)
		}
	}
}

// Where many instances begin together, what they wait for each other decides.
func TestVerifyLetsEachGroupWait(t *testing.T) {
	only := func(sizes ...mig.Slices) task.Batch {
		var b task.Batch
		for i, s := range sizes {
			b = append(b, task.New(fmt.Sprint("task", i), map[mig.Slices]mig.Seconds{s: 5}))
		}
		return b
	}
	batches := []task.Batch{only(1, 1, 1, 1, 1, 1, 1), only(7, 1, 1, 1, 1, 1), only(1, 4, 1, 1, 1), only(7, 1, 3, 3, 1, 2, 1, 1)}
	r := rand.New(rand.NewPCG(13, 4))
	for range deep.N(12, 80) {
		var b task.Batch
		for i := range 7 + r.IntN(4) {
			x := task.Task{Name: fmt.Sprint("task", i)}
			one := 1 + 20*r.Float64()*r.Float64()
			for _, s := range []mig.Slices{1, 2, 3, 4, 7} {
				x.Set(s, mig.Seconds(one*math.Pow(float64(s), -1.2*r.Float64())))
			}
			b = append(b, x)
		}
		batches = append(batches, b)
	}
	for k, b := range batches {
		for _, gpu := range []string{"A100", "H100"} {
			p := schedule.Problem{GPU: mig.MustLookup(gpu), Tasks: b}
			w, err := bounds.Prove(t.Context(), p, mig.Seconds(math.Inf(1)))
			if err != nil {
				t.Fatal(err)
			}
			if err := certificate.VerifyWitness(p, certificate.Witness(w)); err != nil {
				t.Errorf("%s, %d: %v", gpu, k, err)
			}
			w.Bound *= 1 + 1e-6
			if certificate.VerifyWitness(p, certificate.Witness(w)) == nil {
				t.Errorf("%s, %d: a bound raised by a millionth is accepted", gpu, k)
			}
		}
	}
}

// search returns a problem of a few tasks and its proven optimum.
func search(t testing.TB) (schedule.Problem, certificate.Certificate) {
	t.Helper()
	p := schedule.Problem{GPU: mig.MustLookup("A100"), Tasks: task.Batch{
		task.New("a", map[mig.Slices]mig.Seconds{1: 4.4, 2: 2.3, 3: 1.8, 4: 1.4, 7: 1.1}),
		task.New("b", map[mig.Slices]mig.Seconds{1: 3.1, 2: 2.9, 3: 2.6, 4: 2.5, 7: 2.4}),
		task.New("c", map[mig.Slices]mig.Seconds{1: 2.2, 2: 1.5, 3: 1.3, 4: 1.2, 7: 0.7}),
		task.New("d", map[mig.Slices]mig.Seconds{7: 0.9}),
	}}
	c, err := bounds.Exact(context.Background(), p, whole(p))
	if err != nil {
		t.Fatal(err)
	}
	if c.Witness.Kind != "search" {
		t.Fatalf("the witness is %+v, not a search", c.Witness)
	}
	return p, c
}

func TestVerifyRefusesLies(t *testing.T) {
	type edit func(p *schedule.Problem, c *certificate.Certificate)
	again := func(change edit) edit {
		return func(p *schedule.Problem, c *certificate.Certificate) {
			change(p, c)
			*c = certificate.New(c.Schedule, c.Witness)
		}
	}
	for name, l := range map[string]struct {
		edit edit
		want string
	}{
		"nothing":                       {func(*schedule.Problem, *certificate.Certificate) {}, `^$`},
		"optimum":                       {func(_ *schedule.Problem, c *certificate.Certificate) { c.Makespan -= 1e-6 }, `^makespan_s is .*, the makespan of the schedule`},
		"optimum that is no number":     {func(_ *schedule.Problem, c *certificate.Certificate) { c.Makespan = mig.Seconds(math.NaN()) }, `^makespan_s`},
		"lower bound":                   {func(_ *schedule.Problem, c *certificate.Certificate) { c.Lower -= 1e-6 }, `^lower_bound_s is .*, and the witness is for`},
		"bound of the witness":          {func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Bound += 1e-6 }, `^lower_bound_s`},
		"lower bound beyond":            {again(func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Bound += 1e-6 }), `^lower_bound_s: .* contradicts a valid schedule`},
		"lower bound 0":                 {again(func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Bound = 0 }), `^lower_bound_s`},
		"lower bound that is no number": {again(func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Bound = mig.Seconds(math.NaN()) }), `^lower_bound_s`},
		"proven":                        {func(_ *schedule.Problem, c *certificate.Certificate) { c.Proven = false }, `^proven is false`},
		"gap":                           {func(_ *schedule.Problem, c *certificate.Certificate) { c.Gap = 0.1 }, `^gap_percent is 0\.1`},
		"gap that is no number":         {func(_ *schedule.Problem, c *certificate.Certificate) { c.Gap = math.NaN() }, `^gap_percent`},
		"proven where a gap is": {func(_ *schedule.Problem, c *certificate.Certificate) {
			c.Witness.Bound /= 2
			c.Lower, c.Gap = c.Witness.Bound, 50
		}, `^proven is true`},
		"schedule": {func(_ *schedule.Problem, c *certificate.Certificate) {
			c.Schedule.Placements[0].Start -= 0.1
			c.Schedule.Placements[0].End -= 0.1
		}, `^schedule: `},
		"schedule of another model": {func(p *schedule.Problem, _ *certificate.Certificate) { p.Model = mig.Parallel }, `^schedule: `},
		"slower schedule": {again(func(p *schedule.Problem, c *certificate.Certificate) {
			c.Schedule = whole(*p)
			c.Witness.Bound = c.Schedule.Makespan()
		}), `^witness: there is a schedule shorter than`},
		"tasks without a schedule":     {func(p *schedule.Problem, _ *certificate.Certificate) { p.Tasks = nil }, `^the batch has no tasks`},
		"kind":                         {func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Kind = "serch" }, `^witness: unknown kind "serch".*did you mean "search"`},
		"area":                         {func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Kind = "area" }, `^witness: area proves .* only`},
		"chains":                       {func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Kind = "chains" }, `^witness: chains prove .* only`},
		"weights of a search":          {func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Weights = []float64{1} }, `^witness: "search" has neither`},
		"too few weights":              {weights(0, 1), `^witness: there are 1 weights for the 7 compute slices`},
		"a negative weight":            {weights(0, 2, -1, 0, 0, 0, 0, 0), `^witness: the weight of slice 1 is -1`},
		"a weight that is no number":   {weights(0, 1, 0, 0, 0, 0, 0, math.NaN()), `^witness: the weight of slice 6`},
		"too much weight":              {weights(0, 1, 0, 0, 0, 0, 0, 1), `^witness: the weights add up to 2`},
		"weights that prove less":      {weights(0, 1, 0, 0, 0, 0, 0, 0), `^witness: before .* s the slices have`},
		"prices of a search":           {func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Prices = []float64{1} }, `^witness: "search" has neither cells`},
		"cells of a search":            {func(_ *schedule.Problem, c *certificate.Certificate) { c.Witness.Cells = 1 }, `^witness: "search" has neither cells`},
		"no cells":                     {prices(0, 1, 1, 1, 1), `^witness: cells is 0`},
		"too many cells":               {prices(1<<14+1, 1, 1, 1, 1), `^witness: cells is 16385`},
		"too few prices":               {prices(10, 1, 1, 1), `^witness: there are 3 prices for 4 tasks`},
		"a negative price":             {prices(10, 1, 1, -1, 1), `^witness: the price of task 3 is -1`},
		"a price that is no number":    {prices(10, 1, 1, 1, math.NaN()), `^witness: the price of task 4 is NaN`},
		"an infinite price":            {prices(10, math.Inf(1), 1, 1, 1), `^witness: the price of task 1 is`},
		"prices that prove less":       {prices(1000, 1, 0, 0, 0), `^witness: before .* s the GPUs can earn 3;`},
		"a threshold before the bound": {weights(1, 1, 0, 0, 0, 0, 0, 0), `^witness: threshold_s is 1`},
		"search with releases":         {func(p *schedule.Problem, _ *certificate.Certificate) { p.Release = []mig.Seconds{0, 0, 0, 0.01} }, `^witness: a search is verified for`},
		"search with two GPUs":         {func(p *schedule.Problem, _ *certificate.Certificate) { p.Count = 2 }, `^witness: a search is verified for`},
	} {
		p, c := search(t)
		l.edit(&p, &c)
		got := ""
		if err := certificate.Verify(p, c); err != nil {
			got = err.Error()
		}
		if !regexp.MustCompile(l.want).MatchString(got) {
			t.Errorf("%s: %q, want %s", name, got, l.want)
		}
	}
}

// weights replaces a certificate's witness.
func weights(threshold mig.Seconds, w ...float64) func(*schedule.Problem, *certificate.Certificate) {
	return func(_ *schedule.Problem, c *certificate.Certificate) {
		c.Witness.Kind, c.Witness.Threshold, c.Witness.Weights = "slice-weights", threshold, w
	}
}

// prices replaces a certificate's witness.
func prices(cells int, p ...float64) func(*schedule.Problem, *certificate.Certificate) {
	return func(_ *schedule.Problem, c *certificate.Certificate) {
		c.Witness.Kind, c.Witness.Cells, c.Witness.Prices = certificate.TaskPrices, cells, p
	}
}

// Nine tasks of 10 s on eight slices: two of them share a slice. With one cell a second they
// take 20 of the cells, and the shortest create takes no whole one.
func TestVerifyPricesInWholeCells(t *testing.T) {
	p := schedule.Problem{GPU: mig.MustLookup("A30"), Count: 2, Model: mig.Sequential}
	for i := range 9 {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint(i), map[mig.Slices]mig.Seconds{1: 10, 4: 100}))
	}
	w := certificate.Witness{Kind: certificate.TaskPrices, Bound: 20, Cells: 20, Prices: slices.Repeat([]float64{1}, 9)}
	if err := certificate.Verify(p, certificate.New(whole(p), w)); err != nil {
		t.Error(err)
	}
	for name, edit := range map[string]func(*certificate.Witness){
		"one cell more":      func(w *certificate.Witness) { w.Bound, w.Cells = 21, 21 },
		"coarser cells":      func(w *certificate.Witness) { w.Bound, w.Cells = 20, 3 },
		"a task for nothing": func(w *certificate.Witness) { w.Prices[8] = 0 },
		"two tasks for two":  func(w *certificate.Witness) { w.Prices[0], w.Prices[1] = 5, 5 },
		"a later bound":      func(w *certificate.Witness) { w.Bound = 25 },
		"prices of nothing":  func(w *certificate.Witness) { clear(w.Prices) },
	} {
		bad := w
		bad.Prices = slices.Clone(w.Prices)
		edit(&bad)
		if err := certificate.Verify(p, certificate.New(whole(p), bad)); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// Seven equal tasks take a slice each and could end at 11.12 s; a schedule lets them wait. Prices that are equal prove
// nothing, in whatever order floating-point numbers add them up.
func TestVerifyPricesThatTie(t *testing.T) {
	p := schedule.Problem{GPU: mig.MustLookup("A100")}
	s := schedule.Schedule{GPU: p.GPU}
	for i := range 7 {
		p.Tasks = append(p.Tasks, task.New(fmt.Sprint(i), map[mig.Slices]mig.Seconds{1: 10, 7: 50}))
		in, err := p.GPU.Instance(1, mig.Slices(i))
		if err != nil {
			t.Fatal(err)
		}
		begin := mig.Seconds(i) * 0.16
		s.Operations = append(s.Operations, schedule.Operation{Op: schedule.Create, Instance: in, Start: begin, End: begin + 0.16})
		s.Placements = append(s.Placements, schedule.Placement{Task: i, Instance: in, Start: 8.9, End: 18.9})
	}
	for k := range 1000 {
		w := certificate.Witness{Kind: certificate.TaskPrices, Bound: s.Makespan(), Cells: 2, Prices: slices.Repeat([]float64{1 + float64(k)/7}, 7)}
		if err := certificate.Verify(p, certificate.New(s, w)); err == nil {
			t.Fatalf("seven prices of %v certify 1.7 times the optimum", w.Prices[0])
		}
	}
}

func encode(t testing.TB, p schedule.Problem, c certificate.Certificate) string {
	t.Helper()
	var b bytes.Buffer
	if err := certificate.Encode(&b, p, c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestDecodeReadsWhatEncodeWrites(t *testing.T) {
	for k := range deep.N(20, 60) {
		p := random(k, 1+k%5)
		text := encode(t, p, proven(t, p))
		c, err := certificate.Decode(strings.NewReader(text), p)
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if err := certificate.Verify(p, c); err != nil {
			t.Error(err)
		}
		if again := encode(t, p, c); again != text {
			t.Errorf("%s\nbecomes\n%s", text, again)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	p, c := search(t)
	text := encode(t, p, c)
	for name, l := range map[string]struct{ old, replacement, want string }{
		"unknown field":              {`"proven"`, `"prove"`, `^line 4: unknown field "prove".*did you mean "proven"`},
		"letters of another case":    {`"proven"`, `"Proven"`, `^line 4: unknown field`},
		"field twice":                {`"proven": true`, `"proven": true, "proven": true`, `^line 4: proven: the field is there twice`},
		"field missing":              {`"proven": true,`, ``, `^line \d+: proven: the field is missing`},
		"null":                       {`"proven": true`, `"proven": null`, `^line 4: proven: null is not true or false`},
		"null for a list":            {`"kind": "search",`, `"kind": "search", "weights": null,`, `^line \d+: witness\.weights: null is not a list`},
		"null in a list":             {`"kind": "search",`, `"kind": "search", "prices": [1, null],`, `^line \d+: witness\.prices\[1\]: null is not a number`},
		"no number":                  {`"gap_percent": 0`, `"gap_percent": NaN`, `^line \d+: gap_percent: this is not JSON`},
		"number as text":             {`"gap_percent": 0`, `"gap_percent": "0"`, `^line 5: gap_percent: `},
		"too large a number":         {`"gap_percent": 0`, `"gap_percent": 1e999`, `^line 5: gap_percent: `},
		"field of the schedule":      {`"gpu": "A100"`, `"gpu": "A30"`, `^line 7: schedule\.gpu: the schedule is for A30`},
		"field of the witness":       {`"kind"`, `"kinds"`, `^line \d+: witness: unknown field "kinds"`},
		"kind missing":               {`"kind": "search",`, ``, `^line \d+: witness\.kind: the field is missing`},
		"witness that is no object":  {`"witness": {`, `"witness": [{`, `^line \d+: witness: `},
		"schedule that is no object": {`"schedule": {`, `"schedule": 1, "more": {`, `^line 6: schedule: 1 is not an object`},
	} {
		broken := strings.Replace(text, l.old, l.replacement, 1)
		if broken == text {
			t.Fatalf("%s: %s is not in\n%s", name, l.old, text)
		}
		_, err := certificate.Decode(strings.NewReader(broken), p)
		var format *schedule.FormatError
		if !errors.As(err, &format) || !regexp.MustCompile(l.want).MatchString(err.Error()) {
			t.Errorf("%s: %v, want %s", name, err, l.want)
		}
	}
	for _, broken := range []string{"", "{", "[]", "1", text + "1", text[:len(text)-3], `{"schedule": `, "{\"\xff"} {
		var format *schedule.FormatError
		if _, err := certificate.Decode(strings.NewReader(broken), p); !errors.As(err, &format) {
			t.Errorf("%q: %v", broken, err)
		}
	}
}

// What can be read can be written and read again, and judging it does not panic.
func TestDecodeAcceptanceIsStrict(t *testing.T) {
	const text = `{"gpus": 1, "requests": 1, "accepted_at_most": 1, "instants": [{"prices": [1]}]}`
	const want = "line 1: instants[0].slot: the field is missing"
	if _, err := certificate.DecodeAcceptance(strings.NewReader(text)); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func FuzzDecode(f *testing.F) {
	p, c := search(f)
	f.Add([]byte(encode(f, p, c)))
	f.Add([]byte(encode(f, p, proven(f, p))))
	f.Add([]byte(`{"lower_bound_s": 1, "schedule": {}, "witness": {"weights": [1]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := certificate.Decode(bytes.NewReader(text), p)
		if err != nil {
			return
		}
		_ = certificate.Verify(p, c)
		again, err := certificate.Decode(strings.NewReader(encode(t, p, c)), p)
		if err != nil || again.Lower != c.Lower || again.Witness.Kind != c.Witness.Kind || !slices.Equal(again.Witness.Weights, c.Witness.Weights) {
			t.Errorf("%+v becomes %+v, %v", c, again, err)
		}
	})
}
