//go:build cgo && linux

package nvml

import "github.com/NVIDIA/go-nvml/pkg/nvml"

// Names for tests.
var (
	Gigabytes = gigabytes
	Whole     = wholeProfile
)

// Enumerate is enumerate of numbers.
func Enumerate(ask func(int) (int, nvml.Return)) ([]int, error) { return enumerate("list", ask) }
