package main

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"miglab/harness/cli"
	"miglab/harness/run"
	"miglab/harness/store"
)

const (
	exitDone        = cli.ExitDone
	exitFailed      = cli.ExitFailed
	exitBadInput    = cli.ExitBadInput
	exitInterrupted = cli.ExitInterrupted
)

// TestMain puts this program on the PATH as miglab, so that tests run it in
// processes of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"miglab": main})
}

// TestScripts walks through the command line as users do.
// A panic fails the command, also that of a bound.
func TestPanicsAreCounted(t *testing.T) {
	failures := []run.Failure{{Kind: store.KindPanic, Cells: 4}, {Kind: run.KindInvalid, Cells: 2}}
	if panics, others := countCells(failures, true), countCells(failures, false); panics != 4 || others != 2 {
		t.Errorf("%d panics and %d other failures, want 4 and 2", panics, others)
	}
}

func TestScripts(t *testing.T) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", "script"),
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits":    scriptExits,
			"refuses":  scriptRefuses,
			"snapshot": scriptSnapshot,
			"same":     scriptSame,
			"falsify":  scriptFalsify,
			"sql":      scriptSQL,
		},
		Setup: func(env *testscript.Env) error {
			env.Values[snapshots{}] = map[string]tree{}
			env.Setenv("ROOT", absolute)
			env.Setenv("PYTHONPATH", filepath.Join(absolute, "algorithms/rl/python"))
			env.Setenv("PYTHONDONTWRITEBYTECODE", "1")
			program, err := exec.LookPath("miglab")
			env.Setenv("BIN", filepath.Dir(program))
			if python, err := interpreter(); err == nil {
				env.Setenv("PATH", filepath.Dir(python)+string(filepath.ListSeparator)+env.Getenv("PATH"))
			}
			return err
		},
		RequireUniqueNames: true,
	})
}

// interpreter returns the path of Python itself: what is on the PATH may be a version manager, which takes several
// times as long to start.
var interpreter = sync.OnceValues(func() (string, error) {
	path, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(path)), err
})

// scriptSQL is "sql FILE STATEMENT...": it changes a database of results.
func scriptSQL(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", "file:"+ts.MkAbs(args[0]))
	ts.Check(err)
	for _, statement := range args[1:] {
		_, err := db.Exec(statement)
		ts.Check(err)
	}
	ts.Check(db.Close())
}

// scriptFalsify is "falsify FILE ALGORITHM METRIC VALUE [INSTANCE]": the metric of all results of the algorithm, or of
// those of an instance, becomes the value. The algorithm "" is all, the metric microseconds the wall time, and with the
// metric kind they become errors of that kind. The metric version is the algorithm's version. With the metric omit the
// instances that VALUE lists are gone.
func scriptFalsify(ts *testscript.TestScript, _ bool, args []string) {
	db, err := store.Open(filepath.Dir(ts.MkAbs(args[0])))
	ts.Check(err)
	all, err := db.Series(store.Filter{Algorithm: args[1]})
	ts.Check(err)
	w, err := db.Writer(ts.MkAbs(args[0]))
	ts.Check(err)
	for _, s := range all {
		rows, err := db.Rows(s, 0, math.MaxInt)
		ts.Check(err)
		of := " WHERE series = (SELECT id FROM series WHERE algorithm = '" + s.Algorithm + "' AND dataset = '" + s.Dataset + "')"
		scriptSQL(ts, false, []string{args[0], "DELETE FROM cell" + of, "UPDATE series SET checksums = ''" + strings.Replace(of, "series", "id", 1)})
		if args[2] == "omit" {
			ts.Check(w.Append(s, slices.DeleteFunc(rows, func(r store.Row) bool {
				return slices.Contains(strings.Split(args[3], ","), fmt.Sprint(r.Instance))
			})...))
			continue
		}
		value, err := strconv.ParseFloat(args[3], 64)
		if args[2] == "version" {
			scriptSQL(ts, false, []string{args[0], "DELETE FROM series" + strings.Replace(of, "series", "id", 1), "UPDATE state SET series = series - 1"})
			s.Version = int(value)
			ts.Check(w.Append(s, rows...))
			continue
		}
		if args[2] != "kind" {
			ts.Check(err)
		}
		for i := range rows {
			if len(args) > 4 && fmt.Sprint(rows[i].Instance) != args[4] {
				continue
			}
			if args[2] == "kind" {
				rows[i] = store.Row{Instance: rows[i].Instance, Kind: args[3], Error: "an error of a test"}
				continue
			}
			if args[2] == "microseconds" {
				rows[i].Micros = value
				continue
			}
			metrics := map[string]float64{}
			for name, number := range rows[i].Metrics.All() {
				metrics[name], err = number.Float64()
				ts.Check(err)
			}
			metrics[args[2]] = value
			rows[i].Metrics = store.NewMetrics(metrics)
		}
		ts.Check(w.Append(s, rows...))
	}
	ts.Check(errors.Join(w.Close(), db.Close()))
}

// scriptExits is "exits CODE COMMAND...": the command ends with exactly the code.
func scriptExits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = failed.ExitCode()
	}
	if fmt.Sprint(code) != args[0] {
		ts.Fatalf("exit code %d, want %s; stderr: %s", code, args[0], ts.ReadFile("stderr"))
	}
}

// scriptRefuses is "refuses REGEXP COMMAND...": bad input. The command ends with
// exit code 2 and one line on standard error that matches; it prints nothing else
// and changes no file.
func scriptRefuses(ts *testscript.TestScript, _ bool, args []string) {
	before, err := readTree(ts.MkAbs("."))
	ts.Check(err)
	scriptExits(ts, false, append([]string{"2"}, args[1:]...))
	message, ended := strings.CutSuffix(ts.ReadFile("stderr"), "\n")
	if !ended || strings.Contains(message, "\n") || !regexp.MustCompile("^miglab: "+args[0]).MatchString(message) {
		ts.Fatalf("want one line that matches %q, got:\n%s", args[0], message)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("standard output: %s", out)
	}
	after, err := readTree(ts.MkAbs("."))
	ts.Check(err)
	if d := before.changes(after); len(d) > 0 {
		ts.Fatalf("changed %q", d)
	}
}

type snapshots struct{}

// scriptSnapshot is "snapshot DIR": it remembers the folder for "same DIR".
func scriptSnapshot(ts *testscript.TestScript, _ bool, args []string) {
	now, err := readTree(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Value(snapshots{}).(map[string]tree)[args[0]] = now
}

// scriptSame is "same DIR": no file of the folder was written since the snapshot,
// not even with the same content.
func scriptSame(ts *testscript.TestScript, _ bool, args []string) {
	now, err := readTree(ts.MkAbs(args[0]))
	ts.Check(err)
	if d := ts.Value(snapshots{}).(map[string]tree)[args[0]].changes(now); len(d) > 0 {
		ts.Fatalf("changed %q", d)
	}
}

// A tree says of a file, or of each path below a folder, when it was written, and its content.
type tree map[string]string

// readTree reads a folder; one that does not exist is empty.
func readTree(dir string) (tree, error) {
	t := tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case path == dir && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil || d.IsDir():
			t[path] = "a folder"
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(path)
		t[path] = fmt.Sprint(info.ModTime(), string(raw))
		return err
	})
	return t, err
}

// changes lists what differs in another state of the folder.
func (t tree) changes(now tree) (out []string) {
	all := maps.Clone(t)
	maps.Copy(all, now)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if t[path] != now[path] {
			out = append(out, path)
		}
	}
	return out
}
