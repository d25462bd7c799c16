//go:build cgo && linux

package main

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A kernel warms up in its process before the timed iterations: an idle GPU has low clocks. It says where it runs.
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
}
