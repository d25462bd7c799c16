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

// A mutation changes outputs of a paper in memory, and counts the changes.
type mutation struct {
	*testing.T
	paper   *figures.Paper
	outputs map[string]*figures.Output // by artefact
	// artefact is the one that the change is in.
	artefact string
	tried    int
}

// refused fails the test unless the outputs do not match the claims.
func (m *mutation) refused(outputs map[string]*figures.Output, what string, key any) {
	m.Helper()
	m.tried++
	o := outputs[m.artefact]
	if o != nil && !figures.Matches(m.paper.Claims, m.artefact, o) {
		return
	}
	if figures.Check(m.paper.Claims, m.paper.Name, outputs) == nil {
		m.Errorf("%s: %s %q is accepted after a change", m.paper.Name, what, fmt.Sprint(key))
	}
}

// rebuilt returns the outputs with an artefact's built again, on the claims as they are now. A key that Build takes from
// the claims is then as mistyped as theirs. It returns nil if Build refuses the claims.
func (m *mutation) rebuilt(artefact string) (outputs map[string]*figures.Output) {
	defer func() {
		if recover() != nil { // Claims.Published panics if there is no such claim
			outputs = nil
		}
	}()
	alone := *m.paper
	alone.Artefacts = slices.DeleteFunc(slices.Clone(alone.Artefacts), func(a figures.Artefact) bool { return a.Name != artefact })
	own, err := alone.Outputs()
	if err != nil {
		return nil
	}
	outputs = maps.Clone(m.outputs)
	maps.Copy(outputs, own)
	return outputs
}

// TestMistypedKeysAreRefused: every claim of a paper is measured, missing for a stated reason or an input, and every
// key that an artefact measures is a claim. It changes each key in turn, in the rows of the data files and in the
// declarations of the artefacts, and the value of each input.
func TestMistypedKeysAreRefused(t *testing.T) {
	all := papers(t)
	tried := 0
	for i := range all {
		outputs, err := all[i].Outputs()
		if err != nil {
			t.Fatal(err)
		}
		m := &mutation{T: t, paper: &all[i], outputs: outputs}
		if err := figures.Check(m.paper.Claims, m.paper.Name, outputs); err != nil {
			t.Error(err)
		}
		m.claims()
		m.cells()
		if err := figures.Check(m.paper.Claims, m.paper.Name, outputs); err != nil {
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
	o := m.outputs[key.Artefact]
	return o != nil && slices.ContainsFunc(o.Readings, func(r figures.Reading) bool {
		_, ok := r.Values[key.Cell]
		return ok
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
		m.artefact = key.Artefact
		eachMistyped(&c.Cell, func() {
			outputs := m.outputs
			// What is missing stands in the same row: a new build reads the changed key there.
			rebuild := c.Missing == "" || m.measures(key)
			instead := c.Missing != "" && m.paper.Claims.Needs(key.Artefact, key.Cell) // a conclusion has the old key
			if rebuild && (deep.On() || instead || i == first[key.Artefact] || i == last[key.Artefact]) {
				outputs = m.rebuilt(key.Artefact)
			}
			if outputs != nil {
				m.refused(outputs, "the claim", key)
			}
		})
		c.Artefact = mistype(key.Artefact)
		m.refused(m.outputs, "the artefact of the claim", key)
		c.Key = key
		if c.Basis == claim.Input {
			c.Published++
			m.refused(m.outputs, "the published input", key)
			c.Published = published
		}
	}
}

// cells changes the cells of the artefacts' outputs, and the values of inputs.
func (m *mutation) cells() {
	for artefact, o := range m.outputs {
		m.artefact = artefact
		for _, r := range o.Readings {
			mistypeEach(m, r.Values, "the key")
		}
		mistypeEach(m, o.Missing, "the missing key")
		mistypeEach(m, o.Inputs, "the input")
		for cell, value := range maps.Clone(o.Inputs) {
			o.Inputs[cell] = value + 1
			m.refused(m.outputs, "the value of the input", cell)
			delete(o.Inputs, cell)
			m.refused(m.outputs, "the missing input", cell)
			o.Inputs[cell] = value
		}
	}
}

// mistypeEach changes each key of a map in turn.
func mistypeEach[V any](m *mutation, values map[claim.Cell]V, what string) {
	for cell, value := range maps.Clone(values) {
		delete(values, cell)
		changed := cell
		eachMistyped(&changed, func() {
			values[changed] = value
			m.refused(m.outputs, what, cell)
			delete(values, changed)
		})
		values[cell] = value
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
