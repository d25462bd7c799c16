package advise

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "miglab/algorithms/placement"
	"miglab/bounds"
	"miglab/harness/algo"
	"miglab/harness/layout"
	"miglab/harness/mig"
	"miglab/harness/stats"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/work"
)

var proven = Bounds{Wait: bounds.WaitAtLeast, Late: bounds.LateAtLeast}

func openRunner(t *testing.T) *work.Runner {
	t.Helper()
	db, err := store.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return &work.Runner{Log: work.NewLog(db, ""), Workers: 1}
}

func drawTrace(rng *rand.Rand, g *mig.GPU, n int, several bool) (in task.Requests) {
	at := 0
	for range n {
		at += rng.IntN(6)
		q := task.Request{Arrival: at, Lifespan: 1 + rng.IntN(40), Profile: task.RequestProfiles(g)[rng.IntN(len(task.RequestProfiles(g)))]}
		if several && q.Profile.Length == g.MemorySlices && rng.IntN(2) == 0 {
			q.GPUs = 1 + rng.IntN(3)
		}
		in.Requests = append(in.Requests, q)
	}
	return in
}

// naiveFirstFit returns the waits under first fit, slot by slot.
func naiveFirstFit(requests []task.Request, gpus int, g *mig.GPU) []float64 {
	busy := make([][]int, gpus) // by GPU and slice: the slot in which the last instance leaves
	for i := range busy {
		busy[i] = make([]int, g.MemorySlices)
	}
	waits, left := make([]float64, len(requests)), len(requests)
	started := make([]bool, len(requests))
	for now := 0; left > 0; now++ {
		for i, q := range requests {
			if started[i] || q.Arrival > now {
				continue
			}
			var at [][2]int
			for gpu := range busy {
				for _, s := range q.Profile.Starts {
					if len(at) == q.Instances() || slices.Max(busy[gpu][s:s+q.Profile.Length]) > now || len(at) > 0 && at[len(at)-1][0] == gpu {
						continue
					}
					at = append(at, [2]int{gpu, int(s)})
				}
			}
			if len(at) < q.Instances() {
				continue
			}
			for _, a := range at {
				for s := range int(q.Profile.Length) {
					busy[a[0]][a[1]+s] = now + q.Lifespan
				}
			}
			started[i], waits[i] = true, float64(now-q.Arrival)
			left--
		}
	}
	return waits
}

// TestGPUsAsByBruteForce: on 200 small traces the number of GPUs that first fit needs is the least for which a naive
// simulation has the waits that are asked for, and the bound is no larger.
func TestGPUsAsByBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	sizes, tight, gaps, runner := map[int]int{}, 0, 0, openRunner(t)
	for range 200 {
		g := mig.MustLookup([]string{"A30", "A100-80GB", "H100"}[rng.IntN(3)])
		q := Question{GPU: g, Requests: drawTrace(rng, g, 2+rng.IntN(30), true), Wait: float64(rng.IntN(12)), P95: -1, Bounds: proven}
		if rng.IntN(2) == 0 {
			q.Wait, q.P95 = -1, float64(rng.IntN(30))
		}
		a := newAdviser(t.Context(), &q, runner)
		below := a.below()
		need, err := a.least(FirstFit, below)
		if err != nil {
			t.Fatal(err)
		}
		meets := func(gpus int) bool {
			waits := naiveFirstFit(q.Requests.Requests, gpus, g)
			mean, _ := stats.Summarize(waits)
			p95, _ := stats.Quantile(waits, 0.95)
			return (q.Wait < 0 || mean.Mean <= q.Wait) && (q.P95 < 0 || p95 <= q.P95)
		}
		want := a.gang()
		for !meets(want) {
			want++
		}
		if need.GPUs != want || !need.Least || below > want || need.Gap == meets(want+1) {
			t.Errorf("%+v: %d GPUs (least %t, gap %t), at least %d; want %d", q, need.GPUs, need.Least, need.Gap, below, want)
		}
		if need.Gap {
			gaps++
		}
		if below == want {
			tight++
		}
		sizes[want]++
	}
	if len(sizes) < 3 || tight < 20 || gaps == 0 {
		t.Errorf("sizes %v, %d bounds are tight, %d gaps; the traces show little", sizes, tight, gaps)
	}
}

