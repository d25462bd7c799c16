package site

import (
	"slices"

	"miglab/harness/track"
	"miglab/reports"
	"miglab/reports/leaderboard"
)

// homeView is the first page.
type homeView struct {
	Papers []Paper
	// Leads says who leads each track over its datasets.
	Leads reports.Table
	// Tabs are the pages of the tracks.
	Tabs []tab
	// Suite has the board of the suite first, if there is one.
	Suite []reports.Table
	// Try says that the site has try.html.
	Try bool
}

// leaders is how many algorithms of a track the first page shows.
const leaders = 3

// viewHome summarises the first board of each track on its usual GPU.
func viewHome(d *Data, tabs []tab) (v homeView, err error) {
	v.Papers, v.Tabs, v.Suite, v.Try = d.Papers, tabs, d.Suite, d.Try != nil
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
