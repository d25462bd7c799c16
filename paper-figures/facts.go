package figures

import "miglab/paper-figures/manifest"

// The facts of a reproduction have the types of package manifest.
type (
	Manifest       = manifest.Manifest
	PaperRecord    = manifest.Paper
	Record         = manifest.Artefact
	Row            = manifest.Row
	ReadingSummary = manifest.ReadingSummary
	Conclusion     = manifest.Conclusion
	Dot            = manifest.Dot
	Test           = manifest.Test
	Term           = manifest.Term
	Table          = manifest.Table
	About          = manifest.About
	Figure         = manifest.Figure
)
