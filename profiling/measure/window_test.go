package measure

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/launch"
)

// windowKernels are programs that say where they ran, and in which window.
func windowKernels(t *testing.T, uuid string, sms []int, windows []string) (all []launch.Kernel) {
	t.Helper()
	dir := t.TempDir()
	manifest := "version: 1\nsuite: s\ndefaults: {window: true, timeout: 1m, expect: {regexp: '(?m)^ok$', device: true}, workdir: " + dir + "}\nkernels:\n"
	for i, window := range windows {
		begin, end, _ := strings.Cut(window, " ")
		script := fmt.Sprintf("#!/bin/sh\necho 'sms: %d'\necho 'uuid: %s'\necho ready\nread line\necho iterations: 4\necho start_s: %s\necho end_s: %s\necho ok\n", sms[i], uuid, begin, end)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("k", i)), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		manifest += fmt.Sprintf("  - {name: k%d, argv: [./k%d]}\n", i, i)
	}
	all, err := launch.Read(strings.NewReader(manifest), "k.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const windowUUID = "5c89852c-d268-c3f3-1b07-005d5ae1dc3f"

// A rate counts only if the kernel ran on the GPU and on as many multiprocessors as asked, while the others ran.
func TestWindowElsewhereOrAloneIsWrong(t *testing.T) {
	for _, c := range []struct {
		uuid    string
		sms     int // of the second kernel; 66 are asked for
		windows []string
		wrong   int
		want    string // the detail of the job number wrong; empty if both count
	}{
		{windowUUID, 66, []string{"10.0 12.0", "10.0 12.0"}, 1, ""},
		{windowUUID, 68, []string{"10.0 12.0", "10.0 12.0"}, 1, "it ran on 68 multiprocessors, not on 66"},
		{windowUUID, 132, []string{"10.0 12.0", "10.0 12.0"}, 1, "it ran on 132 multiprocessors, not on 66"},
		{"00000000-d268-c3f3-1b07-005d5ae1dc3f", 66, []string{"10.0 12.0", "10.0 12.0"}, 1, "it ran on the device 00000000-"},
		{windowUUID, 66, []string{"10.0 12.0", "11.0 12.0"}, 0, "the others ran in only 50 % of its window"},
		{windowUUID, 66, []string{"10.0 12.0", "13.0 14.0"}, 1, "the others ran in only 0 % of its window"},
	} {
		all := windowKernels(t, c.uuid, []int{66, c.sms}, c.windows)
		on := profiling.Instance{Instance: mig.Instance{Profile: &mig.Profile{SMs: 66}}, UUID: "MIG-" + windowUUID}
		jobs := []launch.Job{{Kernel: &all[0], On: on}, {Kernel: &all[1], On: on}}
		rates, err := Real{}.Together(t.Context(), jobs, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		got := rates[c.wrong]
		if c.want == "" && (rates[0].Status != launch.OK || got.Status != launch.OK) || c.want != "" && (got.Status != launch.Wrong || !strings.HasPrefix(got.Detail, c.want)) {
			t.Errorf("%v on %d of %s: %+v, want %q", c.windows, c.sms, c.uuid, rates, c.want)
		}
	}
}

// A window overlaps as long as all run: from 3 to 11 of the window from 2 to 12.
func TestShareOfAWindow(t *testing.T) {
	jobs := []launch.Window{{Begin: 2, Finish: 12, Stopped: 20}, {Started: 3, Begin: 3, Finish: 10, Stopped: 11}}
	launch.Overlap(jobs)
	if first, second := jobs[0].Overlap, jobs[1].Overlap; first != 0.8 || second != 1 {
		t.Errorf("%v and %v, want 0.8 and 1", first, second)
	}
}
