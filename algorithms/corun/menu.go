package corun

import (
	"slices"
	"sync"

	"miglab/harness/sim/corun"
)

// A menu is the setups of a family, made ready to be tried on many sets of jobs. Setups
// whose first slots are alike are tried together: those for a number of jobs are a tree
// with a level for each slot.
type menu struct {
	// The setups, their layouts and their trees are by number of jobs.
	setups  [corun.MaxConcurrency + 1][]corun.Setup
	layouts [corun.MaxConcurrency + 1][]corun.Layout
	trees   [corun.MaxConcurrency + 1][]node
	// places are the different ones among all slots.
	places []place
}

// A place is what a slot offers.
type place struct {
	// whole is the compute instance's share of the GPU, share the slot's of the instance: 1
	// for a job that has it to itself, 0 for a client without percentages.
	whole, share float64
	// memory is the GPU instance's share of the bandwidth.
	memory float64
}

// most is the largest share of the GPU's multiprocessors that a job there can ever have.
func (p *place) most(m *corun.Model) float64 {
	if p.share == 0 || m.Release {
		return p.whole
	}
	return p.whole * p.share
}

// slot is what tells a slot from others in its position.
type slot struct {
	place int
	// gpu and compute say that a GPU instance and a compute instance begin here.
	gpu, compute bool
	// last says that the GPU instance is the last one.
	last bool
	// twin says that it makes no difference if the jobs here and in the slot before change
	// places.
	twin bool
}

// node is a slot, and the setups that are alike up to it.
type node struct {
	slot
	// setup is an index where this slot is the last one, and -1 elsewhere.
	setup int
	next  []node
}

// menus are made once for each family.
var menus sync.Map

func menuOf(f corun.Family) *menu {
	if m, ok := menus.Load(f); ok {
		return m.(*menu)
	}
	m, _ := menus.LoadOrStore(f, newMenu(f))
	return m.(*menu)
}

func newMenu(f corun.Family) *menu {
	m := &menu{}
	for n := 1; n <= corun.MaxConcurrency; n++ {
		m.setups[n] = corun.Setups(f, n)
		for i := range m.setups[n] {
			s := &m.setups[n][i]
			m.layouts[n] = append(m.layouts[n], s.Layout())
			m.trees[n] = insert(m.trees[n], m.slots(s), i)
		}
	}
	return m
}

// slots lists a setup's slots, and adds their places to those of the menu.
func (m *menu) slots(s *corun.Setup) (out []slot) {
	for g := range s.GIs {
		gi := &s.GIs[g]
		for c := range gi.CIs {
			ci := &gi.CIs[c]
			shares := ci.Shares
			switch {
			case ci.Default > 0:
				shares = make([]float64, ci.Default)
			case len(shares) == 0:
				shares = []float64{1}
			}
			for k, share := range shares {
				p := place{ci.Compute, share, gi.Memory}
				i := slices.Index(m.places, p)
				if i < 0 {
					i = len(m.places)
					m.places = append(m.places, p)
				}
				out = append(out, slot{
					place: i, gpu: c == 0 && k == 0, compute: k == 0,
					last: g == len(s.GIs)-1, twin: k > 0 && share == shares[k-1],
				})
			}
		}
	}
	return out
}

func insert(nodes []node, slots []slot, setup int) []node {
	i := slices.IndexFunc(nodes, func(n node) bool { return n.slot == slots[0] })
	if i < 0 {
		i = len(nodes)
		nodes = append(nodes, node{slot: slots[0], setup: -1})
	}
	if len(slots) == 1 {
		nodes[i].setup = setup
	} else {
		nodes[i].next = insert(nodes[i].next, slots[1:], setup)
	}
	return nodes
}
