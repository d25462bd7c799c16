//go:build linux

package profiling_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"miglab/datasets"
)

// A firstRun calls first-run.sh in a folder of its own.
type firstRun struct {
	t   *testing.T
	dir string
	env []string
	// took is the processor time of the last call with all its processes.
	took time.Duration
}

// run returns what the script prints, and its exit status.
func (f *firstRun) run(args ...string) (stdout, stderr string, code int) {
	f.t.Helper()
	c := exec.CommandContext(f.t.Context(), "bash", append([]string{"first-run.sh"}, args...)...)
	c.Env = append(os.Environ(), f.env...)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		f.t.Fatal(err)
	}
	f.took = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return out.String(), errs.String(), c.ProcessState.ExitCode()
}

// dryRun are the arguments of a dry run that has time enough on a machine with other work.
func (f *firstRun) dryRun() []string {
	return []string{"--dry-run", "--out", filepath.Join(f.dir, "out"), "--budget", "1200"}
}

// dry makes a dry run, which must end well.
func (f *firstRun) dry(args ...string) string {
	f.t.Helper()
	stdout, stderr, code := f.run(append(f.dryRun(), args...)...)
	if code != 0 || stderr != "" {
		f.t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	return stdout
}

// interrupted makes a dry run, interrupts it when something is so, and returns what it prints.
func (f *firstRun) interrupted(when func() bool) string {
	f.t.Helper()
	c := exec.Command("bash", append([]string{"first-run.sh"}, f.dryRun()...)...)
	c.Env = append(os.Environ(), f.env...)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		f.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for !when() { // until go test has no more patience
		select {
		case err := <-ended:
			f.t.Fatalf("it ended before it was interrupted: %v\n%s", err, &out)
		case <-time.After(10 * time.Millisecond):
		}
	}
	for waiting := true; waiting; {
		// As Ctrl-C does. Bash drops an interrupt if the command that it waits for, such as a short cat, ends without an error.
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGINT)
		select {
		case <-ended: // it was interrupted
			waiting = false
		case <-time.After(5 * time.Second):
		}
	}
	if code := c.ProcessState.ExitCode(); code != 130 {
		f.t.Errorf("interrupted: exit code %d\n%s", code, &out)
	}
	return out.String()
}

// card is the folder of the card, below --out, of dry runs and of the fake programs.
const card = "5c89852c-d268-c3f3-1b07-005d5ae1dc3f"

