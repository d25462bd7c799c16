package main

import (
	"go/ast"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// opensForWriting are the functions that open files for writing, by the path of their package.
var opensForWriting = map[string]string{
	"os":                        "Create CreateTemp OpenFile WriteFile Rename Link Symlink Truncate CopyFS",
	"syscall":                   "Creat Mknod Open Rename",
	"database/sql":              "Open OpenDB",
	"miglab/harness/atomicfile": "Write WriteFile",
}

// writers returns the functions of a file that open files for writing.
func writers(f *parsedFile) (out []string) {
	packages := map[string]string{} // by the name that the file calls them by
	for _, spec := range f.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		if _, ok := opensForWriting[imported]; ok {
			name := imported[strings.LastIndex(imported, "/")+1:]
			if spec.Name != nil {
				name = spec.Name.Name
			}
			packages[name] = imported
		}
	}
	for _, d := range f.Decls {
		name := "(variables)"
		if function, ok := d.(*ast.FuncDecl); ok {
			name = function.Name.Name
		}
		ast.Inspect(d, func(n ast.Node) bool {
			called, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := called.X.(*ast.Ident)
			if ok && slices.Contains(strings.Fields(opensForWriting[packages[of.Name]]), called.Sel.Name) {
				out = append(out, f.folder()+" "+name)
			}
			return true
		})
	}
	return out
}

// TestWriters: testdata/writers.txt says which functions open files for writing, and why. Only the results database
// and what is kept in it are there "to go on", and the private checkpoints of trainings.
func TestWriters(t *testing.T) {
	mayGoOn := []string{"harness/store", "harness/work", "algorithms/rl/train"}
	why := map[string]string{}
	for line := range strings.Lines(mustRead(t, filepath.Join("testdata", "writers.txt"))) {
		writer, reason, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if _, twice := why[writer]; !ok || twice || reason == "" {
			t.Errorf("writers.txt: %q is not a new \"package function: why\"", line)
		}
		why[writer] = reason
		folder, _, _ := strings.Cut(writer, " ")
		if strings.HasPrefix(reason, "to go on") && !slices.Contains(mayGoOn, folder) {
			t.Errorf("writers.txt: %s may not remember work; harness/work does", writer)
		}
	}
	used := map[string]bool{}
	for _, f := range sources(t) {
		for _, writer := range writers(f) {
			if used[writer] = true; why[writer] == "" {
				t.Errorf("%s: %s opens a file for writing and has no line in writers.txt", f.name, writer)
			}
		}
	}
	for writer := range why {
		if !used[writer] {
			t.Errorf("writers.txt: %s opens no file for writing", writer)
		}
	}
}
