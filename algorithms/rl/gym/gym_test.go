package gym

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/spec"
	"miglab/harness/task"
)

func openVector(t testing.TB, name, options string, envs int, seed uint64) *vector {
	t.Helper()
	v, err := newVector(&request{Environment: name, Envs: envs, Seed: seed, Invalid: "error", Options: []byte(options)})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// begun is a vector whose first episodes have begun.
func begun(t testing.TB, name, options string, envs int, seed uint64) *vector {
	t.Helper()
	v := openVector(t, name, options, envs, seed)
	v.must(t, orderBegin)
	return v
}

// tell gives all environments an order; a step has the actions that values have.
func (v *vector) tell(order uint8) error {
	for i := range v.orders {
		v.orders[i] = order
	}
	return v.apply()
}

func (v *vector) must(t testing.TB, order uint8) {
	t.Helper()
	if err := v.tell(order); err != nil {
		t.Fatal(err)
	}
}

// choose draws allowed actions.
func (v *vector) choose(rng *rand.Rand) {
	for i := range v.values {
		v.values[i] = 0
		seen := int64(0)
		for a, ok := range v.mask(i) {
			if ok {
				if seen++; rng.Int64N(seen) == 0 {
					v.values[i] = int64(a)
				}
			}
		}
	}
}

// stepAndBegin takes random actions.
func (v *vector) stepAndBegin(t testing.TB, rng *rand.Rand) {
	t.Helper()
	v.choose(rng)
	v.must(t, orderStepAndBegin)
}

// small are options of each kind that make episodes short.
var small = map[string]string{
	"deadline": `{"dataset":"deadline/tight?gpus=4-3+7","sparse":true}`,
	"own":      `{"tasks":3,"start":0.5}`,
	"batch":    `{"tasks":3,"levels":14,"encoding":"one-hot"}`,
}

// TestRolloutsHaveTheBytesOfTheLibrary repeats random rollouts of the C library that this package replaced, whose
// observations, masks, facts, rewards and metrics testdata/rollouts.golden sums up.
func TestRolloutsHaveTheBytesOfTheLibrary(t *testing.T) {
	golden, err := os.ReadFile("testdata/rollouts.golden")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(golden)) {
		called, _, _ := strings.Cut(line, ": ")
		name, options, _ := strings.Cut(called, " ")
		v := begun(t, name, options, 4, 7)
		rng := rand.New(rand.NewPCG(1, 1))
		hash, episodes, sum := sha256.New(), 0, 0.0
		steps := 1100
		if name == "deadline" {
			steps = 4500
		}
		for range steps {
			v.stepAndBegin(t, rng)
			for i, done := range v.done {
				sum += float64(v.rewards[i])
				if done {
					episodes++
				}
			}
			for _, part := range []any{v.rewards, v.done, v.observations, v.masks, v.known} {
				if err := binary.Write(hash, binary.LittleEndian, part); err != nil {
					t.Fatal(err)
				}
			}
			fmt.Fprint(hash, v.measured)
		}
		if got := fmt.Sprintf("%s: %d episodes, rewards %.6g, %x\n", called, episodes, sum, hash.Sum(nil)[:8]); got != line {
			t.Errorf("got  %swant %s", got, line)
		}
	}
}

// TestVectorIsItsEnvironments repeats each environment of a vector with one of its own.
func TestVectorIsItsEnvironments(t *testing.T) {
	for name, options := range small {
		v := begun(t, name, options, 3, 40)
		rng := rand.New(rand.NewPCG(1, 1))
		var singles []*vector
		for i := range uint64(3) {
			singles = append(singles, begun(t, name, options, 1, 40+i))
		}
		done := 0
		for steps := 0; steps < 5000 && (done < 6 || deep.On()); steps++ {
			v.stepAndBegin(t, rng)
			for i, s := range singles {
				s.values[0] = v.values[i]
				s.must(t, orderStepAndBegin)
				m := len(v.metrics)
				same := slices.Equal(v.observations[i*v.shape.Observation:][:v.shape.Observation], s.observations) &&
					slices.Equal(v.mask(i), s.masks) && v.rewards[i] == s.rewards[0] && v.done[i] == s.done[0] &&
					(slices.Equal(v.measured[i*m:][:m], s.measured) || !v.done[i] && math.IsNaN(s.measured[0]))
				if !same || v.done[i] == math.IsNaN(v.measured[i*m]) {
					t.Fatalf("%s: environment %d of %+v is another one alone: %+v", name, i, v, s)
				}
				if v.done[i] {
					done++
				}
			}
		}
		if done < 3 {
			t.Errorf("%s: %d episodes were done", name, done)
		}
	}
}

