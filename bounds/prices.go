package bounds

import (
	"context"
	"math"
	"slices"

	"miglab/bounds/certificate"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/portable"
)

const (
	// priceSteps is the number of updates of the prices on coarse cells. Then a tenth as many run on fine cells.
	priceSteps    = 2000
	fineStepShare = 10
	// priceCells is the number of cells of the final bound. Coarse and fine cells are as many times as long, so that an
	// update takes less time. The prices that they lead to are valid: any prices are.
	priceCells             = 8192
	coarseCells, fineCells = 16, 4
	// The rates are steps of the logarithm of a price. They fall, so that prices first move far and then settle. Fine
	// cells continue from nearly settled prices and move them less. Rates change how tight the bound is, not its proof.
	coarseRate, coarseLastRate = 0.01, 0.0002
	fineRate, fineLastRate     = 0.0004, 0.0001
	// inertia is the weight of the earlier updates in the direction of an update; it damps oscillation.
	inertia = 0.9
	// steepestFall limits that direction: many uses of a task on one GPU would make its price almost 0 at once.
	steepestFall = -5
	// horizon times the best bound is the largest bound that prices try to prove. They try again if they reach it.
	horizon = 1.06
	// priceRounds is the largest number of such tries. Together they raise the bound to less than 42 times its value.
	priceRounds = 64
	// priceSlack is larger than the relative error of a sum of prices.
	priceSlack = 1e-9
	// cellSlack is larger than the relative error of a time divided by the length of a cell. A quotient that is a whole
	// number of cells, perhaps only by rounding, becomes one cell less when it is rounded down.
	cellSlack = 1e-12
)

// prices returns the task-prices term of [Prove], a dual solution of the configuration linear program whose columns are
// whole instances. Unlike slice weights, it adds up the durations of the tasks on an instance and charges the
// reconfiguration of each division of a GPU. h is the longest bound that is tried.
//
// Package certificate defines the term and earn(s, c), and proves it. Over the nodes v of [mig.GPU.Tree],
//
//	gross(v, c) = max(below(gross, v, c), used(v, c - create - destroy))
//	net(v, c)   = max(below(net, v, c), used(v, c - create))
//	used(v, c)  = max over x of earn(|v|, x) + below(gross, v, c - x), where earn(|v|, x) > 0
//
// are the most that the tasks on v and below it can earn within chains of c cells, with and without a used ancestor.
// below(table, v, c) is 0 without children and equals the table of an only child. Of two children a and b it is the
// greatest of a(c), b(c), a(c) + b(c - delay(v)) and a(c - delay(v)) + b(c).
//
// Any prices are valid. Good prices make every task count once on the mean over the GPUs, though a task may count on
// several nodes. They begin at the charges of the slice weights. Multiplicative updates (Plotkin, Shmoys and Tardos,
// Mathematics of Operations Research 1995) then lower the prices of tasks that the best packing takes too often and
// raise the others. [Prove] uses the term for several GPUs and more tasks than chains take.
func (s *sliceWeights) prices(ctx context.Context, h mig.Seconds, steps, cells int) Witness {
	prices := s.charges(h)
	// Coarse cells are quick, and the error of times that are rounded to the nearest cell is small.
	newPacker(s.problem, h, cells/coarseCells, math.Round).improve(ctx, prices, steps, coarseRate, coarseLastRate)
	fine := newPacker(s.problem, h, cells/fineCells, math.Floor)
	fine.improve(ctx, prices, steps/fineStepShare, fineRate, fineLastRate)
	k := newPacker(s.problem, h, cells, math.Floor)
	k.solve(prices)
	n := min(k.cellsToEarn(prices), cells)
	return Witness{Kind: certificate.TaskPrices, Bound: mig.Seconds(n) * k.cell, Cells: n, Prices: prices}
}

// charges returns the least weighted time of each task over the options that can end before an instant, or 0 if no
// option can.
func (s *sliceWeights) charges(before mig.Seconds) []float64 {
	copy(s.current, s.weights)
	weight := s.leastWeights()
	out := make([]float64, len(s.durations))
	for i, times := range s.durations {
		least := math.Inf(1)
		for j, t := range times {
			if s.ends[i][j] < before {
				least = min(least, float64(weight[j]*float64(t)))
			}
		}
		if !math.IsInf(least, 1) {
			out[i] = least
		}
	}
	return out
}

