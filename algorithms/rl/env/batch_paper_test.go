package env

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"miglab/harness/mig"
)

// paperBatch restates DRL 4.1 to 4.3 and 6.5.2 from the text, on real slices, with
// renamings found by trying all permutations.
type paperBatch struct {
	o       BatchOptions
	n, k    int // N as the agent sees it, and slices
	sizes   []mig.Slices
	levels  []Times
	arrival []float64
	create  Times
	destroy Times
	divisor float64
	reward  float64 // the levels of a reward of 1

	real    []int     // instance size by slice
	time    []float64 // remaining, by slice
	batch   []int     // tasks, in order of arrival
	queue   []int
	barred  bool
	clock   float64
	latest  float64 // when all that was decided ends
	started []int

	// The renaming to the canonical state and the batch's tasks by class.
	sigma   []int
	classes [][]int
}

// paperPartitions are Fig. 1 without 5, 6 and 7: the whole GPU, or a left half and
// for seven slices a right one.
func paperPartitions(k int) [][]int {
	all := [][]int{slices.Repeat([]int{k}, k)}
	left := [][]int{{4, 4, 4, 4}, {2, 2, 2, 2}, {2, 2, 1, 1}, {1, 1, 2, 2}, {1, 1, 1, 1}}
	if k == 4 {
		return left
	}
	for _, l := range left {
		for _, r := range [][]int{{3, 3, 3}, {2, 2, 1}, {1, 1, 1}} {
			all = append(all, slices.Concat(l, r))
		}
	}
	return all
}

func renamed[T any](v []T, sigma []int) []T {
	out := make([]T, len(v))
	for i, s := range sigma {
		out[i] = v[s]
	}
	return out
}

type symmetries struct {
	partitions [][]int
	renamings  [][]int
	// canonical partitions, the highest first, and that of each partition.
	canonical [][]int
	class     []int
}

// paperSymmetries are the renamings of Definition 1.
var paperSymmetries = func() func(k int) *symmetries {
	find := func(k int) *symmetries {
		s := &symmetries{partitions: paperPartitions(k)}
		has := func(v []int) bool {
			return slices.ContainsFunc(s.partitions, func(p []int) bool { return slices.Equal(p, v) })
		}
		var sigma []int
		var extend func()
		extend = func() {
			if len(sigma) == k {
				for _, p := range s.partitions {
					if !has(renamed(p, sigma)) {
						return
					}
				}
				s.renamings = append(s.renamings, slices.Clone(sigma))
				return
			}
			for i := range k {
				if !slices.Contains(sigma, i) {
					sigma = append(sigma, i)
					extend()
					sigma = sigma[:len(sigma)-1]
				}
			}
		}
		extend()
		var best [][]int
		for _, p := range s.partitions {
			b := p
			for _, r := range s.renamings {
				if q := renamed(p, r); slices.Compare(q, b) > 0 {
					b = q
				}
			}
			best = append(best, b)
		}
		s.canonical = slices.Clone(best)
		slices.SortFunc(s.canonical, func(a, b []int) int { return slices.Compare(b, a) })
		s.canonical = slices.CompactFunc(s.canonical, slices.Equal)
		for _, b := range best {
			s.class = append(s.class, slices.IndexFunc(s.canonical, func(c []int) bool { return slices.Equal(b, c) }))
		}
		return s
	}
	a30, others := sync.OnceValue(func() *symmetries { return find(4) }), sync.OnceValue(func() *symmetries { return find(7) })
	return func(k int) *symmetries {
		if k == 4 {
			return a30()
		}
		return others()
	}
}()

// apart has the partitions without the renamings: each is its own canonical one.
func (s *symmetries) apart() *symmetries {
	out := &symmetries{partitions: s.partitions, canonical: s.partitions}
	for i := range s.partitions {
		out.class = append(out.class, i)
	}
	identity := make([]int, len(s.partitions[0]))
	for i := range identity {
		identity[i] = i
	}
	out.renamings = [][]int{identity}
	return out
}

func (p *paperBatch) symmetries() *symmetries {
	if p.o.Unmerged {
		return paperSymmetries(p.k).apart()
	}
	return paperSymmetries(p.k)
}

