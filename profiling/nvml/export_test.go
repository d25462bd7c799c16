//go:build cgo && linux

package nvml

import (
	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/profiling"
)

// Names for tests.
var (
	Required  = required
	Gigabytes = gigabytes
)

// OpenWith opens a GPU of a library that is loaded already.
func OpenWith(lib nvml.Interface, selector string) (profiling.Device, error) {
	d, err := open(lib, selector)
	if err != nil {
		return nil, err
	}
	return d, nil
}