// A packer computes the most that tasks can earn on one GPU.
type packer struct {
	problem *algo.Problem
	// shape is, for each node, the first node whose subtree has the same shape.
	shape []int
	cells int
	cell  mig.Seconds
	sizes []packedSize
	// delay has, for each node, delay(v) of [sliceWeights.prices] in cells.
	delay []int
	// order lists the first node of each shape, smaller sizes first.
	order []int
	// used and tables, by kind, are the tables of [sliceWeights.prices], by the first node of a shape and by cell.
	used   [][]float64
	tables [2][][]float64
	// taken, by size, task and cell, says whether the knapsack takes the task.
	taken [][][]bool
}

// A packedSize is a size of instances. Times are in cells.
type packedSize struct {
	create, destroy int
	// times is by task; it exceeds all cells if the task does not fit.
	times []int
	// most is earn of the size, by number of cells.
	most []float64
}

func newPacker(p *algo.Problem, h mig.Seconds, cells int, round func(float64) float64) *packer {
	tree := p.GPU.Tree()
	k := &packer{
		problem: p, shape: shapes(p.GPU), cells: cells, cell: h / mig.Seconds(cells), delay: make([]int, len(tree)),
		used:   make([][]float64, len(tree)),
		tables: [2][][]float64{make([][]float64, len(tree)), make([][]float64, len(tree))},
	}
	inCells := func(t mig.Seconds) int {
		return int(min(round(float64(t/k.cell)*(1-cellSlack)), float64(cells+1)))
	}
	var creates [mig.MaxSize + 1]ticks
	destroys := leastDestroys(p)
	for _, s := range p.GPU.Sizes() {
		create := inCells(p.Model.Cost(p.GPU.Profile(s).Create))
		size := packedSize{create: create, destroy: inCells(destroys[s]), most: make([]float64, cells+1)}
		creates[s] = ticks(size.create)
		for i := range p.Tasks {
			size.times = append(size.times, inCells(p.Tasks[i].On(s)))
		}
		k.sizes = append(k.sizes, size)
	}
	for v := range tree {
		if len(tree[v].Children) > 1 {
			k.delay[v] = int(delay(p, v, &creates))
		}
		if k.shape[v] == v {
			k.order = append(k.order, v)
			for _, table := range [][][]float64{k.used, k.tables[gross], k.tables[net]} {
				table[v] = make([]float64, cells+1)
			}
		}
	}
	slices.SortFunc(k.order, func(a, b int) int { return int(tree[a].Size() - tree[b].Size()) })
	return k
}

// improve changes the prices in a number of steps and ends with the best. The rate of change falls from first to last.
func (k *packer) improve(ctx context.Context, prices []float64, steps int, first, last float64) {
	gpus := float64(k.problem.GPUs())
	k.taken = make([][][]bool, len(k.sizes))
	for s := range k.taken {
		k.taken[s] = make([][]bool, len(prices))
		for i := range k.taken[s] {
			k.taken[s][i] = make([]bool, k.cells+1)
		}
	}
	change, uses := make([]float64, len(prices)), make([]int, len(prices))
	best, bestPrices := 0.0, slices.Clone(prices)
	for step := range steps {
		if ctx.Err() != nil {
			break
		}
		k.solve(prices)
		n := min(k.cellsToEarn(prices), k.cells)
		score := k.interpolate(n, sum(prices)/gpus)
		if score > best {
			best = score
			copy(bestPrices, prices)
		}
		clear(uses)
		k.count(0, n, net, uses)
		rate := first * portable.Pow(last/first, float64(step)/float64(steps))
		for i := range prices {
			change[i] = float64(inertia*change[i]) + float64((1-inertia)*(1-float64(gpus*float64(uses[i]))))
			prices[i] *= portable.Exp(float64(rate * max(steepestFall, change[i])))
		}
	}
	copy(prices, bestPrices)
}

func sum(values []float64) float64 {
	var s float64
	for _, v := range values {
		s += v
	}
	return s
}

// cellsToEarn returns the least number of cells in which the GPUs could earn all prices. If
// times are rounded down, no makespan is shorter.
func (k *packer) cellsToEarn(prices []float64) int {
	each := sum(prices) / float64(k.problem.GPUs()) * (1 - priceSlack)
	n := 0
	for n <= k.cells && k.tables[net][0][n] < each {
		n++
	}
	return n
}

// interpolate returns a score of prices: the number n of cells in which a GPU earns a share of them, plus the fraction
// of cell n that it takes. Scores only rank prices, so that cell n may count whole, too.
func (k *packer) interpolate(n int, share float64) float64 {
	root := k.tables[net][0]
	if n == 0 || root[n] <= root[n-1] {
		return float64(n)
	}
	return float64(n) + (share-root[n-1])/(root[n]-root[n-1])
}