func newPaperBatch(o BatchOptions, tasks []Times, release []float64, d *Device) *paperBatch {
	p := &paperBatch{o: o, n: o.Tasks, k: int(o.GPU.ComputeSlices), sizes: o.GPU.Sizes(), divisor: max(1, float64(o.Levels))}
	largest := 0.0
	for _, t := range tasks {
		for _, s := range p.sizes {
			if t[s] > largest && !math.IsInf(t[s], 1) {
				largest = t[s]
			}
		}
	}
	step := largest / p.divisor
	units := func(seconds float64) float64 { return math.Round(seconds/step*(1<<30)) / (1 << 30) }
	p.reward = p.divisor
	if o.Released {
		p.reward = 1
	}
	for _, s := range p.sizes {
		p.create[s], p.destroy[s] = units(float64(o.GPU.Profile(s).Create)), units(float64(o.GPU.Profile(s).Destroy))
		if o.Reconfiguration > 0 {
			p.create[s], p.destroy[s] = units(float64(o.Reconfiguration)), 0
		}
	}
	for _, t := range tasks {
		l := Times{}
		for _, s := range p.sizes {
			switch {
			case math.IsInf(t[s], 1):
				l[s] = math.Inf(1)
			case o.Levels == 0:
				l[s] = units(t[s])
			default:
				l[s] = math.Floor(t[s]/step + 0.5)
				if o.Released {
					l[s]++
				} else if l[s] == 0 {
					l[s] = 1
				}
			}
		}
		p.levels = append(p.levels, l)
		p.queue = append(p.queue, len(p.queue))
	}
	var free []float64
	for s := range p.k {
		here, until := d.Here(s)
		size := p.k
		if here != absent {
			size = int(d.instances[here].Size())
		}
		p.real, free = append(p.real, size), append(free, until)
	}
	start := slices.Min(free)
	if release == nil {
		release = make([]float64, len(tasks))
		if o.RandomStart {
			start = 0
		}
	}
	start = max(start, slices.Min(release))
	slices.SortStableFunc(p.queue, func(a, b int) int { return cmp.Compare(release[a], release[b]) })
	for i := range release {
		p.arrival = append(p.arrival, units(release[i]-start))
	}
	for _, f := range free {
		p.time = append(p.time, max(0, units(f-start)))
		p.latest = max(p.latest, units(f-start))
	}
	p.fill()
	p.look()
	return p
}

func (p *paperBatch) look() { p.sigma, p.classes = p.findSigma(), p.findClasses() }

func (p *paperBatch) fill() {
	for len(p.batch) < p.n && len(p.queue) > 0 && p.arrival[p.queue[0]] <= p.clock {
		p.batch = append(p.batch, p.queue[0])
		p.queue = p.queue[1:]
	}
}

func (p *paperBatch) findClasses() [][]int {
	sorted := slices.Clone(p.batch)
	if p.o.Listed {
		return slices.Collect(slices.Chunk(sorted, 1))
	}
	compare := func(a, b int) int {
		return slices.Compare(p.levels[b][:], p.levels[a][:])
	}
	slices.SortStableFunc(sorted, compare)
	var out [][]int
	for i, t := range sorted {
		if i == 0 || p.o.Levels == 0 || compare(sorted[i-1], t) != 0 {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], t)
	}
	return out
}

func (p *paperBatch) findSigma() []int {
	best := []int(nil)
	for _, r := range p.symmetries().renamings {
		if best == nil {
			best = r
			continue
		}
		c := slices.Compare(renamed(p.real, r), renamed(p.real, best))
		if c == 0 && !p.o.Released {
			c = slices.Compare(renamed(p.time, best), renamed(p.time, r))
		}
		if c > 0 {
			best = r
		}
	}
	return best
}

func (p *paperBatch) partition() int {
	y := p.symmetries()
	return y.class[slices.IndexFunc(y.partitions, func(v []int) bool { return slices.Equal(v, p.real) })]
}

// instances returns the canonical partition's instances as lists of real slices.
func (p *paperBatch) instances() [][]int {
	var out [][]int
	for i := 0; i < p.k; {
		size := p.real[p.sigma[i]]
		out = append(out, p.sigma[i:i+size])
		i += size
	}
	return out
}

// target returns the real partition that a reconfiguration leads to, and when.
func (p *paperBatch) target(c int) (to []int, delay float64) {
	y := p.symmetries()
	bestKey := []float64{math.Inf(1)}
	for i, q := range y.partitions {
		if y.class[i] != c {
			continue
		}
		d, changed, mask, busy := 0.0, 0, 0, false
		for canonical, s := range p.sigma {
			if q[s] == p.real[s] {
				continue
			}
			changed++
			mask |= 1 << canonical
			busy = busy || p.time[s] > 0
			d = max(d, p.time[s]+p.destroy[p.real[s]]+p.create[q[s]])
		}
		if key := []float64{d, float64(changed), float64(mask)}; (p.o.Direct || !busy) && slices.Compare(key, bestKey) < 0 {
			to, delay, bestKey = q, d, key
		}
	}
	return to, delay
}

