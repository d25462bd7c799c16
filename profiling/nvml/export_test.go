//go:build cgo && linux

package nvml

// Names for tests.
var (
	Required  = required
	Gigabytes = gigabytes
)
