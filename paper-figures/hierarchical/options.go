package hierarchical

import (
	"miglab/harness/sim/corun"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// The MIG partitions of Figs. 2 and 4: instances of 3 and 4 GPCs. The eighth GPC is off.
const (
	sharedMemory  = "[{0.375}+{0.5},1m]"
	privateMemory = "[{0.375},0.5m]+[{0.5},0.5m]"
)

// options are the options of Fig. 2 in its order, each with an example.
var options = []struct{ name, setup string }{
	{"MPS Only", "[(0.3)+(0.7),1m]"},
	{"MIG Only, shared memory", sharedMemory},
	{"MIG Only, private memory", privateMemory},
	{"MIG+MPS, hierarchical", "[(0.3)+(0.7),{0.375},0.5m]+[(0.4)+(0.6),{0.5},0.5m]"},
}

func figure2() figures.Artefact {
	f := reports.Divisions{Title: "Fig. 2. Options to partition a GPU by MIG and MPS, an example of each"}
	for _, o := range options {
		s := corun.MustParse(o.setup)
		f.Rows = append(f.Rows, reports.Division{Label: o.name + "   " + s.String(), Setup: s})
	}
	return figures.Drawing("figure2", f.Title, f.Title, f)
}