// TestTooShortForIntervals: many requests at few times have no interval.
func TestTooShortForIntervals(t *testing.T) {
	for times, want := range map[int]bool{1: true, 3: true, 60: false} {
		var in task.Requests
		for i := range 60 {
			in.Requests = append(in.Requests, task.Request{Arrival: i * times / 60 * 100, Lifespan: 1})
		}
		s := newSpan(in)
		e := s.mean(make([]float64, len(s.counts)), 0, len(s.counts))
		if s.Few != want || (e.Blocks == 0) != want {
			t.Errorf("%d times: few is %t, %d blocks", times, s.Few, e.Blocks)
		}
	}
}

// TestNoPolicyBeatsTheBounds: on 200 small traces.
func TestNoPolicyBeatsTheBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 1))
	positive := 0
	for range 200 {
		g := mig.MustLookup([]string{"A30", "A100-80GB", "H100"}[rng.IntN(3)])
		q := Question{GPU: g, Requests: drawTrace(rng, g, 2+rng.IntN(40), true), Bounds: proven}
		a := newAdviser(t.Context(), &q, nil)
		in := a.in
		in.GPUs = 3
		wait := bounds.WaitAtLeast(g, in)
		if wait > 0 {
			positive++
		}
		for _, policy := range []string{"ff", "dra-first-fit", "hami-2.10", "hami-binpack", "mfi", "fgd", "instaslice"} {
			r, err := runChecked(a, algo.MustParse(policy), in)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0
			for i, start := range r.Starts {
				sum += start - in.Requests[i].Arrival
			}
			if float64(sum) < wait-1e-6 {
				t.Errorf("%s waits %d slots, less than %v", policy, sum, wait)
			}
			for _, slots := range []int{0, 3, 20} {
				late := 0
				for i, start := range r.Starts {
					if start-in.Requests[i].Arrival > slots {
						late++
					}
				}
				if least := bounds.LateAtLeast(g, in, slots); late < least {
					t.Errorf("%s: %d wait more than %d slots, fewer than %d", policy, late, slots, least)
				}
			}
		}
	}
	if positive < 50 {
		t.Errorf("only %d bounds are above 0", positive)
	}
}

// TestFixedNeeds: the number of GPUs for a fixed geometry meets the target, and the number below it does not.
func TestFixedNeeds(t *testing.T) {
	rng, runner, more := rand.New(rand.NewPCG(5, 1)), openRunner(t), 0
	for i := range 24 {
		g := mig.MustLookup([]string{"A30", "A100-80GB", "H100"}[i%3])
		q := Question{GPU: g, Requests: drawTrace(rng, g, 30, i%2 == 0), Named: task.RequestProfiles(g), Wait: float64(rng.IntN(10)), P95: -1, Bounds: proven}
		a := newAdviser(t.Context(), &q, runner)
		below := a.below()
		need, err := a.fixedLeast(below)
		if err != nil || !a.meets(need.Outcome) || need.GPUs < below {
			t.Fatalf("%+v, %v", need, err)
		}
		for n := range need.GPUs + 1 {
			f, err := a.search(max(n, 1), q.Named)
			if err != nil {
				t.Fatal(err)
			}
			ok := f.Geometry != nil && a.meets(f.Outcome)
			if n == need.GPUs && !ok || n == need.GPUs-1 && n >= below && ok {
				t.Errorf("%d GPUs of %d: %+v", n, need.GPUs, f.Outcome)
			}
		}
		if first, err := a.least(FirstFit, below); err != nil || first.GPUs < need.GPUs {
			more++
		}
	}
	if more == 0 {
		t.Error("no fixed geometry needs more GPUs than first fit; the traces show little")
	}
}

