package slurm

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestQueued(t *testing.T) {
	sent := fake(t, map[string]string{
		"squeue": `printf '12_3|RUNNING\n12_0|COMPLETED\n13_5|PENDING\n13_6|COMPLETING\n'`,
	})
	tasks, err := Queued(t.Context(), []string{"12", "13"})
	if err != nil || !slices.Equal(tasks, []int{3, 5}) {
		t.Errorf("%v, %v", tasks, err)
	}
	if sent()[0] != "squeue -h -r -t all -j 12,13 -o %i|%T" {
		t.Errorf("%q", sent())
	}
}

func TestQueueHasForgotten(t *testing.T) {
	sent := fake(t, map[string]string{"squeue": "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"})
	if got, err := Queued(t.Context(), []string{"12"}); err != nil || got != nil {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := Queued(t.Context(), nil); err != nil || got != nil || len(sent()) != 1 {
		t.Errorf("%v, %v: with no jobs there is nothing to ask", got, err)
	}
	fake(t, map[string]string{"squeue": "echo 'slurm_load_jobs error: Unable to contact slurm controller (connect failure)' >&2; exit 1"})
	if _, err := Queued(t.Context(), []string{"12"}); err == nil || !strings.Contains(err.Error(), "squeue: slurm_load_jobs error: Unable to contact") {
		t.Errorf("%v", err)
	}
}

func FuzzParseQueue(f *testing.F) {
	for _, s := range []string{"", "12_3|RUNNING\n", "1|A", "1_x|A", "1_2", "_|"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tasks, err := parseQueue(text)
		if err != nil && tasks != nil {
			t.Errorf("%q: %v beside %v", text, tasks, err)
		}
		for _, task := range tasks {
			if task < 0 || !strings.Contains(text, strconv.Itoa(task)) {
				t.Errorf("%q: task %d", text, task)
			}
		}
	})
}

func TestRequeue(t *testing.T) {
	show := func(state string, end time.Time) string {
		return "echo 'JobId=8 ArrayJobId=7 ArrayTaskId=3 JobName=x JobState=" + state + " Reason=None EndTime=" + end.Format("2006-01-02T15:04:05") + " Comment=JobState=FAILED'"
	}
	soon, later := time.Now().Add(50*time.Second), time.Now().Add(time.Hour)
	for _, test := range []struct {
		name, scontrol string
		array          bool
		again          bool
	}{
		{"at its time limit", show("RUNNING", soon), true, true},
		{"before Slurm knows that its signal has arrived", show("SIGNALING", soon), true, true},
		{"long before it", show("RUNNING", later), true, false},
		{"cancelled", show("CANCELLED", soon), true, false},
		{"being cancelled", show("COMPLETING", soon), true, false},
		{"no limit", "echo JobState=RUNNING EndTime=Unknown", true, false},
		{"no array", show("RUNNING", soon), false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, name := range []string{"SLURM_ARRAY_JOB_ID", "SLURM_ARRAY_TASK_ID"} {
				t.Setenv(name, "")
			}
			if test.array {
				t.Setenv("SLURM_ARRAY_JOB_ID", "7")
				t.Setenv("SLURM_ARRAY_TASK_ID", "3")
			}
			sent := fake(t, map[string]string{"scontrol": `case "$1" in show) ` + test.scontrol + " ;; esac"})
			again, err := Requeue(t.Context())
			if err != nil || again != test.again || slices.Contains(sent(), "scontrol requeue 7_3") != test.again {
				t.Errorf("%v, %v; sent %q", again, err, sent())
			}
		})
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
