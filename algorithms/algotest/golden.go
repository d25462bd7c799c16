package algotest

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"miglab/harness/algo"
)

var update = flag.Bool("update", false, "write the golden answers of new versions and delete those of old ones")

// GoldenName returns the file name of an algorithm's answers: its ID with hyphens for ?, = and &, and its version.
func GoldenName(id string, s algo.Spec) string {
	return fmt.Sprintf("%s-v%d.txt", strings.NewReplacer("?", "-", "=", "-", "&", "-").Replace(id), s.Version)
}

// An Answer is the content of one golden file.
type Answer struct {
	Key  string // the file name, see [GoldenName]
	Text string // the answer
}

// Golden compares answers with the files of a folder. Results are stored by version, so an answer that changes without
// a new version would contradict stored results.
//
// An answer that differs is written beside the file, with the extension .got, and stays there until you delete it.
// With -update, the test adds missing files and deletes files without an answer. It never changes a file: for another
// answer, raise Version in the algorithm's Spec. If the problems have changed instead, delete the file first.
func Golden(t testing.TB, dir string, answers []Answer) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !*update {
		t.Fatal(err)
	}
	extra := map[string]bool{}
	for _, e := range entries {
		extra[e.Name()] = filepath.Ext(e.Name()) != ".got"
	}
	for i, a := range answers {
		path := filepath.Join(dir, a.Key)
		switch {
		case slices.ContainsFunc(answers[:i], func(o Answer) bool { return o.Key == a.Key }):
			t.Errorf("two answers named %s", a.Key)
		case extra[a.Key]:
			extra[a.Key] = false
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := string(text)
			if a.Text != want {
				write(t, path+".got", a.Text)
				t.Errorf("%s: the answer has changed, %s; see the .got file beside it. If that is meant, raise Version "+
					"in the algorithm's Spec and write the new answers: %s", path, firstDifference(a.Text, want),
					updateCommand(t))
			}
		case *update:
			write(t, path, a.Text)
		default:
			t.Errorf("%s does not exist. If the algorithm or its version is new, write its answers and keep the file: %s",
				path, updateCommand(t))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(extra)) {
		path := filepath.Join(dir, name)
		switch {
		case !extra[name]:
		case *update:
			if err := os.Remove(path); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("%s is of no registered algorithm and version. If it is of an older version, delete it: %s",
				path, updateCommand(t))
		}
	}
}

// updateCommand returns the command that writes missing answers and deletes those of older versions. The path of a
// test's program is that of its package, with .test.
func updateCommand(t testing.TB) string {
	folder := "."
	if info, ok := debug.ReadBuildInfo(); ok {
		folder = strings.TrimSuffix("."+strings.TrimPrefix(info.Path, info.Main.Path), ".test")
	}
	return fmt.Sprintf("go test %s -run '^%s$' -update", folder, t.Name())
}

// firstDifference describes the first line, counted from 1, in which two texts differ. A line that one lacks is "".
func firstDifference(got, want string) string {
	a, b := slices.Collect(strings.Lines(got)), slices.Collect(strings.Lines(want))
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	a, b = append(a, ""), append(b, "")
	return fmt.Sprintf("first on line %d: got %q, want %q", n+1, a[min(n, len(a)-1)], b[min(n, len(b)-1)])
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}
