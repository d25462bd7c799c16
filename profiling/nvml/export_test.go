//go:build cgo && linux

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/harness/mig"
	"miglab/profiling"
)

// Names for tests.
var (
	Gigabytes = gigabytes
	Whole     = wholeProfile
)

// SetModel has a device take another model for the last one that it read.
func SetModel(d profiling.Device, g *mig.GPU) { d.(*device).model.Store(g) }

// Enumerate is enumerate of numbers.
func Enumerate(ask func(int) (int, nvml.Return)) ([]int, error) { return enumerate("list", ask) }
