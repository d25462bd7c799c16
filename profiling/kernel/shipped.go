package kernel

import (
	"embed"
	"slices"

	"miglab/harness/nearest"
)

//go:embed rodinia.yaml altis.yaml miglab.yaml
var manifests embed.FS

var shipped = []string{"rodinia", "altis", "miglab"}

// Shipped returns a manifest that comes with the program: rodinia, altis or miglab. For
// another name the error is a [*nearest.UnknownError].
func Shipped(name string) (text []byte, err error) {
	if !slices.Contains(shipped, name) {
		return nil, nearest.Unknown("manifest", name, shipped)
	}
	return manifests.ReadFile(name + ".yaml")
}
