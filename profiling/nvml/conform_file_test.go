//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package nvml_test

import (
	"path/filepath"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
)

func TestFakeInAFileConforms(t *testing.T) {
	conform(t, func(t *testing.T) profiling.Device {
		d, err := devicetest.Open(filepath.Join(t.TempDir(), "gpu"), mig.MustLookup("A100"), devicetest.Scale(0))
		if err != nil {
			t.Fatal(err)
		}
		return d
	})
}
