package site

import (
	"slices"

	"miglab/harness/track"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

// homeView is the first page.
type homeView struct {
	*Data
	// Leads says who leads each track over its datasets.
	Leads reports.Table
	// Tabs are the pages of the tracks, and Missing names the tracks without one.
	Tabs    []tab
	Missing []string
}

// leaders is how many algorithms of a track the first page shows.
const leaders = 3

// viewHome summarises the first board of each track on its usual GPU.
func viewHome(d *Data, tabs []tab) (v homeView, err error) {
	v.Data, v.Tabs = d, tabs
	for _, t := range track.All() {
		if len(t.Contests) > 0 && !slices.ContainsFunc(tabs, func(own tab) bool { return own.Track == t.Name }) {
			v.Missing = append(v.Missing, t.Name)
		}
	}
	var all [][]leaderboard.Standing
	for _, t := range tabs {
		usual := func(b Board) bool { return b.Track == t.Track && b.GPU == track.MustLookup(t.Track).GPU }
		i := slices.IndexFunc(d.Boards, usual)
		if i >= 0 && len(d.Boards[i].Standings) > 0 {
			all = append(all, d.Boards[i].Standings)
		}
	}
	v.Leads, err = leaderboard.Summary(all, leaders)
	return v, err
}
