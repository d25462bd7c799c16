package site

import "testing"

// A claim keeps all of its readings, in whatever order they come.
func TestReadingBeforeTheDefault(t *testing.T) {
	claim := func(reading string, ofDefault bool) Claim {
		return Claim{Paper: "p", Artefact: "a", Name: "n", Reading: reading, Default: ofDefault}
	}
	a := viewArtefact("a", []Claim{claim("x", false), claim("d", true), claim("y", false)}, figuresView{})
	if c := a.Claims[0]; c.Reading != "d" || len(c.Others) != 2 || c.Others[0].Reading != "x" || c.Others[1].Reading != "y" {
		t.Errorf("%+v", c)
	}
}
