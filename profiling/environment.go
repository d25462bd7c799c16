package profiling

import (
	"os"
	"slices"
	"strings"
)

// ChoosesGPU reports whether an environment variable decides on which part of which GPU
// a process runs. Only the instance may set such variables.
func ChoosesGPU(name string) bool {
	return name == "CUDA_VISIBLE_DEVICES" || strings.HasPrefix(name, "CUDA_MPS_")
}

// Environ returns this process's environment without the variables that choose a GPU.
func Environ() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return ChoosesGPU(name)
	})
}
