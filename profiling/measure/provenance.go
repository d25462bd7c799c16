package measure

import (
	"miglab/datasets"
	"miglab/profiling"
)

// Provenance says where something is measured, and that it is today.
func Provenance(id profiling.Identity) datasets.Provenance { return provenance(id) }