// TestSnapshots: each request is placed once or left, the instances of each GPU fit on it, all fit on the number that
// is enough, and no number below the bound is.
func TestSnapshots(t *testing.T) {
	rng, runner := rand.New(rand.NewPCG(6, 1)), openRunner(t)
	tight, short := 0, 0
	for i := range 60 {
		g := mig.MustLookup([]string{"A30", "A100-80GB", "H100"}[i%3])
		in := drawTrace(rng, g, 2+rng.IntN(30), i%2 == 0)
		wanted, gang := 0, 1
		for k := range in.Requests {
			in.Requests[k].Arrival, in.Requests[k].Lifespan = 0, 1
			wanted += in.Requests[k].Instances()
			gang = max(gang, in.Requests[k].Instances())
		}
		q := Question{GPU: g, Requests: in, P95: -1, Snapshot: true, Bounds: proven}
		for _, gpus := range []int{0, gang} {
			q.GPUs = gpus
			out, err := Advise(t.Context(), q, runner)
			if err != nil {
				t.Fatal(err)
			}
			placed := 0
			for gpu, profiles := range out.Held.Layouts {
				if _, ok := layout.Fit(g, profiles); !ok {
					t.Errorf("GPU %d: %v", gpu, profiles)
				}
				placed += len(profiles)
			}
			for _, k := range out.Held.Omitted {
				placed += in.Requests[k].Instances()
			}
			if !out.Needs[0].Least || out.Needs[0].GPUs != out.Below {
				t.Errorf("%+v, at least %d", out.Needs[0], out.Below)
			}
			if placed != wanted || out.Below > out.Needs[0].GPUs || gpus == 0 && out.Held.Omitted != nil ||
				gpus > 0 && gpus < out.Below && out.Held.Omitted == nil {
				t.Errorf("%d of %d, %d GPUs, at least %d: %+v", placed, wanted, out.Needs[0].GPUs, out.Below, out.Held)
			}
			if out.Below == out.Needs[0].GPUs {
				tight++
			}
			if out.Held.Omitted != nil {
				short++
			}
		}
	}
	if tight < 40 || short < 20 {
		t.Errorf("%d bounds are tight, %d clusters too small", tight, short)
	}
}

// TestSnapshotsOnNodes: the instances of the nodes hold each request that is not left, on one node if an empty node can
// hold it. A request that is left finds no node with so many free slices.
func TestSnapshotsOnNodes(t *testing.T) {
	rng, runner := rand.New(rand.NewPCG(8, 1)), openRunner(t)
	split, left, larger := 0, 0, 0
	for i := range 200 {
		g := mig.MustLookup([]string{"A30", "A100-80GB", "H100"}[i%3])
		profiles := task.RequestProfiles(g)
		q := Question{GPU: g, P95: -1, Snapshot: true, Bounds: proven, PerNode: 1 + rng.IntN(3), GPUs: rng.IntN(6)}
		for range 2 + rng.IntN(6) {
			r := task.Request{Lifespan: 1, Profile: profiles[rng.IntN(len(profiles))]}
			members := make([]task.Member, 1+rng.IntN(4))
			for k := range members {
				members[k].Profile = profiles[rng.IntN(len(profiles))]
			}
			switch rng.IntN(3) {
			case 0:
				r.SetGang(members, false)
			case 1:
				r.Profile, r.GPUs = profiles[len(profiles)-1], 1+rng.IntN(3)
			}
			q.Requests.Requests = append(q.Requests.Requests, r)
		}
		out, err := Advise(t.Context(), q, runner)
		if err != nil {
			t.Fatal(err)
		}
		var nodes []map[*mig.Profile]int // the instances
		for gpu, instances := range out.Held.Layouts {
			if gpu%q.PerNode == 0 {
				nodes = append(nodes, map[*mig.Profile]int{})
			}
			if _, ok := layout.Fit(g, instances); !ok || instances != nil && len(instances) == 0 {
				t.Fatalf("GPU %d: %v", gpu, instances)
			}
			for _, p := range instances {
				nodes[gpu/q.PerNode][p]++
			}
		}
		var small, large []task.Request
		for k, r := range q.Requests.Requests {
			if q.IsWhole(&r) {
				r.Profile = out.Whole
			}
			switch {
			case slices.Contains(out.Held.Omitted, k):
				left++
			case fitsOnNode(g, &r, q.PerNode):
				small = append(small, r)
			default:
				large = append(large, r)
				larger++
			}
		}
		if !holds(nodes, small, large) {
			t.Errorf("%s, %d a node: %v does not hold %+v", g, q.PerNode, out.Held, q.Requests.Requests)
		}
		q.PerNode = 0
		free, err := Advise(t.Context(), q, runner)
		if err != nil {
			t.Fatal(err)
		}
		if out.Needs[0].GPUs < free.Below {
			t.Errorf("%d GPUs in nodes, at least %d without", out.Needs[0].GPUs, free.Below)
		}
		if out.Needs[0].GPUs > free.Needs[0].GPUs {
			split++
		}
	}
	if split < 5 || left < 20 || larger < 20 {
		t.Errorf("nodes need more %d times, %d are left, %d need several nodes: the snapshots show little", split, left, larger)
	}
}

// fitsOnNode reports whether an empty node holds a request.
func fitsOnNode(g *mig.GPU, r *task.Request, gpus int) bool {
	if r.Gang == nil {
		return r.Instances() <= gpus
	}
	var profiles []*mig.Profile
	for k := range r.Instances() {
		profiles = append(profiles, r.Member(k).Profile)
	}
	_, ok, err := layout.Divide(g, profiles, gpus)
	return ok && err == nil
}