// TestObservationsAreWithinBounds takes random steps under many options.
func TestObservationsAreWithinBounds(t *testing.T) {
	for _, c := range [][2]string{
		{"deadline", `{}`},
		{"deadline", `{"original":true}`},
		{"deadline", `{"released":true}`},
		{"deadline", `{"released":true,"original":true}`},
		{"deadline", `{"first":true,"dataset":"deadline/tight?preemption=yes"}`},
		{"own", `{}`},
		{"own", `{"gpu":"A30","start":1}`},
		{"own", `{"tasks":150}`}, // the number of tasks is a feature that is clipped
		{"batch", `{}`},
		{"batch", `{"direct":true,"random_start":true,"stream":40}`},
		{"batch", `{"levels":10,"gpu":"A30"}`},
		{"batch", `{"gpu":"A30","dataset":"drl-table2-molded"}`}, // tasks that fit one size alone
		{"batch", `{"gpu":"A30","dataset":"drl-table2-molded","levels":9,"encoding":"one-hot"}`},
		{"batch", `{"levels":14,"released":true,"random_start":true}`},
		{"batch", `{"levels":9,"encoding":"one-hot","direct":true,"tasks":5}`},
	} {
		v := begun(t, c[0], c[1], 2, 3)
		var low, high []float32
		for _, b := range v.envs[0].Bounds() {
			low = append(low, slices.Repeat([]float32{float32(b.Low)}, b.Count)...)
			high = append(high, slices.Repeat([]float32{float32(b.High)}, b.Count)...)
		}
		if len(low) != v.shape.Observation {
			t.Fatalf("%s: there are bounds of %d values, and %d values", c, len(low), v.shape.Observation)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for range 2500 {
			for k, x := range v.observations {
				if k %= len(low); !(x >= low[k] && x <= high[k]) {
					t.Fatalf("%s: value %d is %v; its bounds are %v and %v", c, k, x, low[k], high[k])
				}
			}
			v.stepAndBegin(t, rng)
		}
	}
}

// TestInvalidActions has a case for each value of invalid, in a state in which slice 1 is busy.
func TestInvalidActions(t *testing.T) {
	for _, invalid := range []string{"error", "nearest", "end"} {
		v := begun(t, "deadline", "{}", 2, 1)
		v.Invalid = invalid
		for !slices.Equal(v.mask(1)[:3], []bool{true, false, true}) {
			v.stepAndBegin(t, rand.New(rand.NewPCG(1, 1)))
		}
		before := fmt.Sprint(v.frame)
		for _, action := range []int64{-1, 20, math.MaxInt64, math.MinInt64} {
			v.values[0], v.values[1] = int64(slices.Index(v.mask(0), true)), action
			err := v.tell(orderStep)
			want := fmt.Sprintf("environment 1 does not allow action %d; choose one of [0 2", action)
			if err == nil || !strings.HasPrefix(err.Error(), want) || fmt.Sprint(v.frame) != before {
				t.Errorf("%s: %v, want %s", invalid, err, want)
			}
		}
		v.values[1] = 1
		seen := slices.Clone(v.observations[v.shape.Observation:])
		err := v.tell(orderStep)
		switch {
		case invalid == "error":
			if err == nil || fmt.Sprint(v.frame) != before {
				t.Errorf("a busy slice: %v", err)
			}
		case err != nil:
			t.Error(err)
		case invalid == "nearest":
			if v.values[1] != 0 || v.truncated[1] || slices.Equal(seen, v.observations[v.shape.Observation:]) {
				t.Errorf("action %d, truncated %v", v.values[1], v.truncated)
			}
		default:
			if !v.truncated[1] || v.truncated[0] || v.done[1] || v.rewards[1] != 0 || !slices.Equal(seen, v.observations[v.shape.Observation:]) {
				t.Errorf("truncated %v, done %v, rewards %v", v.truncated, v.done, v.rewards)
			}
			v.must(t, orderStep) // it waits
			if v.truncated[1] || v.rewards[1] != 0 || !slices.Equal(seen, v.observations[v.shape.Observation:]) {
				t.Errorf("an episode that is over goes on: %v", v.rewards)
			}
			v.must(t, orderBegin)
			v.values[1] = 77
			if err := v.tell(orderStepAndBegin); err == nil {
				t.Error("a new episode takes action 77")
			}
		}
	}
	for _, c := range []struct{ action, want int64 }{{0, 2}, {3, 2}, {4, 5}, {2, 2}, {6, 5}} {
		if got := replacement([]bool{false, false, true, false, false, true, false}, c.action); got != c.want {
			t.Errorf("nearest to %d is %d, want %d", c.action, got, c.want)
		}
	}
}

func TestSeedsRestartStreams(t *testing.T) {
	v := openVector(t, "own", "{}", 2, 1)
	var shown [3]string
	for i, seed := range []int64{5, 6, 5} {
		v.values[0], v.values[1] = seed, seed
		v.must(t, orderSeed)
		shown[i] = fmt.Sprint(v.observations)
	}
	if shown[0] != shown[2] || shown[0] == shown[1] {
		t.Error("the seed does not decide")
	}
}

// An environment whose episode is over shows zeros, ignores actions and waits.
func TestDoneWaitsForABegin(t *testing.T) {
	v := begun(t, "own", `{"tasks":2}`, 1, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2 {
		v.choose(rng)
		v.must(t, orderStep)
	}
	if zeros := make([]float32, len(v.observations)); !v.done[0] || !slices.Equal(v.observations, zeros) || slices.Contains(v.masks, true) {
		t.Errorf("%+v", v)
	}
	v.values[0] = -1
	v.must(t, orderStep)
	if v.done[0] || v.rewards[0] != 0 || fmt.Sprint(v.measured) != "[NaN]" {
		t.Errorf("%+v", v)
	}
	v.must(t, orderKeep)
	if err := v.tell(orderSeed + 1); err == nil || err.Error() != "environment 0: there is no order 5; an order is from 0 to 4" {
		t.Errorf("%v", err)
	}
}

func TestMistakesInRequests(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"", "the first line of the input, at most 65536 bytes of JSON, says which environments to open: EOF"},
		{strings.Repeat("x", 1<<17), "the first line of the input, at most 65536 bytes"},
		{"{}\n", "the client speaks version 0 of the protocol and this program version 1"},
		{`{"protocol":2,"new":1}` + "\n", "the client speaks version 2 of the protocol and this program version 1"},
		{"hello\n", "the first line: "},
		{`{"protocol":1,"envs":true}` + "\n", "the first line: envs: "},
		{`{"protocol":1,"environment":"own","invalid":"ends"}` + "\n", `unknown value of invalid "ends"; did you mean "end"?`},
		{`{"protocol":1,"environment":"own","seed":-1}` + "\n", "the first line: seed: "},
	} {
		var out bytes.Buffer
		if err := Serve(strings.NewReader(c.line), &out); err == nil || !strings.HasPrefix(err.Error(), c.want) || out.Len() > 0 {
			t.Errorf("%.40s: %v, want %s; %s", c.line, err, c.want, &out)
		}
	}
	for _, c := range []struct {
		name, options string
		envs          int
		want          string
	}{
		{"deadlin", "{}", 1, `unknown environment "deadlin"; did you mean "deadline"? (known: batch, deadline, own)`},
		{"deadline", "{} {}", 1, "there is more text after the end"},
		{"deadline", `{"orginal":true}`, 1, `environment deadline: unknown field "orginal"; did you mean "original"? (known: dataset, energy, first, gpu, instances, original, penalty, released, sparse)`},
		{"deadline", `{"energy":"all"}`, 1, `environment deadline: energy: unknown energy charge "all" (known: as-released, right)`},
		{"deadline", `{"dataset":"rodinia"}`, 1, `unknown days to sample "rodinia"`},
		{"deadline", `{"gpu":"A30"}`, 1, "A30"},
		{"own", `{"workload":"rodinia"}`, 1, `unknown workload to sample "rodinia"`},
		{"own", `{"start":1.5}`, 1, "start is 1.5; it is a probability, from 0 to 1"},
		{"own", `{"tasks":0}`, 1, "tasks is 0; it is from 1 to 10000"},
		{"own", "{}", 0, "0 environments; there are from 1 to 65536"},
		{"own", `{"tasks":10000}`, 65536, "values; there may be 268435456"},
		{"own", `{"dataset":"rodinias"}`, 1, `unknown dataset "rodinias"`},
		{"own", `{"dataset":"rodinia","workload":"WIDETIMES"}`, 1, "workload is WIDETIMES and dataset is rodinia; give one of them"},
		{"own", `{"dataset":"rodinia","start":0.5}`, 1, "have no meaning for the instances of a dataset, rodinia"},
		{"own", `{"answers":true}`, 1, "answers are for the instances of a dataset"},
		{"batch", `{"dataset":"rodinia","stream":20}`, 1, "start, stream and random_start have no meaning"},
		{"batch", `{"encoding":"onehot"}`, 1, `did you mean "one-hot"`},
		{"batch", `{"stream":10001}`, 1, "stream is 10001; it is at most 10000"},
		{"batch", `{"original":true}`, 1, `unknown field "original" (known: answers, bound, dataset, direct, encoding, far, gpu, levels, random_start, reconfiguration, released, stream, tasks, workload)`},
		{"batch", `{"levels":-1}`, 1, "environment batch"},
		{"batch", `{"reconfiguration":"slow"}`, 1, "slow"},
	} {
		if _, err := newVector(&request{Environment: c.name, Options: []byte(c.options), Envs: c.envs}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want %s", c.name, c.options, err, c.want)
		}
	}
}

