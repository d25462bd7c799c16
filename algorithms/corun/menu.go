package corun

import (
	"slices"
	"sync"

	"miglab/harness/sim/corun"
)

// A menu holds the setups of a family in a form that is fast to try on many sets of jobs. The setups for a number of
// jobs form a tree with a level for each slot, so that setups with the same first slots are tried together.
type menu struct {
	// The setups, their layouts and their trees are by number of jobs.
	setups  [corun.MaxConcurrency + 1][]corun.Setup
	layouts [corun.MaxConcurrency + 1][]corun.Layout
	trees   [corun.MaxConcurrency + 1][]node
	places  []place // all different places of the slots
}

// A place describes the resources of a slot.
type place struct {
	// whole is the compute instance's share of the GPU. share is the slot's share of the instance: 1 for a job alone, 0
	// for an MPS client without a percentage.
	whole, share float64
	memory       float64 // the GPU instance's share of the bandwidth
}

// most returns the largest share of the GPU's multiprocessors that a job there can have.
func (p *place) most(m *corun.Model) float64 {
	if p.share == 0 || m.Release {
		return p.whole
	}
	return p.whole * p.share
}

// A slot has the properties in which slots of different setups can differ.
type slot struct {
	place        int
	gpu, compute bool // a GPU instance and a compute instance begin here
	last         bool // the GPU instance is the last one
	twin         bool // the jobs here and in the slot before can be exchanged without effect
}

// A node is a slot and the setups that are the same up to it.
type node struct {
	slot
	setup int // the index of the setup whose last slot this is, or -1
	next  []node
}

// menus caches the menus of the families.
var menus sync.Map

func loadMenu(f corun.Family) *menu {
	m, ok := menus.Load(f)
	if !ok {
		m, _ = menus.LoadOrStore(f, newMenu(f))
	}
	return m.(*menu)
}

func newMenu(f corun.Family) *menu {
	m := &menu{}
	for n := 1; n <= corun.MaxConcurrency; n++ {
		m.setups[n] = corun.Setups(f, n)
		for i := range m.setups[n] {
			s := &m.setups[n][i]
			m.layouts[n] = append(m.layouts[n], s.Layout())
			m.trees[n] = insertSlots(m.trees[n], m.slots(s), i)
		}
	}
	return m
}

// slots lists a setup's slots and adds their new places to the menu.
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

func insertSlots(nodes []node, slots []slot, setup int) []node {
	i := slices.IndexFunc(nodes, func(n node) bool { return n.slot == slots[0] })
	if i < 0 {
		i = len(nodes)
		nodes = append(nodes, node{slot: slots[0], setup: -1})
	}
	if len(slots) == 1 {
		nodes[i].setup = setup
	} else {
		nodes[i].next = insertSlots(nodes[i].next, slots[1:], setup)
	}
	return nodes
}
