package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"miglab/harness/track"
)

// TestTracksAreToldApartAtOnePlace reads the source: outside harness/track no switch, comparison or
// map literal names a track.
func TestTracksAreToldApartAtOnePlace(t *testing.T) {
	for _, f := range sources(t) {
		if f.folder() == "harness/track" {
			continue
		}
		for _, at := range toldApart(f.File) {
			t.Errorf("%s tells tracks apart; ask the track's value in harness/track instead", f.set.Position(at))
		}
	}
}

// TestToldApartFindsTracks keeps the search honest: it must find each form that it is for.
func TestToldApartFindsTracks(t *testing.T) {
	for source, want := range map[string]int{
		`switch x { case algo.TrackBatch: }`:             1,
		`switch { case x == algo.TrackBatch: }`:          1,
		`if x != algo.TrackStream { }`:                   1,
		`_ = map[string]int{algo.TrackCorun: 1}`:         1,
		`switch s.Track { case "dispatch": }`:            1,
		`_ = map[string]int{"placement": 1, "corun": 2}`: 1,
		`s.Track = algo.TrackBound`:                      0,
		`_ = algo.Spec{Track: algo.TrackBatch}`:          0,
		`_ = map[string]int{}`:                           0,
		`switch kind { case "batch": case "deadline": }`: 0,
		`_ = []string{algo.TrackBatch, TrackOffline}`:    0,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc f() {\n"+source+"\n}\n", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := toldApart(f); len(got) != want {
			t.Errorf("%s: found at %v, want %d places", source, got, want)
		}
	}
}

// toldApart returns where a file compares tracks, switches over them, or has a map literal with
// tracks as keys. A name as a text counts where it is compared with something that is called a
// track, or where all keys are names of tracks.
func toldApart(f *ast.File) []token.Pos {
	var out []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && (isTrack(n.X) || isTrack(n.Y)) {
				out = append(out, n.Pos())
			}
		case *ast.SwitchStmt:
			named := n.Tag != nil && strings.HasSuffix(strings.ToLower(lastName(n.Tag)), "track")
			for _, c := range n.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					if isTrack(e) || named && isName(e) {
						out = append(out, e.Pos())
					}
				}
			}
		case *ast.CompositeLit:
			if _, ok := n.Type.(*ast.MapType); !ok || len(n.Elts) == 0 {
				break
			}
			names, tracks := 0, 0
			for _, e := range n.Elts {
				if kv, ok := e.(*ast.KeyValueExpr); ok && isTrack(kv.Key) {
					tracks++
				} else if ok && isName(kv.Key) {
					names++
				}
			}
			if tracks > 0 || names > 1 && names == len(n.Elts) {
				out = append(out, n.Pos())
			}
		}
		return true
	})
	return out
}

// isTrack reports whether an expression is one of the tracks of package algo.
func isTrack(e ast.Expr) bool {
	name := lastName(e)
	rest, ok := strings.CutPrefix(name, "Track")
	if !ok || rest == "" {
		return false
	}
	return slices.ContainsFunc(track.All(), func(t *track.Track) bool { return strings.EqualFold(rest, t.Name) })
}

// isName reports whether an expression is the name of a track as a text.
func isName(e ast.Expr) bool {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return false
	}
	text, err := strconv.Unquote(l.Value)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(track.All(), func(t *track.Track) bool { return text == t.Name })
}

// lastName returns the name that ends an expression such as x or p.x; "" for others.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
