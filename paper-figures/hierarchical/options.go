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
		f.Rows = append(f.Rows, division(o.name+"   "+s.String(), &s))
	}
	return figures.Drawing("figure2", f.Title, f.Title, f)
}

// division is the drawing of a setup.
func division(label string, s *corun.Setup) reports.Division {
	out := reports.Division{Label: label}
	for _, gi := range s.GIs {
		d := reports.Domain{Memory: gi.Memory}
		for _, ci := range gi.CIs {
			d.Instances = append(d.Instances, reports.ComputeInstance{MIG: ci.MIG, Compute: ci.Compute, Clients: ci.Shares})
		}
		out.Domains = append(out.Domains, d)
	}
	return out
}