// holds reports whether nodes have the instances of all small requests, each on one node, and besides them those of the
// large ones.
func holds(nodes []map[*mig.Profile]int, small, large []task.Request) bool {
	take := func(from map[*mig.Profile]int, r *task.Request, n int) {
		for k := range r.Instances() {
			p := r.Member(k).Profile
			from[p] -= n
		}
	}
	if len(small) == 0 {
		all := map[*mig.Profile]int{}
		for _, node := range nodes {
			for p, n := range node {
				all[p] += n
			}
		}
		for i := range large {
			take(all, &large[i], 1)
		}
		for _, n := range all {
			if n != 0 {
				return false
			}
		}
		return true
	}
	for _, node := range nodes {
		take(node, &small[0], 1)
		ok := true
		for _, n := range node {
			ok = ok && n >= 0
		}
		if ok && holds(nodes, small[1:], large) {
			return true
		}
		take(node, &small[0], -1)
	}
	return false
}

// numbersOf returns the numbers of GPUs of each kind of a geometry that a search found.
func numbersOf(s *geometrySearch, layouts []string) []int {
	numbers := make([]int, len(s.kinds))
	for _, name := range layouts {
		numbers[slices.IndexFunc(s.kinds, func(k layoutKind) bool { return k.name == name })]++
	}
	return numbers
}

// simulated returns the sum of the delays under a geometry, in slots, as the engine says.
func simulated(t *testing.T, a *adviser, layouts []string) float64 {
	t.Helper()
	o, err := a.simulate(algo.MustParse(fixedPolicy), Simulation{Policy: fixedPolicy, GPUs: len(layouts), Geometry: layouts})
	if err != nil {
		t.Fatal(err)
	}
	return o.Wait * float64(len(a.in.Requests))
}

// TestBestGeometryOfAll: no geometry of requested profiles is better by more than 2 % than the one found, maximal or not,
// and none with all named profiles than the one found for them. 1g.20gb is among them.
func TestBestGeometryOfAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	double, price, free := 0, 0, 0
	for i := range 12 {
		g := mig.MustLookup([]string{"A100-80GB", "A30"}[i%2])
		profiles := task.RequestProfiles(g)
		in := drawTrace(rng, g, 40, false)
		few := []*mig.Profile{profiles[rng.IntN(2)], profiles[rng.IntN(len(profiles)-1)]}
		for k := range in.Requests {
			in.Requests[k].Profile = few[max(0, rng.IntN(8)-6)]
		}
		a := newAdviser(t.Context(), &Question{GPU: g, Requests: in}, nil)
		a.in.GPUs = 2
		var layouts []string // every list of at most 8 requested instances that fits
		var extend func(list []*mig.Profile)
		extend = func(list []*mig.Profile) {
			plan, ok := layout.Fit(g, list)
			if !ok {
				return
			}
			if len(list) > 0 {
				slices.SortFunc(plan.Instances, func(a, b mig.Instance) int { return int(a.Start - b.Start) })
				var names []string
				for _, in := range plan.Instances {
					names = append(names, in.Profile.String())
				}
				layouts = append(layouts, strings.Join(names, "-"))
			}
			for _, p := range few {
				if len(list) == 0 || slices.Index(profiles, p) >= slices.Index(profiles, list[len(list)-1]) {
					extend(append(slices.Clone(list), p))
				}
			}
		}
		extend(nil)
		for _, has := range [][]*mig.Profile{nil, few} {
			found, err := searchGeometry(t.Context(), g, a.in, has)
			if err != nil || len(found.Layouts) != 2 {
				t.Fatalf("%v, %v", found, err)
			}
			got := simulated(t, a, found.Layouts)
			if strings.Contains(strings.Join(found.Layouts, " "), "1g.20gb") {
				double++
			}
			best := math.Inf(1)
			for x, one := range layouts {
				for _, other := range layouts[x:] {
					both := one + "-" + other
					if has != nil && slices.ContainsFunc(has, func(p *mig.Profile) bool { return !strings.Contains(both, p.String()) }) {
						continue
					}
					fits := a.in
					if fits.Requests = slices.Clone(in.Requests); fits.UseGeometry(g, []string{one, other}) != nil {
						continue
					}
					best = min(best, simulated(t, a, []string{one, other}))
				}
			}
			if got < best || got > 1.02*best {
				t.Errorf("%v with %v: %v waits %v, the best of all %v", few, has, found.Layouts, got, best)
			}
			if has == nil {
				free = int(got)
			} else if int(got) > free {
				price++
			}
		}
	}
	if double < 2 || price < 1 {
		t.Errorf("%d geometries with 1g.20gb, %d prices: the traces show little", double, price)
	}
}

