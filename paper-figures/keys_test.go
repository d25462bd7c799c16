package figures_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"miglab/harness/deep"
	figures "miglab/paper-figures"
	"miglab/paper-figures/claim"
)

// mistype changes one letter of a word.
func mistype(word string) string { return word[:len(word)/2] + "~" + word[len(word)/2:] }

// eachMistyped calls a function while one of the coordinates that a cell has is changed, for each of them in turn.
func eachMistyped(cell *claim.Cell, do func()) {
	for _, field := range []*string{&cell.Row, &cell.Column, &cell.Quantity} {
		if before := *field; before != "" {
			*field = mistype(before)
			do()
			*field = before
		}
	}
}

// A mutation changes declarations of a paper in memory, and counts the changes.
type mutation struct {
	*testing.T
	paper *figures.Paper
	decs  []figures.Declaration
	tried int
}

// refused fails the test unless the declarations do not match the claims.
func (m *mutation) refused(decs []figures.Declaration, what string, key any) {
	m.Helper()
	m.tried++
	if figures.Check(m.paper.Claims, m.paper.Name, decs) == nil {
		m.Errorf("%s: %s %q is accepted after a change", m.paper.Name, what, fmt.Sprint(key))
	}
}

// rebuilt returns the declarations with those of an artefact built again, on the claims as they are
// now. A key that Build takes from the claims is then as mistyped as theirs. It returns nil if
// Build refuses the claims.
func (m *mutation) rebuilt(artefact string) (decs []figures.Declaration) {
	defer func() {
		if recover() != nil { // Claims.Published panics if there is no such claim
			decs = nil
		}
	}()
	i := slices.IndexFunc(m.decs, func(d figures.Declaration) bool { return d.Artefact == artefact })
	alone := *m.paper
	alone.Artefacts = m.paper.Artefacts[i : i+1]
	own, err := alone.Declarations()
	if err != nil {
		return nil
	}
	decs = slices.Clone(m.decs)
	decs[i] = own[0]
	return decs
}

// TestMistypedKeysAreRefused: every claim of a paper is measured, missing for a stated reason or an input, and every
// key that an artefact measures is a claim. It changes each key in turn, in the rows of the data files and in the
// declarations of the artefacts, and the value of each input.
func TestMistypedKeysAreRefused(t *testing.T) {
	all := papers(t)
	tried := 0
	for i := range all {
		decs, err := all[i].Declarations()
		if err != nil {
			t.Fatal(err)
		}
		m := &mutation{T: t, paper: &all[i], decs: decs}
		if err := figures.Check(m.paper.Claims, m.paper.Name, decs); err != nil {
			t.Error(err)
		}
		m.claims()
		m.declarations()
		if err := figures.Check(m.paper.Claims, m.paper.Name, decs); err != nil {
			t.Errorf("the test has changed something: %v", err)
		}
		tried += m.tried
	}
	if tried < 2000 {
		t.Errorf("%d mutations; there are more keys", tried)
	}
}

// measures reports whether an artefact measures a claim under one of its readings.
func (m *mutation) measures(key claim.Key) bool {
	return slices.ContainsFunc(m.decs, func(d figures.Declaration) bool {
		return d.Artefact == key.Artefact && slices.Contains(slices.Concat(d.Readings...), key.Cell)
	})
}

// claims changes the rows of claims.csv. An artefact is built again for each of its claims if tests are deep, and
// otherwise for the first and the last one.
func (m *mutation) claims() {
	first, last := map[string]int{}, map[string]int{}
	for i, c := range m.paper.Claims.All {
		if _, ok := first[c.Artefact]; !ok {
			first[c.Artefact] = i
		}
		last[c.Artefact] = i
	}
	for i := range m.paper.Claims.All {
		c := &m.paper.Claims.All[i]
		key, published := c.Key, c.Published
		eachMistyped(&c.Cell, func() {
			decs := m.decs
			// What is missing stands in the same row: a new build reads the changed key there.
			rebuild := c.Missing == "" || m.measures(key)
			instead := c.Missing != "" && m.paper.Claims.Needs(key.Artefact, key.Cell) // a conclusion has the old key
			if rebuild && (deep.On() || instead || i == first[key.Artefact] || i == last[key.Artefact]) {
				decs = m.rebuilt(key.Artefact)
			}
			if decs != nil {
				m.refused(decs, "the claim", key)
			}
		})
		c.Artefact = mistype(key.Artefact)
		m.refused(m.decs, "the artefact of the claim", key)
		c.Key = key
		if c.Basis == claim.Input {
			c.Published++
			m.refused(m.decs, "the published input", key)
			c.Published = published
		}
	}
}

// declarations changes what the artefacts declare.
func (m *mutation) declarations() {
	for i := range m.decs {
		dec := &m.decs[i]
		for _, cells := range append(slices.Clone(dec.Readings), dec.Missing) {
			for j := range cells {
				eachMistyped(&cells[j], func() { m.refused(m.decs, "the key", cells[j]) })
			}
		}
		inputs := dec.Inputs
		for cell, value := range inputs {
			dec.Inputs = maps.Clone(inputs)
			dec.Inputs[cell] = value + 1
			m.refused(m.decs, "the value of the input", cell)
			delete(dec.Inputs, cell)
			m.refused(m.decs, "the missing input", cell)
			changed := cell
			eachMistyped(&changed, func() {
				dec.Inputs[changed] = value
				m.refused(m.decs, "the input", cell)
				delete(dec.Inputs, changed)
			})
		}
		dec.Inputs = inputs
	}
}

// TestSelection: --paper selects all artefacts of papers, and --only some of one.
func TestSelection(t *testing.T) {
	known := papers(t)
	for _, c := range []struct{ papers, only, want []string }{
		{nil, nil, figures.Names(known)},
		{[]string{"mfi", "far"}, nil, figures.Names([]figures.Paper{known[0], known[2]})},
		{nil, []string{"far/table4", "drl/table4"}, []string{"drl/table4", "far/table4"}},
	} {
		keeps, err := figures.Select(known, c.papers, c.only)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(figures.Names(known), func(name string) bool {
			paper, artefact, _ := strings.Cut(name, "/")
			return !keeps(paper, artefact)
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("--paper %q --only %q selects %q, want %q", c.papers, c.only, got, c.want)
		}
	}
}
