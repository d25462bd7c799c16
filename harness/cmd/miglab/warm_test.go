//go:build cgo && linux

package main

import (
	"bufio"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A kernel warms up in its process, before the timed iterations and before it says that it is ready:
// an idle GPU has low clocks. It says where it runs.
func TestGPUKernelsWarmUp(t *testing.T) {
	p := partitioner{t, t.TempDir(), cudaStub(t)}
	const warmUp = 400 * time.Millisecond
	args := []string{"kernel", "stream", "--size", "100", "--warm-up", "400"}
	start := time.Now()
	code, output := p.run(append(args, "--iterations", "1")...)
	took := time.Since(start)
	m := regexp.MustCompile(`(?m)^time_s: (.*)$`).FindStringSubmatch(output)
	if code != 0 || m == nil {
		t.Fatalf("exit code %d\n%s", code, output)
	}
	if s, err := strconv.ParseFloat(m[1], 64); err != nil || s >= warmUp.Seconds() || took < warmUp {
		t.Errorf("the iterations took %s s and the process %v; the warm-up takes %v of the latter", m[1], took, warmUp)
	}
	for _, fact := range []string{"device: NVIDIA H200 emulated\n", "sms: 132\n", "device_mib: 143771\n", "l2_bytes: ", "uuid: 00000000-0000-0000-0000-000000000000\n"} {
		if !strings.Contains(output, fact) {
			t.Errorf("it does not say %q:\n%s", fact, output)
		}
	}

	c := exec.CommandContext(t.Context(), "miglab", append(args, "--milliseconds", "5")...)
	c.Dir, c.Env = p.dir, p.env
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	start = time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() == "ready" {
			if took := time.Since(start); took < warmUp {
				t.Errorf("ready after %v, without the warm-up of %v", took, warmUp)
			}
			if _, err := in.Write([]byte("go\n")); err != nil {
				t.Fatal(err)
			}
			in.Close()
		}
	}
	if err := c.Wait(); err != nil {
		t.Error(err)
	}
}
