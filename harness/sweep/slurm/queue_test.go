package slurm

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestQueue(t *testing.T) {
	sent := fake(t, map[string]string{
		"squeue": `printf '12_3|RUNNING\n12_0|COMPLETED\n13_5|PENDING\n14|PENDING\n13_6|COMPLETING\n'`,
	})
	states, err := Queue(t.Context(), "x")
	if err != nil || !maps.Equal(states, map[int]string{3: "RUNNING", 5: "PENDING"}) {
		t.Errorf("%v, %v", states, err)
	}
	if sent()[0] != "squeue -h -r -t all --name=x -o %i|%T" {
		t.Errorf("%q", sent())
	}
	for script, want := range map[string]string{
		"echo 'slurm_load_jobs error: Unable to contact slurm controller' >&2; exit 1": "slurm_load_jobs error: Unable to contact",
		"echo '12_x|RUNNING'": "squeue answers \"12_x|RUNNING\\n\"",
	} {
		fake(t, map[string]string{"squeue": script})
		if _, err := Queue(t.Context(), "x"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// A task of an array is requeued by the array's number and its own; what is no task is left alone.
func TestRequeue(t *testing.T) {
	for _, array := range []string{"7", ""} {
		t.Setenv("SLURM_ARRAY_JOB_ID", array)
		t.Setenv("SLURM_ARRAY_TASK_ID", "3")
		sent := fake(t, map[string]string{"scontrol": ""})
		again, err := Requeue(t.Context())
		if err != nil || again != (array != "") || slices.Equal(sent(), []string{"scontrol requeue 7_3"}) != again {
			t.Errorf("array %q: %v, %v; sent %q", array, again, err, sent())
		}
	}
}

func TestRunName(t *testing.T) {
	t.Setenv("SLURM_JOB_ID", "")
	t.Setenv("SLURM_RESTART_COUNT", "")
	if got := RunName(); got != "" {
		t.Errorf("%q", got)
	}
	t.Setenv("SLURM_JOB_ID", "8")
	if got := RunName(); got != "8-0" {
		t.Errorf("%q", got)
	}
	t.Setenv("SLURM_RESTART_COUNT", "2")
	if got := RunName(); got != "8-2" {
		t.Errorf("%q", got)
	}
}
