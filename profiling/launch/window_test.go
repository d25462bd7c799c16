package launch

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// program writes a shell script and returns a kernel that runs it.
func program(t *testing.T, name, script string) *Kernel {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return &Kernel{Name: name, Argv: []string{path, "--iterations", "7"}, Timeout: time.Minute, Window: true, Expect: regexp.MustCompile("(?m)^ok$")}
}

// measures is a script whose window is from one instant to another.
func measures(begin, end, stop string) string {
	script := "echo $* >&2; echo ready; read line || exit 3; echo iterations: 4; echo start_s: " + begin + "; echo end_s: " + end + "; "
	if stop != "" {
		script += "cat; echo stop_s: " + stop + "; "
	}
	return script + "echo ok\n"
}

// The rate is of the window; what overlaps is what all ran in.
func TestTogether(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want [2]float64
	}{
		{measures("10.0", "12.0", ""), measures("11.0", "12.5", ""), [2]float64{0.5, 2. / 3}},
		{measures("10.0", "12.0", ""), measures("13.0", "14.0", ""), [2]float64{0, 0}},
		{measures("10.0", "12.0", "13.1"), measures("11.0", "13.0", "13.2"), [2]float64{1, 1}}, // both run before and after their windows
	} {
		got, err := Together(t.Context(), []Job{{Kernel: program(t, "a", c.a)}, {Kernel: program(t, "b", c.b)}}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range got {
			if w.Status != OK || w.Iterations != 4 || float64(w.Seconds) != (w.Finish-w.Begin).Seconds()/4 || w.Overlap < c.want[i]-1e-6 || w.Overlap > c.want[i]+1e-6 {
				t.Errorf("%s: %+v, want overlap %v", c.a, w, c.want[i])
			}
		}
	}
}

// Nobody begins before all are ready.
func TestTogetherWaitsForAll(t *testing.T) {
	dir := t.TempDir()
	late := "sleep 0.3; touch " + dir + "/late; " + measures("1.0", "2.0", "")
	early := strings.Replace(measures("1.0", "2.0", ""), "read line || exit 3;", "read line || exit 3; [ -f "+dir+"/late ] || exit 4;", 1)
	got, err := Together(t.Context(), []Job{{Kernel: program(t, "early", early)}, {Kernel: program(t, "late", late)}}, time.Second)
	if err != nil || got[0].Status != OK || got[1].Status != OK {
		t.Errorf("%+v, %v", got, err)
	}
}

// What a kernel is told, and how a window can fail.
func TestTogetherFails(t *testing.T) {
	good := measures("1.0", "2.0", "2.0")
	for script, want := range map[string]string{
		"echo no; exit 9\n":                "exit status 9; the output ends with: no",
		"echo ready; read line; echo ok\n": "the output has no rate",
		"echo ready; read line; echo iterations: 4; echo start_s: 2.0; echo end_s: 2.0; echo ok\n": "the output has no rate",
		"echo CUDA: out of memory; exit 1\n": "out of memory",
		"echo ready; read line; echo oops\n": "does not match",
	} {
		got, err := Together(t.Context(), []Job{{Kernel: program(t, "good", good)}, {Kernel: program(t, "bad", script)}}, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if got[1].Status == OK || !strings.Contains(got[1].Detail, want) {
			t.Errorf("%q: %+v, want %q", script, got[1], want)
		}
		if got[0].Status == Crash && got[0].Detail != "killed: another kernel of the group failed" {
			t.Errorf("%q: the other one: %+v", script, got[0])
		}
	}
	hangs := program(t, "hangs", "sleep 60\n")
	for _, limit := range []time.Duration{50 * time.Millisecond, 1} { // the second is over before a program can start
		hangs.Timeout = limit
		if got, err := Together(t.Context(), []Job{{Kernel: hangs}}, time.Second); err != nil || got[0].Status != Timeout {
			t.Errorf("%v: %+v, %v", limit, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Together(ctx, []Job{{Kernel: program(t, "good", good)}}, time.Second); err == nil {
		t.Error("no error although the context has ended")
	}
	j := Job{Kernel: program(t, "p", good)}
	if got, want := strings.Join(j.windowArgv(1500 * time.Millisecond)[1:], " "), "--milliseconds 1500"; got != want {
		t.Errorf("arguments %q, want %q", got, want)
	}
}
