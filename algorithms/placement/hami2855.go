package placement

import (
	"slices"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

var _ = algo.Register(algo.Spec{
	Name: "hami-2855", Version: 1,
	Cite: "HAMi PR 2855, the joint plan for several slices on one card; the single-slice part is hami-binpack or " +
		"hami-spread",
	Summary: "plans the instances of a request together, the profile with the fewest free starts first, with " +
		"backtracking",
	Params: []algo.Param{{
		Name: "gpu", Default: "binpack", Values: []string{"binpack", "spread"}, Doc: "fullest GPUs first, or emptiest",
	}},
	New: algo.NewPlacer(func(a algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		sign := -signs[a["gpu"]] // the sign of the free slices
		t := fixedTable("hami-2855", a, s.GPU, func() rule { return hami(sign)(a, s.GPU) })
		return &hami2855{table: t, gpu: s.GPU, sign: sign}, nil
	}),
})

// hami2855 places single instances by its table, and plans gangs.
type hami2855 struct {
	table
	gpu  *mig.GPU
	sign int
}

// PlaceGang puts all members on the fullest GPU on which they can be planned together, or on the emptiest with
// gpu=spread. If there is none, it rejects a gang that needs one GPU and leaves any other gang to the rule for single
// instances.
func (h *hami2855) PlaceGang(c *sim.Cluster, g *task.Gang) ([]sim.Spot, bool) {
	bestRank, bestGPU := 0, 0
	var found []mig.Slices // the members' starts on bestGPU
	needed := (&task.Request{Gang: g}).Slices()
	for gpu := range c.GPUs() {
		free := freeSlices(h.gpu, c.Mask(gpu))
		noBetter := found != nil && h.sign*free >= bestRank
		lacksMedia := g.Media() > 1 || g.Media() == 1 && c.Media(gpu)
		if free < needed || noBetter || lacksMedia {
			continue
		}
		starts := slices.Repeat([]mig.Slices{nowhere}, len(g.Members))
		if h.plan(c, gpu, g.Members, c.Mask(gpu), starts) {
			bestRank, bestGPU, found = h.sign*free, gpu, starts
		}
	}
	var out []sim.Spot
	for _, start := range found {
		out = append(out, sim.Spot{GPU: bestGPU, Start: start})
	}
	return out, found != nil || !g.OneGPU
}

// plan sets the starts of the members that are nowhere yet. It begins with the member that has the fewest free starts,
// and tries those first that leave the longest run of free slices and then the most placements of all profiles. It
// returns false and undoes its choices if there is no room.
func (h *hami2855) plan(c *sim.Cluster, gpu int, members []task.Member, occupied mig.Mask, starts []mig.Slices) bool {
	next, free := -1, []choice(nil)
	for k, m := range members {
		if starts[k] != nowhere {
			continue
		}
		choices := h.choices(c.Profile(gpu, slices.Index(c.Profiles(), m.Profile)), occupied)
		if next < 0 || len(choices) < len(free) {
			next, free = k, choices
		}
	}
	if next < 0 {
		return true
	}
	for _, at := range free {
		starts[next] = at.start
		if h.plan(c, gpu, members, occupied|window(members[next].Profile, at.start), starts) {
			return true
		}
	}
	starts[next] = nowhere
	return false
}

// choices returns the free starts of a profile, the best first.
func (h *hami2855) choices(p *mig.Profile, occupied mig.Mask) (out []choice) {
	for start, w := range (freeStarts{p, occupied}).all {
		left := occupied | w
		out = append(out, choice{cost{-longestRun(h.gpu, left), -placements(h.gpu, left)}, start})
	}
	slices.SortStableFunc(out, func(a, b choice) int { return a.cost.compare(&b.cost) })
	return out
}
