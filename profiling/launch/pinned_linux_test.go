package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"miglab/profiling"
	"miglab/profiling/internal/system"
)

// allowed is a script that writes the processors it may run on into a file.
func allowed(file string) string {
	return "grep Cpus_allowed_list /proc/self/status >" + file + "\n"
}

func processors(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "Cpus_allowed_list:")
	return strings.Fields(after)[0]
}

// A pinned kernel has a processor of its own; another one may use all that this program may use.
func TestPinned(t *testing.T) {
	file := filepath.Join(t.TempDir(), "allowed")
	k := program(t, "k", allowed(file)+"echo ok\n")
	k.Time.Kind = Wall
	for _, pinned := range []bool{false, true} {
		k.Pinned = pinned
		free := system.Take(1)
		enough := len(free) == 1
		free.Free()
		if out, err := k.Run(t.Context(), profiling.Instance{}); err != nil || out.Status != OK {
			t.Fatalf("%+v, %v", out, err)
		}
		all, own := processors(t, "/proc/self/status"), processors(t, file)
		if one := !strings.ContainsAny(own, ",-"); one != (pinned && enough) && strings.ContainsAny(all, ",-") {
			t.Errorf("pinned %v: it may run on %s", pinned, own)
		}
	}
}

// Pinned kernels of a group have a processor each, or none has one if there are too few.
func TestPinnedGroup(t *testing.T) {
	for n := 1; n <= 2; n++ {
		dir := t.TempDir()
		free := system.Take(n)
		enough := len(free) == n
		free.Free()
		var jobs []Job
		for i := range n {
			k := program(t, fmt.Sprint(i), allowed(fmt.Sprint(dir, "/", i))+measures("1.0", "2.0", ""))
			k.Pinned = true
			jobs = append(jobs, Job{Kernel: k})
		}
		if out, err := Together(t.Context(), jobs, time.Second); err != nil || out[0].Status != OK {
			t.Fatalf("%+v, %v", out, err)
		}
		seen := map[string]bool{}
		for i := range n {
			own := processors(t, fmt.Sprint(dir, "/", i))
			if one := !strings.ContainsAny(own, ",-"); one != enough || one && seen[own] {
				t.Errorf("job %d of %d, with enough processors %v, may run on %s", i, n, enough, own)
			}
			seen[own] = true
		}
	}
}
