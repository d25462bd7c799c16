package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// queries returns the statements of SQL in a file, each in one line.
func queries(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "//"))
		if last := len(out) - 1; last >= 0 && !strings.HasSuffix(out[last], ";") {
			out[last] += " " + line
		} else if strings.HasPrefix(line, "SELECT ") {
			out = append(out, line)
		}
	}
	return out
}

// The example queries of the package documentation and of harness/README.md work as they are printed.
func TestExampleQueries(t *testing.T) {
	examples := queries(t, "doc.go")
	if inReadme := queries(t, filepath.Join("..", "README.md")); len(examples) != 3 || strings.Join(inReadme, "\n") != strings.Join(examples, "\n") {
		t.Fatalf("harness/README.md has\n%q\nand the package documentation\n%q; want the same three", inReadme, examples)
	}
	dir := t.TempDir()
	miso := result(1, 30)
	miso.Series.Algorithm = "miso"
	write(t, dir, "results.db", result(0, 10), result(1, 20), miso, failure(2, "infeasible", "no place"))
	f, err := openFile(filepath.Join(dir, "results.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.db.Close()
	for i, want := range []string{
		"drl/WIDETIMES?n=1&seed=2 far 3 15|drl/WIDETIMES?n=1&seed=2 miso 1 30",
		"drl/WIDETIMES?n=1&seed=2 1 20 30",
		"far drl/WIDETIMES?n=1&seed=2 2 infeasible no place",
	} {
		rows, err := f.db.Query(examples[i])
		if err != nil {
			t.Fatalf("%s: %v", examples[i], err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for rows.Next() {
			values, pointers := make([]any, len(columns)), make([]any, len(columns))
			for c := range values {
				pointers[c] = &values[c]
			}
			if err := rows.Scan(pointers...); err != nil {
				t.Fatal(err)
			}
			got = append(got, strings.TrimSuffix(fmt.Sprintln(values...), "\n"))
		}
		if err := rows.Err(); err != nil || strings.Join(got, "|") != want {
			t.Errorf("%s\ngives %q, %v; want %q", examples[i], strings.Join(got, "|"), err, want)
		}
	}
}