// TestExactSnapshot: 3 + 3 + 3 + 3 of a cluster engineer's list: seven GPUs of first fit are six.
func TestExactSnapshot(t *testing.T) {
	g, in := mig.MustLookup("A100-80GB"), task.Requests{}
	for _, name := range strings.Fields("7g.80gb 7g.80gb 7g.80gb 3g.40gb 3g.40gb 3g.40gb 3g.40gb 2g.20gb 2g.20gb 2g.20gb 1g.10gb 1g.10gb") {
		p, err := g.ProfileByName(name)
		if err != nil {
			t.Fatal(err)
		}
		in.Requests = append(in.Requests, task.Request{Profile: p, Lifespan: 1})
	}
	out, err := Advise(t.Context(), Question{GPU: g, Requests: in, P95: -1, Snapshot: true, Bounds: proven}, openRunner(t))
	if err != nil || out.GPUs != 6 || !out.Needs[0].Least || out.Below != 6 {
		t.Errorf("%d GPUs, at least %d, %+v, %v", out.GPUs, out.Below, out.Needs, err)
	}
}

// A bruteForce tries all placements of the requests of a snapshot on nodes.
type bruteForce struct {
	g        *mig.GPU
	requests []task.Request
	perNode  int
	fits     map[string]bool
	known    map[string]int
}

// fit reports whether a GPU has room for profiles, by their indices.
func (b *bruteForce) fit(have []int) bool {
	key := fmt.Sprint(have)
	ok, known := b.fits[key]
	if !known {
		var list []*mig.Profile
		for _, i := range have {
			list = append(list, task.RequestProfiles(b.g)[i])
		}
		_, ok = layout.Fit(b.g, list)
		b.fits[key] = ok
	}
	return ok
}

// placed returns the largest number of the requests from i on that have room beside the instances of the GPUs.
func (b *bruteForce) placed(i int, gpus [][]int) int {
	if i == len(b.requests) {
		return 0
	}
	key := fmt.Sprint(i, gpus)
	if most, ok := b.known[key]; ok {
		return most
	}
	r := &b.requests[i]
	most, node, seen := b.placed(i+1, gpus), b.perNode, map[string]bool{}
	if node == 0 || !fitsOnNode(b.g, r, node) {
		node = len(gpus)
	}
	var place func(k, first, last int)
	place = func(k, first, last int) {
		state := fmt.Sprint(k, first, gpus)
		if seen[state] {
			return
		}
		seen[state] = true
		if k == r.Instances() {
			most = max(most, 1+b.placed(i+1, gpus))
			return
		}
		for gpu := first; gpu < last; gpu++ {
			before := gpus[gpu]
			more := append(slices.Clone(before), slices.Index(task.RequestProfiles(b.g), r.Member(k).Profile))
			slices.Sort(more)
			if b.fit(more) {
				gpus[gpu] = more
				place(k+1, first, last)
				gpus[gpu] = before
			}
		}
	}
	for first := 0; first < len(gpus); first += node {
		place(0, first, min(first+node, len(gpus)))
	}
	b.known[key] = most
	return most
}