// message is what a client sends: a value and an order for each environment.
func message(values []int64, orders ...uint8) string {
	var b []byte
	for _, x := range values {
		b = binary.NativeEndian.AppendUint64(b, uint64(x))
	}
	return string(append(b, orders...))
}

// TestServe reads replies as PROTOCOL.md describes them.
func TestServe(t *testing.T) {
	in := `{"protocol":1,"environment":"own","envs":2,"seed":9,"options":{"tasks":1,"gpu":"A30","dataset":"WIDETIMES?n=1","answers":true}}` + "\n" +
		message([]int64{0, 0}, orderBegin, orderBegin) + message([]int64{0, 99}, orderStep, orderStep) + message([]int64{0, 0}, orderStep, orderStepAndBegin)
	for cut, want := range map[int]string{0: "", 1: "the input ends after 17 of the 18 bytes of a message: unexpected EOF", 17: "the input ends after 1 of the 18 bytes"} {
		var out bytes.Buffer
		if err := Serve(strings.NewReader(in[:len(in)-cut]), &out); cut == 0 && err != nil || cut > 0 && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("without %d bytes: %v, want %s", cut, err, want)
		}
		greeting, _ := out.ReadString('\n')
		const hello = `{"actions":7,"bounds":[[1,0,1],[36,-8,8]],"facts":["instance"],"instances":0,"metrics":["makespan_s"],"observation":37,"protocol":1}` + "\n"
		if greeting != hello {
			t.Errorf("greeting %swant %s", greeting, hello)
		}
		frame := 8 + 2*(8+8+4*37+4+7+2)
		first := out.Next(frame)
		problem := out.Next(8)
		text := string(out.Next(int(binary.NativeEndian.Uint32(problem))))
		if len(first) != frame || text != "environment 1 does not allow action 99; choose one of [0 1 2 3 4 5 6]" || !slices.Equal(problem[4:], make([]byte, 4)) {
			t.Errorf("%d bytes, then %s", len(first), text)
		}
		if cut > 0 {
			continue
		}
		last := out.Next(frame)
		answers := out.String()
		if int(binary.NativeEndian.Uint32(last[4:])) != len(answers) || strings.Count(answers, `{"type":"schedule","id":`) != 2 || !slices.Equal(last[frame-4:], []byte{1, 1, 0, 0}) {
			t.Errorf("%v, then %q", last, answers)
		}
	}
}

