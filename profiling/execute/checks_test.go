package execute_test

import (
	"flag"
	"os"
	"strconv"
	"testing"

	"miglab/harness/deep"
)

// TestMain has rapid check each property on few values unless the tests are deep, and keeps journals in memory: each
// of their lines waits for the disk.
func TestMain(m *testing.M) {
	flag.Set("rapid.checks", strconv.Itoa(deep.N(20, 100)))
	if _, err := os.Stat("/dev/shm"); err == nil {
		os.Setenv("TMPDIR", "/dev/shm")
	}
	os.Exit(m.Run())
}
