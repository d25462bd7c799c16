package main

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestLinesAndFunctionsAreShort: no line is wider than 120 columns, of which a tab takes four, and no function has more
// than 60 lines. Rows of data may be longer: what stands between the braces of a composite literal or in a raw
// string, the C code before import "C", and the tag of a field.
func TestLinesAndFunctionsAreShort(t *testing.T) {
	const longestLine, longestFunction = 120, 60
	for _, f := range sources(t) {
		data := map[int]bool{}
		add := func(first, last int) {
			for line := first; line <= last; line++ {
				data[line] = true
			}
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if first, last := f.lines(n); last-first >= longestFunction {
					t.Errorf("%s:%d: %s has %d lines, more than %d", f.name, first, n.Name.Name, last-first+1, longestFunction)
				}
			case *ast.CompositeLit:
				first, last := f.lines(n)
				add(first+1, last-1)
			case *ast.BasicLit:
				if n.Kind == token.STRING && n.Value[0] == '`' {
					add(f.lines(n))
				}
			case *ast.Comment:
				if strings.HasPrefix(n.Text, "/*") {
					add(f.lines(n))
				}
			}
			return true
		})
		number := 0
		for line := range strings.Lines(f.text) {
			number++
			n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) + 3*strings.Count(line, "\t")
			if n > longestLine && !data[number] {
				t.Errorf("%s:%d has %d columns, more than %d", f.name, number, n, longestLine)
			}
		}
	}
}

// TestCommandsLeaveTestSupportOut: no command contains a package that only tests use.
func TestCommandsLeaveTestSupportOut(t *testing.T) {
	commands := 0
	for _, p := range goPackages(t) {
		if p.Name != "main" {
			continue
		}
		commands++
		for _, d := range p.Deps {
			if own, is := strings.CutPrefix(d, module); is && isForTests(own) || d == "testing" {
				t.Errorf("%s contains %s", p.name(), d)
			}
		}
	}
	if commands < 2 {
		t.Errorf("%d commands", commands)
	}
}
