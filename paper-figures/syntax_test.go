package figures_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// selecting are the functions that look for one text in another, by package.
var selecting = map[string][]string{
	"strings": {"Contains", "HasPrefix", "HasSuffix", "Cut", "CutPrefix", "CutSuffix", "Fields", "Split", "SplitSeq", "Index", "TrimPrefix", "TrimSuffix", "EqualFold"},
	"path":    {"Match"}, "filepath": {"Match"},
}

// ofClaim are the selectors that have the coordinates of a claim, or their text.
var ofClaim = []string{"Row", "Column", "Quantity", "Cell", "Key", "Claim", "Measure"}

// usesClaim reports whether an expression has a coordinate or the text of a claim in it.
func usesClaim(e ast.Expr) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(ofClaim, s.Sel.Name) {
			x, isName := s.X.(*ast.Ident)
			found = found || !isName || x.Name != "claim" && x.Name != "verdict"
		}
		return !found
	})
	return found
}

// patterns lists the calls in a file that look for a text in a claim's coordinates.
func patterns(file *ast.File) (out []*ast.CallExpr) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, isPackage := f.X.(*ast.Ident)
		matches := strings.HasPrefix(f.Sel.Name, "Match") || strings.HasPrefix(f.Sel.Name, "Find") && strings.Contains(f.Sel.Name, "String")
		if isPackage && slices.Contains(selecting[pkg.Name], f.Sel.Name) || matches {
			if slices.ContainsFunc(call.Args, usesClaim) {
				out = append(out, call)
			}
		}
		return true
	})
	return out
}

// TestPatternsAreFound: the test below sees each way to select a claim by its text.
func TestPatternsAreFound(t *testing.T) {
	for call, want := range map[string]int{
		`strings.Contains(c.Quantity, "late")`: 1, `strings.HasPrefix(c.Cell.String(), x)`: 1, `strings.Cut(row.Claim, " ")`: 1,
		`path.Match(p, e.Row)`: 1, `re.MatchString(c.Key.String())`: 1, `strings.Fields(a.Claim)`: 1, `re.FindStringSubmatch(t.Measure)`: 1,
		`strings.Contains(c.Missing, "GPU")`: 0, `c.Cell == claim.At("LU", "end")`: 0, `strings.Contains(text, claim.Cell{}.Name())`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+call, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(patterns(file)); got != want {
			t.Errorf("%s: %d, want %d", call, got, want)
		}
	}
}

// sentence matches a literal that reads like a whole sentence.
var sentence = regexp.MustCompile(`^"[A-Z][^"]* [^"]*\."$`)

// sentences lists the literals of a file that read like sentences.
func sentences(file *ast.File) (out []*ast.BasicLit) {
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && sentence.MatchString(l.Value) {
			out = append(out, l)
		}
		return true
	})
	return out
}

// TestSentencesAreFound: the test below sees a sentence and neither an error, a title nor a format.
func TestSentencesAreFound(t *testing.T) {
	for literal, want := range map[string]int{
		`"It could not have come out otherwise."`: 1, `"Missing: %d training runs. More would do."`: 1,
		`"is measured and is no claim"`: 0, `"Table 1. Seconds to create an instance"`: 0, `"%s %d."`: 0, `"."`: 0,
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\nvar _ = "+literal, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(sentences(file)); got != want {
			t.Errorf("%s: %d, want %d", literal, got, want)
		}
	}
}

// TestClaimsAreNotSelectedByPatterns: the program compares the keys of claims and never looks for a text in them. Only
// package claim splits the lists of a selection. Packages claim and verdict render nothing, and they, manifest and the
// package here have no sentence: package render has all that is said about a verdict.
func TestClaimsAreNotSelectedByPatterns(t *testing.T) {
	files := token.NewFileSet()
	parsed := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		parsed++
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		for _, call := range patterns(file) {
			t.Errorf("%v: a claim is selected by a text", files.Position(call.Pos()))
		}
		dir := filepath.Dir(path)
		if slices.Contains([]string{".", "claim", "manifest", "verdict"}, dir) {
			for _, l := range sentences(file) {
				t.Errorf("%v: the sentence %s; package render has the words", files.Position(l.Pos()), l.Value)
			}
		}
		if dir == "claim" || dir == "verdict" {
			for _, i := range file.Imports {
				refused := []string{`"regexp"`, `"path"`, `"text/template"`, `"html/template"`, `"miglab/paper-figures"`}
				if slices.Contains(refused, i.Path.Value) || strings.HasPrefix(i.Path.Value, `"miglab/reports`) {
					t.Errorf("%s imports %s", path, i.Path.Value)
				}
			}
		}
		return nil
	})
	if err != nil || parsed < 40 {
		t.Errorf("%d files, %v", parsed, err)
	}
}