// TestSnapshotsByBruteForce: on small random snapshots, no fewer GPUs or left requests are possible than the bound and
// the answer say, and all requests have room on the number of GPUs. Without nodes this number is the least.
func TestSnapshotsByBruteForce(t *testing.T) {
	rng, runner, left, nodes := rand.New(rand.NewPCG(11, 1)), openRunner(t), 0, 0
	for i := range 90 {
		g := mig.MustLookup([]string{"A30", "A100-80GB", "H100"}[i%3])
		profiles := task.RequestProfiles(g)
		q := Question{GPU: g, P95: -1, Snapshot: true, Bounds: proven, PerNode: rng.IntN(3), GPUs: 1 + rng.IntN(3)}
		for range 3 + rng.IntN(4) {
			r := task.Request{Lifespan: 1, Profile: profiles[rng.IntN(len(profiles))]}
			members := make([]task.Member, 2+rng.IntN(2))
			for k := range members {
				members[k].Profile = profiles[rng.IntN(3)]
			}
			switch rng.IntN(4) {
			case 0:
				r.SetGang(members, false)
			case 1:
				r.Profile, r.GPUs = profiles[len(profiles)-1], 1+rng.IntN(2)
			}
			q.Requests.Requests = append(q.Requests.Requests, r)
		}
		for k := range q.Requests.Requests {
			q.GPUs = max(q.GPUs, (q.Requests.Requests[k].Slices()+7)/8)
		}
		out, err := Advise(t.Context(), q, runner)
		if err != nil {
			t.Fatal(err)
		}
		all := len(q.Requests.Requests)
		most := func(gpus int) int {
			b := bruteForce{g: g, requests: q.Requests.Requests, perNode: q.PerNode, fits: map[string]bool{}, known: map[string]int{}}
			return b.placed(0, make([][]int, gpus))
		}
		want := all - most(out.GPUs)
		if len(out.Held.Omitted) < want {
			t.Errorf("%s, %d a node, %d GPUs: %+v, want %d left of %+v", g, q.PerNode, out.GPUs, out.Held, want, q.Requests.Requests)
		}
		least := out.Needs[0].GPUs
		if q.PerNode == 0 && !out.Needs[0].Least || out.Below > least || least <= 3 && most(least) < all || out.Below-1 <= 3 && most(out.Below-1) == all {
			t.Errorf("%s, %d a node: %+v, at least %d, for %+v", g, q.PerNode, out.Needs[0], out.Below, q.Requests.Requests)
		}
		if want > 0 {
			left++
		}
		if q.PerNode > 0 {
			nodes++
		}
	}
	if left < 20 || nodes < 30 {
		t.Errorf("%d leave requests out, %d have nodes: the snapshots show little", left, nodes)
	}
}

// TestEngineersSnapshot: 12 whole GPUs and 13 others hold a snapshot, and 12 hold all but 11 of its requests.
func TestEngineersSnapshot(t *testing.T) {
	g, q := mig.MustLookup("H100"), Question{P95: -1, Snapshot: true, Bounds: proven}
	q.GPU = g
	for size, n := range map[mig.Slices]int{1: 16, 2: 16, 3: 13, 7: 12} {
		for range n {
			q.Requests.Requests = append(q.Requests.Requests, task.Request{Profile: g.Profile(size), Lifespan: 1})
		}
	}
	for gpus, left := range map[int]int{0: 0, 25: 0, 12: 13} {
		q.GPUs = gpus
		out, err := Advise(t.Context(), q, openRunner(t))
		if err != nil || out.Needs[0].GPUs != 25 || !out.Needs[0].Least || len(out.Held.Omitted) != left {
			t.Errorf("%d GPUs: %+v, %d left, %v", gpus, out.Needs, len(out.Held.Omitted), err)
		}
	}
}

// TestEveryJobsProfile: on two GPUs, as many instances of 1g.10gb as an A100 has are no worse than first fit.
func TestEveryJobsProfile(t *testing.T) {
	g := mig.MustLookup("A100")
	in := drawTrace(rand.New(rand.NewPCG(3, 4)), g, 200, false)
	for i := range in.Requests {
		in.Requests[i].Profile = task.RequestProfiles(g)[1]
	}
	q := Question{GPU: g, Requests: in, GPUs: 2, Wait: -1, P95: -1, Named: task.RequestProfiles(g)[1:2], Bounds: proven}
	out, err := Advise(t.Context(), q, openRunner(t))
	if err != nil || len(out.Fixed.Geometry[0]) != 4 || out.Fixed.Geometry[0][0].Profile != q.Named[0] ||
		out.Fixed.Mean.Mean > out.Policies[0].Mean.Mean {
		t.Errorf("%+v, %v", out.Fixed, err)
	}
}

// bestGeometry tries all geometries of requested profiles that have certain ones.
func bestGeometry(g *mig.GPU, in task.Requests, has []*mig.Profile) []string {
	s := newGeometrySearch(g, in)
	var tryAll func(numbers []int, i, left int)
	tryAll = func(numbers []int, i, left int) {
		if i == len(numbers)-1 {
			numbers[i] = left
			s.try(numbers)
			return
		}
		for n := range left + 1 {
			numbers[i] = n
			tryAll(numbers, i+1, left-n)
		}
	}
	for exist := profileSet(1); exist < 1<<len(s.profiles); exist++ {
		lacks := func(p *mig.Profile) bool { return !exist.has(slices.Index(s.profiles, p)) }
		if exist.has(len(s.profiles)-1) && !slices.ContainsFunc(has, lacks) && s.choose(exist) {
			tryAll(make([]int, len(s.kinds)), 0, in.GPUs)
		}
	}
	return s.best
}

