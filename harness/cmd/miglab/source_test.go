package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// A parsedFile is a Go file of the program; tests and what only they use are left out.
type parsedFile struct {
	// name is its path from the root of the repository.
	name, text string
	set        *token.FileSet
	*ast.File
}

// folder returns the package's path.
func (f *parsedFile) folder() string { return path.Dir(f.name) }

// lines returns the first and the last line of a node.
func (f *parsedFile) lines(n ast.Node) (first, last int) {
	return f.set.Position(n.Pos()).Line, f.set.Position(n.End()).Line
}

// isForTests reports whether only tests use a package.
func isForTests(folder string) bool {
	return strings.HasSuffix(folder, "test") || folder == "harness/deep"
}

// readSources parses the program once.
var readSources = sync.OnceValues(func() (files []*parsedFile, err error) {
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		f := &parsedFile{name: filepath.ToSlash(rel), set: token.NewFileSet()}
		hidden := rel != "." && strings.HasPrefix(d.Name(), ".")
		if d.IsDir() && (hidden || d.Name() == "testdata" || isForTests(f.name)) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f.text = string(raw)
		f.File, err = parser.ParseFile(f.set, file, raw, parser.ParseComments)
		files = append(files, f)
		return err
	})
	return files, err
})

func sources(t *testing.T) []*parsedFile {
	t.Helper()
	files, err := readSources()
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 300 {
		t.Fatalf("only %d files were read", len(files))
	}
	return files
}
