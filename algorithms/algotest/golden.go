package algotest

import (
	"flag"
	"fmt"
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

// An Answer is the content of one golden file or line.
type Answer struct {
	Key  string // names the algorithm and its version
	Text string // the answer
}

// Golden compares answers with the files of a folder; the keys are the files' names. Results are stored by version, so
// an answer that changes without a new version would contradict stored results.
//
// An answer that differs is written beside the file, with the extension .got, and stays there until you delete it.
// With -update, the test adds missing files and deletes files without an answer. It never changes a file: for another
// answer, raise Version in the algorithm's Spec. If the problems have changed instead, delete the file first.
func Golden(t *testing.T, dir string, answers []Answer) {
	t.Helper()
	want := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil && !*update {
		t.Fatal(err)
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".got" {
			want[e.Name()] = read(t, filepath.Join(dir, e.Name()))
		}
	}
	d := compare(want, answers)
	for _, a := range d.changed {
		write(t, filepath.Join(dir, a.Key+".got"), a.Text)
	}
	d.report(t, dir, "see the .got file beside each")
	if !*update {
		return
	}
	for _, a := range d.missing {
		write(t, filepath.Join(dir, a.Key), a.Text)
	}
	for _, key := range d.extra {
		if err := os.Remove(filepath.Join(dir, key)); err != nil {
			t.Error(err)
		}
	}
}

// GoldenLines is [Golden] with one file. After a header it has a line for each answer: its key, a comma and its text.
func GoldenLines(t *testing.T, path, header string, answers []Answer) {
	t.Helper()
	before, ok := strings.CutPrefix(read(t, path), header+"\n")
	if !ok {
		t.Fatalf("%s does not begin with the line %s", path, header)
	}
	keyCells := strings.Count(answers[0].Key, ",") + 1
	want := map[string]string{}
	for line := range strings.Lines(before) {
		cells := strings.SplitN(strings.TrimSuffix(line, "\n"), ",", keyCells+1)
		want[strings.Join(cells[:len(cells)-1], ",")] = cells[len(cells)-1]
	}
	var b strings.Builder
	b.WriteString(header + "\n")
	for _, a := range answers {
		b.WriteString(a.Key + "," + a.Text + "\n")
	}
	d := compare(want, answers)
	switch {
	case len(d.changed) > 0:
		write(t, path+".got", b.String())
	case *update:
		write(t, path, b.String())
	}
	d.report(t, path, "see "+path+".got")
}

// A difference lists the answers that differ from the golden answers.
type difference struct {
	// changed are the answers that differ from their golden answer. first says of each where it does so first.
	changed []Answer
	first   []string
	missing []Answer // the answers that have no golden answer
	extra   []string // the keys of golden answers that no algorithm gives
}

func compare(want map[string]string, answers []Answer) (d difference) {
	known := map[string]bool{}
	for _, a := range answers {
		known[a.Key] = true
		switch w, ok := want[a.Key]; {
		case !ok:
			d.missing = append(d.missing, a)
		case w != a.Text:
			d.changed = append(d.changed, a)
			d.first = append(d.first, firstDifference(a.Text, w))
		}
	}
	for key := range want {
		if !known[key] {
			d.extra = append(d.extra, key)
		}
	}
	slices.Sort(d.extra)
	return d
}

// report fails the test for every difference that -update does not remove.
func (d *difference) report(t *testing.T, where, see string) {
	t.Helper()
	for i, a := range d.changed {
		t.Errorf("%s: the answer of %s has changed, %s; %s. If that is meant, raise Version in the algorithm's "+
			"Spec and write the new answers: %s", where, a.Key, d.first[i], see, updateCommand(t))
	}
	if *update {
		return
	}
	for _, a := range d.missing {
		t.Errorf("%s has no answer of %s. If the algorithm or its version is new, write its answers and keep the file: %s",
			where, a.Key, updateCommand(t))
	}
	for _, key := range d.extra {
		t.Errorf("%s has an answer of %s, which no registered algorithm and version gives. If it is of an older "+
			"version, delete it: %s", where, key, updateCommand(t))
	}
}

// updateCommand returns the command that writes missing answers and deletes those of older versions. The path of a
// test's program is that of its package, with .test.
func updateCommand(t *testing.T) string {
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

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