func (f *firstRun) read(name string) string {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

// builtIn is the folder of built, which TestMain removes.
var builtIn string

// built builds miglab with cgo, as the script needs it, for the first test that calls it.
var built = sync.OnceValues(func() (program string, err error) {
	if builtIn, err = os.MkdirTemp("", "miglab-"); err != nil {
		return "", err
	}
	program = filepath.Join(builtIn, "miglab")
	build := exec.Command("go", "build", "-o", program, "miglab/harness/cmd/miglab")
	build.Env = append(os.Environ(), "CGO_ENABLED=1", "CGO_CFLAGS=-O2 -g -Wno-deprecated-declarations")
	if out, err := build.CombinedOutput(); err != nil {
		return program, fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	_ = os.RemoveAll(builtIn)
	os.Exit(code)
}

// newFirstRun makes a folder to call the script in.
func newFirstRun(t *testing.T) *firstRun {
	t.Helper()
	if os.Getenv("MIGLAB_REQUIRE_CC") != "1" {
		t.Skip("takes C and C++ compilers and real time: make test-gpu runs it")
	}
	program, err := built()
	if err != nil {
		t.Fatal(err)
	}
	f := &firstRun{t: t, dir: t.TempDir(), env: []string{"MIGLAB=" + program}}
	f.copyStubs(compiled(), filepath.Join(f.dir, "out", "stub"))
	return f
}

// compiled is the folder for the stubs of TestFirstRunDry, from which later tests have them.
func compiled() string { return filepath.Join(builtIn, "stub") }

// copyStubs copies the stubs of the driver, if they are there and the others are not.
func (f *firstRun) copyStubs(from, to string) {
	f.t.Helper()
	if _, err := os.Stat(to); err == nil {
		return
	}
	if err := os.CopyFS(to, os.DirFS(from)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.t.Fatal(err)
	}
}

// stages are the steps.
var stages = strings.Fields("anchors drift environment pairs ptx-and-nvcc scaling scaling-again shared triples verify")

// TestFirstRunDry: on a machine without a GPU the script walks all stages in under a minute, for a board that the program's
// table lacks. Its archive becomes tables that say that they are made on a stub, and is refused as data.
func TestFirstRunDry(t *testing.T) {
	f := newFirstRun(t)
	f.env = append(f.env, "MIGLAB_EMULATED_NAME=NVIDIA H100 PCIe", "MIGLAB_EMULATED_SMS=114")
	began := time.Now()
	said := f.dry()
	if !strings.Contains(said, "114 multiprocessors") || !strings.Contains(said, "left: nothing\n") {
		t.Fatalf("not all is done:\n%s", said)
	}
	f.copyStubs(filepath.Join(f.dir, "out", "stub"), compiled())
	// Others may use the machine, so that the time on the clock does not count.
	t.Logf("%.0f s of the clock, %.0f s of processors", time.Since(began).Seconds(), f.took.Seconds())
	if f.took > time.Minute {
		t.Errorf("a dry run takes %v of processors, more than a minute", f.took)
	}
	unpacked := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", filepath.Join(f.dir, "out", card+".tar.gz"), "-C", unpacked).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range stages {
		if text, err := os.ReadFile(filepath.Join(unpacked, "done", name)); err != nil || string(text) != "done\n" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	hardware := filepath.Join(unpacked, "hardware")
	h, err := datasets.ReadHardware(os.DirFS(hardware))
	if err != nil {
		t.Fatal(err)
	}
	if len(h.Overlap) != 1 || h.Stub == "" || h.Overlap[0].GPU != "H100-PCIe-emulated-114SM" {
		t.Fatalf("measured: %+v", h)
	}
	groups := map[string]int{}
	runs := map[string]int{}
	for _, r := range h.Overlap[0].Rows {
		groups[r.Group]++
		runs[r.Group] = max(runs[r.Group], r.Run)
	}
	for group, want := range map[string]int{
		"bfs:8": 3, "stream:114": 3, // scaling
		"bfs:8 stream:106":             1, // a pair, if the drift has not drawn it
		"bfs:all stream:all":           1,
		"bfs:38 gaussian:38 stream:38": 1,
	} {
		if runs[group] < want {
			t.Errorf("the group %s ran %d times, want %d", group, runs[group], want)
		}
	}
	if len(groups) < 80 {
		t.Errorf("%d groups", len(groups))
	}
	if text, err := os.ReadFile(filepath.Join(unpacked, "ptx-and-nvcc.csv")); err != nil || strings.Count(string(text), ",0.000001\n") != 3 {
		t.Errorf("times of nvcc's code: %s, %v", text, err)
	}
	if state := f.read("out/stub/gpus.txt"); !strings.Contains(state, " 0 0\n") {
		t.Errorf("the MIG mode was changed: %s", state)
	}

	program := strings.TrimPrefix(f.env[0], "MIGLAB=")
	args := []string{"reproduce", "--hardware", hardware, "--only", "far/table1", "--results", filepath.Join(f.dir, "results")}
	out, err := exec.Command(program, args...).CombinedOutput()
	if err == nil || !strings.Contains(string(out), "was made on a stub, not on a GPU: it is no data") {
		t.Errorf("as data: %v\n%s", err, out)
	}
}

// TestFirstRunGoesOn: a call that is interrupted, or has no time, leaves the rest to the next one, which may be on another
// machine. Each call repeats the anchors.
func TestFirstRunGoesOn(t *testing.T) {
	t.Parallel()
	f := newFirstRun(t)
	out := filepath.Join(f.dir, "out", card)
	f.interrupted(func() bool {
		text, _ := os.ReadFile(filepath.Join(out, "overlap.csv")) // may not be there yet
		return strings.Count(string(text), "\n") >= 20
	})
	first := f.read("out/" + card + "/overlap.csv")
	if strings.Count(first, "\n") < 20 {
		t.Fatalf("interrupted too early:\n%s", first)
	}

	if err := os.RemoveAll(out); err != nil { // another machine has the archive
		t.Fatal(err)
	}
	said := f.dry("--budget", "29") // less than what steps are begun with
	if !strings.HasPrefix(said, "call 2 on "+card+": ") || !strings.Contains(said, "left: ") || !strings.Contains(said, " triples ") || !strings.HasSuffix(said, "; call again\n"+out+".tar.gz\n") {
		t.Errorf("a call without time says:\n%s", said)
	}
	said = f.interrupted(func() bool {
		_, err := os.Stat(filepath.Join(out, "done", "anchors"))
		return err == nil
	})
	if !strings.HasPrefix(said, "call 3 on "+card+": ") || strings.Contains(said, "environment  ") {
		t.Errorf("the third call says:\n%s", said)
	}
	last := f.read("out/" + card + "/overlap.csv")
	for row := range strings.Lines(first) {
		if !strings.Contains(last, row) {
			t.Errorf("a row of the first call is lost or was measured again: %s", row)
		}
	}
	h, err := datasets.ReadHardware(fstest.MapFS{"anchors.overlap.csv": {Data: []byte(f.read("out/" + card + "/anchors/overlap.csv"))}})
	if err != nil {
		t.Fatal(err)
	}
	if h.Overlap[0].GPU != "H100" {
		t.Errorf("measured on %s, want the table's H100", h.Overlap[0].GPU)
	}
	for _, anchor := range []string{"bfs:64", "bfs:132", "stream:64", "stream:132"} {
		if !slices.ContainsFunc(h.Overlap[0].Rows, func(r datasets.OverlapRate) bool { return r.Group == anchor && r.Run == 3 }) {
			t.Errorf("the third call did not repeat %s", anchor)
		}
	}
	// A GPU's measurements do not go where a stub's are.
	if _, stderr, code := f.run("--out", filepath.Join(f.dir, "out")); code != 2 || !strings.Contains(stderr, "has measurements of a stub; give another --out") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// program is a miglab with two kernels. What it measures takes a minute, or less if it is interrupted.
const program = `#!/bin/bash
case "$*" in
"kernel --help") printf 'Kernels:\n  bfs  searches\n  stream  copies\n,\n' ;;
"kernel stream --verify") if [ -n "$HANGS" ]; then exec sleep 60; fi; echo "sms: 132"; echo "uuid: ${CARD:-5c89852c-d268-c3f3-1b07-005d5ae1dc3f}" ;;
*/anchors*) if [ -n "$ANCHORS" ]; then exec sleep 60; fi ;;&
"profile corun "*" --splits all:all"*) if [ -n "$SHARED" ]; then echo "no streams" >&2; exit $SHARED; fi ;;&
"profile "*" --out "*) # one card in a folder
	all=$*
	folder=${all##*--out } of=${CARD:-one}
	folder=${folder%% *}
	mkdir -p "$folder"
	if [ "$(cat "$folder/of" 2>/dev/null || echo $of)" != $of ]; then echo "it has runs of another card" >&2; exit 2; fi
	echo $of >"$folder/of" ;;&
*) if [ -n "$QUICK" ]; then exit 0; fi; echo $$ >>"$OUT/runs"; exec sleep 60 ;;
esac
`

// A signal to the script alone ends what it runs; no question before the steps waits for ever; an archive that cannot be
// written is an error.
func TestFirstRunEnds(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	files(t, bin, map[string]string{"miglab": program})
	f := &firstRun{t: t, dir: dir, env: []string{"MIGLAB=" + filepath.Join(bin, "miglab"), "HANGS=1"}}
	began := time.Now()
	_, stderr, code := f.run("--out", filepath.Join(dir, "hangs"), "--budget", "1")
	if code != 2 || !strings.Contains(stderr, "no kernel runs here within 1 s") || time.Since(began) > 30*time.Second {
		t.Errorf("a kernel that hangs: exit code %d, %q after %v", code, stderr, time.Since(began))
	}
	out := filepath.Join(dir, "out")
	// A timeout that is interrupted before it knows its command ends without it.
	leaves := t.TempDir()
	files(t, leaves, map[string]string{"timeout": "#!/bin/bash\n[ \"$1\" = -s ] || { shift 3; exec \"$@\"; }\nshift 5\ntrap 'exit 130' INT\nenv --default-signal=INT \"$@\" &\nwait\n"})
	var errs strings.Builder
	c := exec.Command("bash", "first-run.sh", "--out", out)
	c.Env = append(os.Environ(), f.env[0], "HANGS=", "PATH="+leaves+":"+os.Getenv("PATH"))
	c.Stderr = &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(out, card, "runs")); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	began = time.Now()
	if err := c.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // it was interrupted
	if code := c.ProcessState.ExitCode(); code != 130 || time.Since(began) > 40*time.Second {
		t.Errorf("SIGTERM to the script alone: exit code %d after %v", code, time.Since(began))
	}
	if errs.String() != "first-run: interrupted; the same command goes on\n" {
		t.Errorf("interrupted, it says %q", errs.String())
	}
	runs, err := os.ReadFile(filepath.Join(out, card, "runs"))
	if err != nil {
		t.Fatal(err)
	}
	for _, process := range strings.Fields(string(runs)) {
		if command, _ := os.ReadFile("/proc/" + process + "/cmdline"); len(command) > 0 {
			t.Errorf("after the script has ended, %q runs", command)
		}
	}
	if _, err := os.Stat(filepath.Join(out, card+".tar.gz")); err != nil {
		t.Error(err)
	}
	files(t, bin, map[string]string{"tar": "#!/bin/sh\nexit 2\n"})
	f.env = []string{f.env[0], "HANGS=", "QUICK=1", "PATH=" + bin + ":" + os.Getenv("PATH")}
	_, stderr, code = f.run("--out", filepath.Join(dir, "full"), "--budget", "26")
	if code != 1 || !strings.Contains(stderr, card+".tar.gz; what was measured is in ") {
		t.Errorf("an archive that cannot be written: exit code %d, %q", code, stderr)
	}
}

// fake is a firstRun of the program above, which measures in no time.
func fake(t *testing.T, env ...string) *firstRun {
	bin := t.TempDir()
	files(t, bin, map[string]string{"miglab": program, "nvcc": "#!/bin/sh\nexit 0\n"})
	return &firstRun{t: t, dir: t.TempDir(), env: append(env, "MIGLAB="+filepath.Join(bin, "miglab"), "HANGS=", "QUICK=1", "PATH="+bin+":"+os.Getenv("PATH"))}
}

// Each card has a folder of its own, since a folder with results takes one card.
func TestFirstRunOnASecondCard(t *testing.T) {
	const second = "11111111-d268-c3f3-1b07-005d5ae1dc3f"
	f := fake(t)
	for _, on := range []string{card, second, card} {
		f.env = append(f.env, "CARD="+on)
		stdout, _, _ := f.run("--out", f.dir)
		if strings.Contains(stdout, "another card") || !strings.Contains(stdout, "call ") || !strings.Contains(stdout, "\n"+filepath.Join(f.dir, on)+".tar.gz\n") {
			t.Errorf("on %s:\n%s", on, stdout)
		}
		if text := f.read(on + "/of"); text != on+"\n" {
			t.Errorf("the folder of %s has runs of %s", on, text)
		}
	}
	if calls := f.read(card + "/calls"); strings.Count(calls, ".") != 2 {
		t.Errorf("calls on the first card: %q", calls)
	}
}

// A step that fails is left, and the next call tries it again. One without its tool is skipped, and no failure.
func TestFirstRunLeavesWhatFails(t *testing.T) {
	f := fake(t, "SHARED=2")
	stdout, _, code := f.run("--out", f.dir)
	if code != 1 || !strings.Contains(stdout, "left: shared: about 30 s; call again\n") || !strings.Contains(stdout, "\nfailed: no streams\n") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
	f.env = append(f.env, "SHARED=1")
	if stdout, _, code = f.run("--out", f.dir); code != 1 || !strings.Contains(stdout, "left: nothing, but parts of these failed: ptx-and-nvcc shared \n") {
		t.Errorf("exit code %d\n%s", code, stdout)
	}
}

// What each call repeats may hang, and leaves the rest of the call to the others.
func TestFirstRunAnchorsHang(t *testing.T) {
	f := fake(t, "ANCHORS=1")
	began := time.Now()
	stdout, _, _ := f.run("--out", f.dir, "--budget", "120")
	if took := time.Since(began); took > 50*time.Second || !strings.Contains(stdout, "left: anchors: ") || !strings.Contains(stdout, " scaling-again ") {
		t.Errorf("after %v:\n%s", took, stdout)
	}
}

// A program without cgo cannot load the driver. The script builds another one beside it, if there is Go.
func TestFirstRunBuildsForTheDriver(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip(err)
	}
	const withoutCgo = "#!/bin/bash\n" + `if [ "$*" != "kernel stream --verify" ]; then exec "$WORKS" "$@"; fi` +
		"\necho 'miglab: load libcuda.so.1: this program was built without cgo or not for Linux' >&2; exit 1\n"
	// The C compiler is only needed for the stubs, which the programs here do not load. Go builds what works.
	const builds = "#!/bin/bash\n" + `[ "$1" = build ] || exit` + "\n" + `echo "$CGO_ENABLED $*" >>"$CALLS"` + "\n" + `for a; do [ "$before" != -o ] || install -m 755 "$WORKS" "$a"; before=$a; done` + "\n"
	dir, bin := t.TempDir(), t.TempDir()
	files(t, bin, map[string]string{"miglab": withoutCgo, "works": program, "go": builds, "g++": "#!/bin/sh\n", "cc": "#!/bin/sh\n", "git": "#!/bin/sh\n"})
	calls, built := filepath.Join(dir, "calls"), filepath.Join(dir, "out", "miglab")
	f := &firstRun{t: t, dir: dir, env: []string{
		"MIGLAB=" + filepath.Join(bin, "miglab"), "WORKS=" + filepath.Join(bin, "works"), "CALLS=" + calls, "QUICK=1", "HANGS=",
		"PATH=" + bin + ":" + os.Getenv("PATH"),
	}}
	stdout, stderr, code := f.run("--dry-run", "--out", filepath.Join(dir, "out"))
	// Some steps fail, as the program measures nothing.
	if code == 2 || stderr != "" || !strings.Contains(stdout, "call 1 on "+card+": 132 multiprocessors") || !strings.Contains(stdout, "\nleft: nothing") {
		t.Errorf("exit code %d, %q\n%s", code, stderr, stdout)
	}
	if !strings.Contains(stdout, "miglab was built without cgo, which the driver needs: building "+built+"\n") {
		t.Errorf("the script does not say what it builds:\n%s", stdout)
	}
	if text, err := os.ReadFile(calls); err != nil || !strings.Contains(string(text), "1 build -buildvcs=false -o "+built+" ") {
		t.Errorf("Go is asked to %q, %v", text, err)
	}
}

// Without the names of the kernels, none would be verified.
func TestFirstRunKnowsTheKernels(t *testing.T) {
	bin, dir := t.TempDir(), t.TempDir()
	files(t, bin, map[string]string{"miglab": strings.Replace(program, `"kernel --help")`, "\"kernel --help\") exit 1 ;;\nnone)", 1)})
	f := &firstRun{t: t, dir: dir, env: []string{"MIGLAB=" + filepath.Join(bin, "miglab"), "QUICK=1", "HANGS="}}
	_, stderr, code := f.run("--out", filepath.Join(dir, "out"))
	if code != 2 || !strings.Contains(stderr, "kernel --help lists no kernels within 60 s") {
		t.Errorf("exit code %d, %q", code, stderr)
	}
}

// What is missing is said in one line, before anything runs.
func TestFirstRunCannotStart(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	empty := t.TempDir()
	for _, tool := range []string{"bash", "dirname"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			t.Skip(err)
		}
		if err := os.Symlink(path, filepath.Join(empty, tool)); err != nil {
			t.Fatal(err)
		}
	}
	f := &firstRun{t: t, dir: t.TempDir(), env: []string{"PATH=" + empty, "MIGLAB=" + filepath.Join(empty, "miglab")}}
	for says, args := range map[string][]string{
		"and there is no Go to build it; run make build-gpu elsewhere":      {"--dry-run"},
		"first-run: --budget 8m: write a number of seconds\n":               {"--budget", "8m"},
		"first-run: --name a/b: use letters, digits, - and _\n":             {"--name", "a/b"},
		"first-run: --out needs a value\n":                                  {"--out"},
		"first-run: unknown argument --dryrun; see the head of this file\n": {"--dryrun"},
	} {
		stdout, stderr, code := f.run(args...)
		if code != 2 || stdout != "" || !strings.Contains(stderr, says) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%q: exit code %d, %q, want one line with %q\n%s", args, code, stderr, says, stdout)
		}
	}
}
