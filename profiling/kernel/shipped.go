package kernel

import (
	"embed"
	"slices"

	"miglab/harness/nearest"
)

//go:embed rodinia.yaml altis.yaml miglab.yaml
var manifests embed.FS

var shipped = []string{"rodinia", "altis", "miglab"}

// Shipped opens a manifest that comes with the program by its name: rodinia, altis
// or miglab. The error for others is a *nearest.UnknownError.
func Shipped(name string) (text []byte, err error) {
	if !slices.Contains(shipped, name) {
		return nil, nearest.Unknown("manifest", name, shipped)
	}
	return manifests.ReadFile(name + ".yaml")
}
