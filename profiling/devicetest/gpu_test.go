package devicetest_test

import (
	"testing"
	"testing/synctest"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
)

func TestConform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		devicetest.Conform(t, func(t *testing.T) profiling.Device {
			return devicetest.New(mig.MustLookup("A100"))
		})
	})
}
