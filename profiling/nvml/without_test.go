//go:build !cgo || !linux

package nvml_test

import (
	"errors"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/nvml"
)

func TestWithoutCgoEverythingSaysHowToGetIt(t *testing.T) {
	_, open := nvml.Open(new(mig.Catalog), "")
	_, _, _, watch := nvml.WatchGPU("1")
	for _, err := range []error{open, watch} {
		var device *profiling.DeviceError
		if !errors.As(err, &device) {
			t.Fatalf("%#v is no *DeviceError", err)
		}
		if s := err.Error(); !strings.Contains(s, "without cgo") || !strings.Contains(s, "make build-nvml") || strings.Contains(s, "\n") {
			t.Errorf("%q does not say in one line what is missing and how to get it", s)
		}
	}
}
