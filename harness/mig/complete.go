package mig

import (
	"cmp"
	"slices"
)

// Complete derives a model from Profiles: all profiles of a driver, whose starts and lengths count the driver's memory
// slices. A memory slice of the model is their greatest common divisor. Of each size, schedulers use the standard
// profile with the most instances; of several, the one with the usual engines. Profiles with double memory
// stay, and those with media extensions unless the usual profile lacks them; the others move to Others. The times to
// create and to destroy instances are assumed to be those of costs.
func (g *GPU) Complete(costs *GPU) {
	all := g.Profiles
	slices.SortStableFunc(all, func(a, b *Profile) int { return cmp.Compare(a.Size, b.Size) })
	unit, usual := commonDivisor(all), usualProfiles(all)
	g.Profiles = nil
	for _, p := range all {
		p.Length /= unit
		for i := range p.Starts {
			p.Starts[i] /= unit
		}
		p.limitStarts()
		p.Create, p.Destroy, g.CostSource = costs.CostsLike(p.Size)
		g.ComputeSlices, g.MemorySlices = max(g.ComputeSlices, p.Size), max(g.MemorySlices, p.Length)
		best := usual[p.Size]
		if p == best || p.DoubleMemory || p.MediaExtensions && (best == nil || best.Variant == "") {
			g.Profiles = append(g.Profiles, p)
		} else {
			g.Others = append(g.Others, p)
		}
	}
	if unit > 1 {
		g.DriverSlices = unit
	}
}

// commonDivisor returns the greatest common divisor of all starts and lengths, at least 1.
func commonDivisor(profiles []*Profile) Slices {
	divisor := Slices(0)
	for _, p := range profiles {
		for _, n := range append(slices.Clone(p.Starts), p.Length) {
			for n != 0 { // Euclid's algorithm
				divisor, n = n, divisor%n
			}
		}
	}
	return max(1, divisor)
}

// usualProfiles returns the profile of each size that schedulers use.
func usualProfiles(profiles []*Profile) map[Slices]*Profile {
	usual := map[Slices]*Profile{}
	for _, p := range profiles {
		best := usual[p.Size]
		if p.Standard() && (best == nil || p.Max > best.Max || p.Max == best.Max && p.Variant == "") {
			usual[p.Size] = p
		}
	}
	return usual
}

// limitStarts leaves out starts at which there could be more instances than the driver allows, since schedulers use all
// starts.
func (p *Profile) limitStarts() {
	if !p.Standard() && !p.DoubleMemory {
		return
	}
	end, room := Slices(0), 0
	for i, start := range p.Starts {
		if start < end {
			continue
		}
		if room++; room > p.Max {
			p.Starts = p.Starts[:i]
			return
		}
		end = start + p.Length
	}
}