// TestProtocolPage has the example of the page.
func TestProtocolPage(t *testing.T) {
	page, err := os.ReadFile("../python/PROTOCOL.md")
	if err != nil {
		t.Fatal(err)
	}
	_, request, _ := strings.Cut(string(page), "\n< ")
	request, want, _ := strings.Cut(request, "\n> ")
	want, _, _ = strings.Cut(want, "\n")
	var out bytes.Buffer
	if err := Serve(strings.NewReader(request+"\n"), &out); err != nil || out.String() != want+"\n" {
		t.Errorf("the page shows\n%s\nbut it is (%v)\n%s", want, err, &out)
	}
}

// FuzzServe has no messages end in a panic.
func FuzzServe(f *testing.F) {
	for _, name := range []string{"own", "batch", "deadline"} {
		for _, invalid := range []string{"error", "nearest", "end"} {
			f.Add(name, invalid, []byte(message([]int64{0, 1}, orderBegin, orderSeed)+message([]int64{1, 2}, orderStep, orderStepAndBegin)+"\x01"))
		}
	}
	f.Fuzz(func(t *testing.T, name, invalid string, messages []byte) {
		line := fmt.Sprintf(`{"protocol":1,"environment":%q,"envs":2,"invalid":%q,"options":%s}`, name, invalid, cmp.Or(small[name], "{}"))
		err := Serve(io.MultiReader(strings.NewReader(line+"\n"), bytes.NewReader(messages)), io.Discard)
		if whole := len(messages)%18 == 0; small[name] != "" && slices.Contains([]string{"error", "nearest", "end"}, invalid) && whole != (err == nil) {
			t.Errorf("%d bytes of messages: %v", len(messages), err)
		}
	})
}

