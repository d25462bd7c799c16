package launch

import (
	"embed"

	"miglab/harness/nearest"
)

//go:embed rodinia.yaml altis.yaml miglab.yaml
var manifests embed.FS

var shipped = []string{"rodinia", "altis", "miglab"}

// Shipped returns the kernels of a manifest that comes with the program: rodinia, altis or miglab. [Read]
// explains set. For another name the error is a [*nearest.UnknownError].
func Shipped(name string, set map[string]string) ([]Kernel, error) {
	f, err := manifests.Open(name + ".yaml")
	if err != nil {
		return nil, nearest.Unknown("manifest", name, shipped)
	}
	defer f.Close()
	return Read(f, name+".yaml", set)
}
