package leaderboard

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"miglab/harness/algo"
	"miglab/reports"
)

// Remark says in words what the standings on one dataset mean for the algorithms of this project
// ("ours" in their citation): whether one of them is first or shares the first place, and if not,
// which published one is, by how much, and what that goes with. It also says how far the first
// and the last are apart, and if some instances have no bound. Everything is computed from the
// standings. Only boards with a metric aside are compared in this way; others have a remark about
// bounds at most.
func Remark(standings []reports.Standing) string {
	var said []string
	if bounded := reports.BoundedInstances(standings[0]); bounded != "" {
		said = append(said, "There is a "+bounded+"; the others do not count.")
	}
	var valid, own []reports.Standing
	for _, s := range standings {
		if s.Rank > 0 && s.Failed == 0 {
			valid = append(valid, s)
			if isOurs(s.Algorithm) {
				own = append(own, s)
			}
		}
	}
	if len(valid) < 2 || valid[0].AsideName == "" || valid[0].Instances < 2 {
		return strings.Join(said, " ")
	}
	first, last := valid[0], valid[len(valid)-1]
	said = append(said, fmt.Sprintf("From the first to the last of %d algorithms, %s.", len(valid), differ(first, last)))
	if len(own) > 0 {
		said = append(said, besideFirst(valid, own[0])...)
	}
	return strings.Join(said, " ")
}

// besideFirst compares the best algorithm of ours with the first.
func besideFirst(valid []reports.Standing, best reports.Standing) []string {
	first := valid[0]
	switch {
	case best.Algorithm == first.Algorithm && valid[1].Rank > 1:
		return []string{fmt.Sprintf("%s, which is ours, is first.", best.Algorithm)}
	case best.Algorithm == first.Algorithm:
		return []string{fmt.Sprintf("%s, which is ours, shares the first place.", best.Algorithm)}
	case best.Rank == 1:
		return []string{fmt.Sprintf("%s, which is ours, shares the first place with %s; %s.",
			best.Algorithm, first.Algorithm, differ(first, best))}
	}
	winner := first.Algorithm + " wins"
	if valid[1].Rank == 1 {
		winner = fmt.Sprintf("%s is the first of several that share the first place", first.Algorithm)
	}
	out := fmt.Sprintf("None of ours is among the first: %s. The best of ours, %s, has rank %d; %s", winner, best.Algorithm, best.Rank, differ(first, best))
	if !math.IsNaN(best.PHolm) {
		out += fmt.Sprintf(" (p = %.2g, Wilcoxon and Holm)", best.PHolm)
	}
	return append([]string{out + "."}, goesWith(first, best)...)
}

// goesWith says what a published algorithm is and how the metric aside differs.
func goesWith(first, best reports.Standing) []string {
	var out []string
	if a, err := algo.Parse(first.Algorithm); err == nil {
		out = append(out, fmt.Sprintf("%s: %s (%s).", first.Algorithm, a.Spec.Summary, a.Spec.Cite))
	}
	if math.IsNaN(first.Aside) || math.IsNaN(best.Aside) {
		return out
	}
	name, values := strings.ReplaceAll(first.AsideName, "_", " "), fmt.Sprintf("%.3f against %.3f", first.Aside, best.Aside)
	if math.Abs(first.Aside-best.Aside) < 0.01*best.Aside {
		return append(out, fmt.Sprintf("Its %s is nearly the same, %s, so that this does not explain the difference.", name, values))
	}
	if first.Aside < best.Aside {
		return append(out, fmt.Sprintf("Its %s is lower, %s, which goes with the difference but does not prove that it is the cause.", name, values))
	}
	return append(out, fmt.Sprintf("Its %s is higher, %s, so that this does not explain the difference.", name, values))
}

// isOurs reports whether an algorithm is of this project and not published elsewhere.
func isOurs(id string) bool {
	a, err := algo.Parse(id)
	return err == nil && strings.HasPrefix(a.Spec.Cite, "ours")
}

// differ words the difference of two means of a share, in percentage points.
func differ(a, b reports.Standing) string {
	switch d := math.Abs(a.Value.Mean-b.Value.Mean) * 100; {
	case d == 0:
		return "the means are the same"
	case d < 0.005:
		return "the means differ by less than 0.01 points"
	default:
		return fmt.Sprintf("the means differ by %.2f points", d)
	}
}

// Remarks returns the remark on each dataset that has one. The standings of a dataset follow each
// other.
func Remarks(standings []reports.Standing) map[string]string {
	out := map[string]string{}
	for from := 0; from < len(standings); {
		dataset := standings[from].Dataset
		n := slices.IndexFunc(standings[from:], func(s reports.Standing) bool { return s.Dataset != dataset })
		if n < 0 {
			n = len(standings) - from
		}
		if remark := Remark(standings[from : from+n]); remark != "" {
			out[dataset] = remark
		}
		from += n
	}
	return out
}