func (p *paperBatch) idle() bool { return slices.Max(p.time) == 0 }

func (p *paperBatch) mayArrive() bool { return len(p.queue) > 0 && len(p.batch) < p.n }

func (p *paperBatch) legal(action int) bool {
	canonical := p.symmetries().canonical
	if action == 0 {
		return !p.idle() || p.mayArrive()
	}
	if c := action - 1; c < len(canonical) {
		if c == p.partition() || p.barred {
			return false
		}
		runs := false
		for _, t := range p.batch {
			for _, size := range canonical[c] {
				runs = runs || !math.IsInf(p.levels[t][size], 1)
			}
		}
		to, _ := p.target(c)
		return runs && to != nil
	}
	j, m := (action-1-len(canonical))/p.k, (action-1-len(canonical))%p.k
	instances := p.instances()
	if j >= len(p.classes) || m >= len(instances) {
		return false
	}
	for _, s := range instances[m] {
		if p.time[s] != 0 {
			return false
		}
	}
	return !math.IsInf(p.levels[p.classes[j][0]][len(instances[m])], 1)
}

func (p *paperBatch) pass(d float64) {
	for s := range p.time {
		p.time[s] = max(0, p.time[s]-d)
	}
	p.clock += d
	p.fill()
}

func (p *paperBatch) step(action int) (reward float64, done bool) {
	defer p.look()
	canonical := p.symmetries().canonical
	switch {
	case action == 0:
		next := math.Inf(1)
		for _, t := range p.time {
			if t > 0 {
				next = min(next, t)
			}
		}
		if p.mayArrive() && slices.Min(p.time) == 0 {
			next = min(next, p.arrival[p.queue[0]]-p.clock)
		}
		p.pass(next)
		p.barred = p.barred && !p.o.Direct
		return -next / p.reward, false
	case action <= len(canonical):
		to, delay := p.target(action - 1)
		for s := range p.time {
			if p.real[s] != to[s] {
				p.time[s] += p.destroy[p.real[s]] + p.create[to[s]]
				p.latest = max(p.latest, p.clock+p.time[s])
			}
		}
		p.real, p.barred = to, true
		if !p.o.Direct {
			return 0, false
		}
		p.pass(delay)
		return -delay / p.reward, false
	}
	j, m := (action-1-len(canonical))/p.k, (action-1-len(canonical))%p.k
	task := p.classes[j][0]
	instance := p.instances()[m]
	for _, s := range instance {
		p.time[s] += p.levels[task][len(instance)]
		p.latest = max(p.latest, p.clock+p.time[s])
	}
	p.batch = slices.DeleteFunc(p.batch, func(t int) bool { return t == task })
	p.barred = false
	p.started = append(p.started, task)
	p.fill()
	if len(p.started) < len(p.levels) {
		return 0, false
	}
	left := slices.Max(p.time)
	p.pass(left)
	return -left / p.reward, true
}

func (p *paperBatch) observation() []float32 {
	count, time := float64(p.n), p.divisor
	canonical := p.symmetries().canonical
	partition := float64(len(canonical))
	levels := p.o.Levels
	if p.o.Released {
		levels++
		time = max(float64(levels), count, float64(len(p.o.GPU.Partitions())))
		count, partition = time, time
	}
	var out []float32
	if p.o.Encoding == OneHot {
		bits := make([]float32, len(canonical))
		bits[p.partition()] = 1
		out = bits
	} else {
		out = append(out, float32(float64(p.partition())/partition))
	}
	for _, s := range p.sigma {
		out = append(out, float32(p.time[s]/time))
	}
	if p.o.Direct {
		bit := float32(0)
		if p.barred {
			bit = 1
		}
		out = append(out, bit)
	}
	for j := range p.n {
		var l *Times
		if j < len(p.classes) {
			l = &p.levels[p.classes[j][0]]
		}
		for _, s := range p.sizes {
			switch {
			case p.o.Encoding == OneHot:
				for level := range levels {
					x := float32(0)
					if l != nil && l[s] == float64(level+1) {
						x = 1
					} else if l != nil && math.IsInf(l[s], 1) {
						x = -1
					}
					out = append(out, x)
				}
			case l == nil:
				out = append(out, 0)
			case math.IsInf(l[s], 1):
				out = append(out, -1)
			default:
				out = append(out, float32(l[s]/time))
			}
		}
		if p.o.Levels > 0 {
			n := 0
			if l != nil {
				n = len(p.classes[j])
			}
			out = append(out, float32(float64(n)/count))
		}
	}
	return out
}