// solve fills all tables for some prices.
func (k *packer) solve(prices []float64) {
	for s := range k.sizes {
		k.fillSize(s, prices)
	}
	for _, v := range k.order {
		k.fillNode(v)
	}
}

// fillSize computes earn(s, c), a knapsack, for every number c of cells. s is an index in k.sizes.
func (k *packer) fillSize(s int, prices []float64) {
	size := &k.sizes[s]
	clear(size.most)
	for i, t := range size.times {
		var taken []bool
		if k.taken != nil {
			taken = k.taken[s][i]
			clear(taken)
		}
		if t > k.cells || prices[i] == 0 {
			continue
		}
		before, at := size.most[:len(size.most)-t], size.most[t:]
		for c := len(before) - 1; c >= 0; c-- {
			earned := before[c] + prices[i]
			if earned > at[c] {
				at[c] = earned
				if taken != nil {
					taken[c+t] = true
				}
			}
		}
	}
}

// fillNode fills the tables of a node from the tables of its children.
func (k *packer) fillNode(v int) {
	size := &k.sizes[k.sizeIndex(v)]
	used, destroyed, last := k.used[v], k.tables[gross][v], k.tables[net][v]
	for c := range last {
		destroyed[c] = k.below(v, c, gross)
		last[c] = k.below(v, c, net)
	}
	if len(k.problem.GPU.Tree()[v].Children) == 0 {
		copy(used, size.most)
	} else {
		clear(used)
		earned := 0.0
		for x, most := range size.most {
			if most <= earned {
				continue // more cells earn the same
			}
			earned = most
			to, from := used[x:], destroyed[:len(used)-x]
			for c, y := range from {
				to[c] = max(to[c], y+most)
			}
		}
	}
	for c := k.cells; c >= size.create; c-- {
		last[c] = max(last[c], used[c-size.create])
		if c >= size.create+size.destroy {
			destroyed[c] = max(destroyed[c], used[c-size.create-size.destroy])
		}
	}
}

// sizeIndex returns the index of a node's size in k.sizes.
func (k *packer) sizeIndex(v int) int {
	return slices.Index(k.problem.GPU.Sizes(), k.problem.GPU.Tree()[v].Size())
}

// below returns the most that the nodes below a node earn in c cells.
func (k *packer) below(v, c int, kind chainKind) float64 {
	children := k.problem.GPU.Tree()[v].Children
	if len(children) == 0 {
		return 0
	}
	a := k.tables[kind][k.shape[children[0]]]
	if len(children) == 1 {
		return a[c]
	}
	b, late := k.tables[kind][k.shape[children[1]]], c-k.delay[v]
	if late < 0 {
		return max(a[c], b[c])
	}
	return max(a[c], b[c], a[c]+b[late], a[late]+b[c])
}

// count adds the tasks of a best packing of a node and the nodes below it, in c cells, to uses, which is by task.
func (k *packer) count(v, c int, kind chainKind, uses []int) {
	v = k.shape[v]
	size := &k.sizes[k.sizeIndex(v)]
	from := c - size.create
	if kind == gross {
		from -= size.destroy
	}
	value := k.tables[kind][v][c]
	if value == 0 {
		return
	}
	if from < 0 || k.used[v][from] != value {
		k.countBelow(v, c, kind, uses)
		return
	}
	x := 0
	for size.most[x]+k.below(v, from-x, gross) != value {
		x++
	}
	k.countBelow(v, from-x, gross, uses)
	for i := len(size.times) - 1; i >= 0; i-- {
		if k.taken[k.sizeIndex(v)][i][x] {
			uses[i]++
			x -= size.times[i]
		}
	}
}

// countBelow is count without the node itself.
func (k *packer) countBelow(v, c int, kind chainKind, uses []int) {
	children := k.problem.GPU.Tree()[v].Children
	switch len(children) {
	case 0:
		return
	case 1:
		k.count(children[0], c, kind, uses)
		return
	}
	a, b := k.tables[kind][k.shape[children[0]]], k.tables[kind][k.shape[children[1]]]
	value, late := k.below(v, c, kind), c-k.delay[v]
	switch {
	case late >= 0 && a[c]+b[late] == value:
		k.count(children[0], c, kind, uses)
		k.count(children[1], late, kind, uses)
	case late >= 0 && a[late]+b[c] == value:
		k.count(children[0], late, kind, uses)
		k.count(children[1], c, kind, uses)
	case a[c] == value:
		k.count(children[0], c, kind, uses)
	default:
		k.count(children[1], c, kind, uses)
	}
}
