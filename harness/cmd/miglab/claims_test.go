package main

import (
	"slices"
	"testing"

	figures "miglab/paper-figures"
)

// TestClaimsMatchTheirDeclarations: every claim of a paper is measured, missing for a stated
// reason or an input, and every key that an artefact measures is a claim.
func TestClaimsMatchTheirDeclarations(t *testing.T) {
	all, err := papers()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if err := p.Check(); err != nil {
			t.Error(err)
		}
	}
}

// mistype changes one letter of a key.
func mistype(key string) string { return key[:len(key)/2] + "~" + key[len(key)/2:] }

// TestMistypedKeysAreRefused changes each key in turn, in the data files' rows and in the
// declarations of the artefacts, in memory. Inputs are not judged, so no declaration names them.
func TestMistypedKeysAreRefused(t *testing.T) {
	all, err := papers()
	if err != nil {
		t.Fatal(err)
	}
	mutations := 0
	for _, p := range all {
		decs, err := p.Declarations()
		if err != nil {
			t.Fatal(err)
		}
		refused := func(what, key string) {
			mutations++
			if p.Claims.Check(p.Name, decs) == nil {
				t.Errorf("%s: %s %q is accepted with another name", p.Name, what, key)
			}
		}
		for i := range p.Claims.All {
			c := &p.Claims.All[i]
			for _, key := range []*string{&c.Name, &c.Artefact} {
				old := *key
				*key = mistype(old)
				if c.Basis != figures.Input || key == &c.Artefact {
					refused("the claim", old)
				}
				*key = old
			}
			for j, place := range c.Places {
				if c.Basis == figures.Input || !slices.ContainsFunc(decs, func(d figures.Declaration) bool {
					return len(place) > len(d.Artefact) && place[:len(d.Artefact)+1] == d.Artefact+" "
				}) {
					continue // a place in words
				}
				c.Places[j] = mistype(place)
				refused("the place", place)
				c.Places[j] = place
			}
		}
		for _, dec := range decs {
			for _, keys := range append(slices.Clone(dec.Readings), dec.Missing) {
				for i, key := range keys {
					keys[i] = mistype(key)
					refused("the key", key)
					keys[i] = key
				}
			}
		}
		if err := p.Claims.Check(p.Name, decs); err != nil {
			t.Errorf("the test has changed something: %v", err)
		}
	}
	if mutations < 1000 {
		t.Errorf("%d mutations; there are more keys", mutations)
	}
}