func TestStepsDoNotAllocate(t *testing.T) {
	for name, options := range small {
		v := begun(t, name, options, 2, 1)
		step := func() {
			for i := range v.values {
				v.values[i] = int64(slices.Index(v.mask(i), true))
			}
			v.must(t, orderStepAndBegin)
		}
		for range 10000 { // until buffers are as long as they get
			step()
		}
		if n := testing.AllocsPerRun(1000, step); n > 0 {
			t.Errorf("%s: %v allocations a step", name, n)
		}
	}
}

// TestDaysOfADataset: with instances, a rule has on each day the numbers that miglab run measures there.
func TestDaysOfADataset(t *testing.T) {
	v := begun(t, "deadline", `{"instances":true,"sparse":true}`, 2, 1)
	for day := range 2 {
		q, err := datasets.InstanceOf[task.Queue](spec.Must(datasets.Parse("deadline/relaxed")), mig.MustLookup("A100"), day)
		if err != nil {
			t.Fatal(err)
		}
		engine, err := sim.NewDispatch(q.Jobs, q.Fleet)
		if err != nil {
			t.Fatal(err)
		}
		v.orders[0], v.orders[1] = orderKeep, orderKeep
		v.orders[day] = orderStep
		for now := engine.Next(); now != nil; now = engine.Next() {
			free := slices.IndexFunc(now.Slices(), func(s sim.Slice) bool { return !s.Busy })
			v.values[day] = int64(free)
			if err := errors.Join(engine.Place(free), v.apply()); err != nil {
				t.Fatal(err)
			}
		}
		r, got := engine.Result(), v.measured[day*len(v.metrics):]
		if !v.done[day] || got[0] != r.LatePercent() || got[1] != float64(r.Tardiness) || r.LatePercent() == 0 {
			t.Errorf("day %d: %v, want %+v", day, got, r)
		}
	}
}
