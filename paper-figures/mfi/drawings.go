package mfi

import (
	"miglab/harness/mig"
	figures "miglab/paper-figures"
	"miglab/reports"
)

// drawn is an artefact that consists of one drawing of masks. The text of the paper describes
// Figs. 1 and 3 without their masks, so these are our examples.
func drawn(name, title string, rows []reports.MaskRow) figures.Artefact {
	return figures.Drawing(name, title, title, reports.Masks{Title: title, GPU: mig.MustLookup(gpu), Rows: rows})
}

// fragmentation shows how an arrival and a termination leave slices that 4g.40gb cannot
// use although there are enough.
func fragmentation() []reports.MaskRow {
	four := instance("4g.40gb", 0).Profile
	return []reports.MaskRow{
		{Label: "(a) before", Instances: []mig.Instance{instance("1g.10gb", 6)}},
		{Label: "(a) 1g.10gb arrives at 1", Instances: []mig.Instance{instance("1g.10gb", 1), instance("1g.10gb", 6)}, Rejected: four},
		{Label: "(b) before", Instances: []mig.Instance{instance("2g.20gb", 0), instance("2g.20gb", 2), instance("2g.20gb", 4), instance("1g.10gb", 6)}},
		{Label: "(b) two terminate", Instances: []mig.Instance{instance("2g.20gb", 2), instance("1g.10gb", 6)}, Rejected: four},
	}
}

// placements shows every placement of each profile: those of one profile are disjoint.
func placements() (rows []reports.MaskRow) {
	for _, p := range profiles() {
		r := reports.MaskRow{Label: p.String()}
		for _, s := range p.Starts {
			r.Instances = append(r.Instances, mig.Instance{Profile: p, Start: s})
		}
		rows = append(rows, r)
	}
	return rows
}

// rejections shows two GPUs for each of the two schemes of V-A: the one that the scheme
// chooses by free slices, which rejects the request, and one that has room for it.
func rejections() []reports.MaskRow {
	four := instance("4g.40gb", 0).Profile
	return []reports.MaskRow{
		{Label: "(a) GPU 1", Instances: []mig.Instance{instance("2g.20gb", 4)}},
		{Label: "(a) GPU 2, chosen", Instances: gpu2(), Rejected: four},
		{Label: "(b) GPU 1, chosen", Instances: []mig.Instance{instance("1g.10gb", 1)}, Rejected: four},
		{Label: "(b) GPU 2", Instances: []mig.Instance{instance("3g.40gb", 4)}},
	}
}