// TestSearchOfGeometries: the local search finds what trying all geometries finds, or nearly so. The cost of a geometry
// is what the engine's simulation of it says.
func TestSearchOfGeometries(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 2))
	worse := 0
	const traces = 24
	for i := range traces {
		g := mig.MustLookup([]string{"A30", "A100-80GB", "H100"}[i%3])
		in := drawTrace(rng, g, 200, false)
		lasts := 0.0
		for k := range in.Requests {
			lasts += float64(in.Requests[k].Lifespan)
		}
		a := newAdviser(t.Context(), &Question{GPU: g, Requests: in}, nil)
		a.in.GPUs = 3 + i%2
		cost := func(layouts []string, has []*mig.Profile) float64 {
			if len(layouts) != a.in.GPUs {
				t.Fatalf("%v", layouts)
			}
			got := simulated(t, a, layouts)
			if has != nil {
				s := newGeometrySearch(g, a.in)
				if !s.choose(1<<len(s.profiles)-1) || math.Abs(s.cost(numbersOf(s, layouts))-lasts-got) > 1e-6 {
					t.Errorf("%v costs something else than the engine says", layouts)
				}
			}
			return got
		}
		for _, has := range [][]*mig.Profile{nil, task.RequestProfiles(g)} {
			found, err := searchGeometry(t.Context(), g, a.in, has)
			if err != nil {
				t.Fatal(err)
			}
			all, some := cost(bestGeometry(g, a.in, has), has), cost(found.Layouts, has)
			if some < all {
				t.Errorf("trace %d: the search finds %v and not the best, %v", i, some, all)
			}
			if some > all {
				worse++
			}
			if some > 1.02*all {
				t.Errorf("trace %d: the search finds %v, the best is %v", i, some, all)
			}
		}
	}
	t.Logf("the search misses the best geometry of %d of %d traces", worse, 2*traces)
}

// TestSecondCallComputesNothing: the same question has the same answer from the records alone.
func TestSecondCallComputesNothing(t *testing.T) {
	g, runner := mig.MustLookup("H100"), openRunner(t)
	q := Question{GPU: g, Requests: drawTrace(rand.New(rand.NewPCG(4, 1)), g, 400, false), Wait: 5, P95: -1, Policies: []string{"ff", "mfi", "hami-2.10"}, Bounds: proven}
	first, err := Advise(t.Context(), q, runner)
	if err != nil {
		t.Fatal(err)
	}
	if len(first.Policies) != 3 || first.Policies[0].Mean.Blocks != 20 || len(first.Fixed.Geometry) != first.FixedNeed.GPUs || len(first.Order.Places) == 0 || first.Below > first.GPUs {
		t.Errorf("%+v", first)
	}
	if first.WaitAtLeast > first.Policies[0].Wait || first.Fixed.Outcome.Error != "" {
		t.Errorf("%v at least, %+v", first.WaitAtLeast, first.Fixed)
	}
	again, err := Advise(t.Context(), q, &work.Runner{Log: runner.Log, Workers: 3})
	if err != nil || !reflect.DeepEqual(again.Policies, first.Policies) || !reflect.DeepEqual(again.Order, first.Order) || !reflect.DeepEqual(again.Fixed, first.Fixed) {
		t.Errorf("%+v, %v", again, err)
	}
	a := newAdviser(t.Context(), &q, runner)
	a.in.GPUs = first.GPUs
	units := 0
	runner.Progress = func(done, _ int) { units = max(units, done) }
	all, err := runner.Log.All("advise/")
	if err != nil || len(all) < 6 {
		t.Fatalf("%d records, %v", len(all), err)
	}
	a.in.Requests = nil // a simulation would fail
	if _, err := a.compare(); err != nil || units != 3 {
		t.Errorf("%d units, %v", units, err)
	}
}

