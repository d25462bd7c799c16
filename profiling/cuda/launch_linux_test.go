//go:build cgo

package cuda

import (
	"strings"
	"testing"
)

// The C side copies the arguments into an array of 16. No GPU is needed to refuse a longer list.
func TestLaunchRefusesMoreThan16Arguments(t *testing.T) {
	err := new(queue).Launch("k", Dim{}, Dim{}, make([]uint64, 17)...)
	if err == nil || !strings.Contains(err.Error(), "launch k: 17 arguments; a kernel has at most 16") {
		t.Error(err)
	}
}