// TestMovingCountsPauses: what moves gain is the difference of the means from arrival to end, with the pauses.
func TestMovingCountsPauses(t *testing.T) {
	rng, runner, moves := rand.New(rand.NewPCG(9, 9)), openRunner(t), 0
	for range 20 {
		g := mig.MustLookup("A100-80GB")
		q := Question{GPU: g, Requests: drawTrace(rng, g, 60, false), Wait: -1, P95: -1, Bounds: proven}
		a := newAdviser(t.Context(), &q, runner)
		a.in.GPUs = 2
		got, err := a.moving()
		if err != nil || len(got) != len(moveCosts) {
			t.Fatal(got, err)
		}
		turnaround := func(policy string, cost int) (mean float64, moves int) {
			in, sum := a.in, 0
			for _, r := range in.Requests {
				sum += r.Lifespan
			}
			in.Migration = task.Migration{Moves: 1000, Window: sum / len(in.Requests), Downtime: cost}
			r, err := runChecked(a, algo.MustParse(policy), in)
			if err != nil {
				t.Fatal(err)
			}
			for i, end := range r.Ends {
				mean += float64(end-in.Requests[i].Arrival) / float64(len(r.Ends))
			}
			return mean, len(r.Moved)
		}
		still, none := turnaround(Still, 0)
		for i, m := range got {
			mean, n := turnaround(Mover, []int{0, 10, 30, 120}[i])
			if none != 0 || m.Moves != n || math.Abs(m.Less.Mean-(still-mean)) > 1e-9 {
				t.Errorf("%+v, want %d moves that gain %v", m, n, still-mean)
			}
			moves += n
		}
	}
	if moves < 100 {
		t.Errorf("%d moves", moves)
	}
}

// TestGeometriesForLargeJobs: with jobs for 1, then 2, then 4 whole GPUs, the local search needs as many GPUs as the
// best of all geometries in a simulation, and one more GPU never costs more.
func TestGeometriesForLargeJobs(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	g := mig.MustLookup("A30")
	small := task.RequestProfiles(g)[:2] // 1g.6gb and 2g.12gb
	sizes := map[int]int{}
	for range 12 {
		in := drawTrace(rng, g, 30, false)
		for k := range in.Requests {
			in.Requests[k].Profile = small[rng.IntN(2)]
			if k%5 == 0 {
				in.Requests[k].Profile, in.Requests[k].GPUs = g.Profile(g.ComputeSlices), 1<<(k/10)
			}
		}
		q := Question{GPU: g, Requests: in, Named: small, Wait: float64(1 + rng.IntN(40)), P95: -1, Bounds: proven}
		a, _ := newAdviser(t.Context(), &q, openRunner(t)).separateWhole()
		meets := func(gpus int) bool {
			a.in.GPUs = gpus
			found, err := searchGeometry(t.Context(), a.q.GPU, a.in, small)
			if err != nil {
				t.Fatal(err)
			}
			return len(found.Layouts) > 0 && simulated(t, a, found.Layouts) <= q.Wait*float64(len(in.Requests))
		}
		want := a.gang()
		for !simulatedBest(t, a, want, small, q.Wait) {
			want++
		}
		got := a.gang()
		for !meets(got) && got < 2*want {
			got++
		}
		if got != want {
			t.Errorf("the search needs %d GPUs, the best of all geometries %d", got, want)
		}
		sizes[want]++
		whole := slices.DeleteFunc(slices.Clone(in.Requests), func(r task.Request) bool { return r.GPUs == 0 })
		for servers := range want {
			if queueTime(whole, servers+1) > queueTime(whole, servers) {
				t.Errorf("%d GPUs cost more than %d", servers+1, servers)
			}
		}
	}
	if len(sizes) < 2 {
		t.Errorf("sizes %v: the traces show little", sizes)
	}
}

// simulatedBest reports whether some list of layouts, one for each GPU, has all profiles and the mean wait.
func simulatedBest(t *testing.T, a *adviser, gpus int, has []*mig.Profile, wait float64) bool {
	t.Helper()
	kinds := []string{a.q.GPU.Profiles[len(a.q.GPU.Profiles)-1].String(), "2g.12gb-2g.12gb", "2g.12gb-1g.6gb-1g.6gb", "1g.6gb-1g.6gb-1g.6gb-1g.6gb"}
	var try func(layouts []string, from int) bool
	try = func(layouts []string, from int) bool {
		if len(layouts) < gpus {
			for k := from; k < len(kinds); k++ {
				if try(append(slices.Clone(layouts), kinds[k]), k) {
					return true
				}
			}
			return false
		}
		all, fits := strings.Join(layouts, "-"), a.in
		if strings.Count(all, kinds[0]) < a.gang() || slices.ContainsFunc(has, func(p *mig.Profile) bool { return !strings.Contains(all, p.String()) }) {
			return false
		}
		fits.Requests, fits.GPUs = slices.Clone(a.in.Requests), gpus
		return fits.UseGeometry(a.q.GPU, layouts) == nil && simulated(t, a, layouts) <= wait*float64(len(a.in.Requests))
	}
	return try(nil, 0)
}
