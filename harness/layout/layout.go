// Package layout answers whether instances fit side by side on a GPU, where, and in which order they can be created. It
// reads and writes the files in which other tools keep layouts: the YAML of mig-parted and Slurm's gres.conf.
//
// A layout may repeat profiles and leave slices free. As for the driver, instances are disjoint and begin at a start of
// their profile, and a GPU has at most [mig.Profile.Max] of a profile.
package layout

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
)

// A Plan is a layout that fits.
type Plan struct {
	// Instances are in an order in which they can be created.
	Instances []mig.Instance
	// AnyStart says that the profiles can be created in this order, whichever free starts the driver chooses. Otherwise
	// the starts must be given.
	AnyStart bool
}

// Fit returns a plan for instances of some profiles; false if they do not fit.
func Fit(g *mig.GPU, profiles []*mig.Profile) (Plan, bool) {
	if len(profiles) > int(g.MemorySlices) { // each takes a slice
		return Plan{}, false
	}
	left := count(profiles)
	if slices.ContainsFunc(left, func(k kind) bool { return k.number > k.profile.Max }) {
		return Plan{}, false
	}
	order := safeOrder(left, []mig.Mask{0}, map[string]bool{})
	safe := order != nil || len(profiles) == 0
	if !safe {
		order = slices.Clone(profiles)
		slices.SortStableFunc(order, func(a, b *mig.Profile) int { return cmp.Compare(len(a.Starts), len(b.Starts)) })
	}
	placed, ok := place(order, 0)
	return Plan{Instances: placed, AnyStart: safe}, ok
}

// A kind is a profile and a number of instances of it.
type kind struct {
	profile *mig.Profile
	number  int
}

// count returns the kinds of a list of profiles, those with the fewest starts first.
func count(profiles []*mig.Profile) (out []kind) {
	for _, p := range profiles {
		i := slices.IndexFunc(out, func(k kind) bool { return k.profile == p })
		if i < 0 {
			i, out = len(out), append(out, kind{profile: p})
		}
		out[i].number++
	}
	slices.SortStableFunc(out, func(a, b kind) int { return cmp.Compare(len(a.profile.Starts), len(b.profile.Starts)) })
	return out
}

// place gives profiles starts, in their order, on a GPU with occupied slices; false if they do not fit.
func place(profiles []*mig.Profile, occupied mig.Mask) ([]mig.Instance, bool) {
	if len(profiles) == 0 {
		return nil, true
	}
	for _, in := range free(profiles[0], occupied) {
		rest, ok := place(profiles[1:], occupied|in.Mask())
		if ok {
			return append([]mig.Instance{in}, rest...), true
		}
	}
	return nil, false
}

// free returns the instances of a profile that fit beside occupied slices.
func free(p *mig.Profile, occupied mig.Mask) (out []mig.Instance) {
	for _, start := range p.Starts {
		in := mig.Instance{Profile: p, Start: start}
		if in.Mask()&occupied == 0 {
			out = append(out, in)
		}
	}
	return out
}

// safeOrder returns an order in which the instances left can be created from each of the masks, whichever free starts
// the driver chooses. It returns nil if no order is safe, or if no instance is left. failed remembers the states
// without a safe order.
func safeOrder(left []kind, masks []mig.Mask, failed map[string]bool) []*mig.Profile {
	state := fmt.Sprint(masks)
	for _, k := range left {
		state += fmt.Sprint(" ", k.number)
	}
	if failed[state] {
		return nil
	}
	for i := range left {
		if left[i].number == 0 {
			continue
		}
		p, next, stuck := left[i].profile, []mig.Mask(nil), false
		for _, m := range masks {
			fits := free(p, m)
			stuck = stuck || len(fits) == 0
			for _, in := range fits {
				next = append(next, m|in.Mask())
			}
		}
		if stuck {
			continue
		}
		slices.Sort(next)
		rest := slices.Clone(left)
		rest[i].number--
		order := safeOrder(rest, slices.Compact(next), failed)
		if order != nil || !slices.ContainsFunc(rest, func(k kind) bool { return k.number > 0 }) {
			return append([]*mig.Profile{p}, order...)
		}
	}
	failed[state] = true
	return nil
}

// A Change replaces an instance of a layout that does not fit. A nil By leaves it out.
type Change struct{ Profile, By *mig.Profile }

// Mend returns the fewest changes after which a layout fits. It replaces an instance by the largest profile that fits
// and that is no larger than the instance's own.
func Mend(g *mig.GPU, profiles []*mig.Profile) []Change {
	var best []*mig.Profile // the largest list of instances that fit and stay unchanged
	for set := range 1 << min(len(profiles), maxMended) {
		var kept []*mig.Profile
		for i, p := range profiles {
			if set>>i&1 == 1 {
				kept = append(kept, p)
			}
		}
		if len(kept) > len(best) {
			_, ok := Fit(g, kept)
			if ok {
				best = kept
			}
		}
	}
	mended := slices.Clone(best)
	var out []Change
	for _, p := range profiles {
		i := slices.Index(best, p)
		if i >= 0 {
			best = slices.Delete(best, i, i+1)
			continue
		}
		change := Change{Profile: p}
		for _, by := range slices.Backward(g.Profiles) {
			if by.Size > p.Size || by.Length > p.Length || by.MediaExtensions != p.MediaExtensions {
				continue
			}
			_, ok := Fit(g, append(slices.Clone(mended), by))
			if ok {
				mended, change.By = append(mended, by), by
				break
			}
		}
		out = append(out, change)
	}
	return out
}

// maxMended bounds the search of [Mend], which leaves out or replaces every instance after the first maxMended.
const maxMended = 14

// Parse reads a list of profiles such as 3g,4g or 1g.10gb:4,3g.40gb. A profile is NVIDIA's name, or a size, which means
// the standard profile of the size. A colon and a number repeat the profile.
func Parse(g *mig.GPU, text string) (out []*mig.Profile, err error) {
	for _, part := range strings.Split(text, ",") {
		name, number, counted := strings.Cut(strings.TrimSpace(part), ":")
		n := 1
		if counted {
			if n, err = strconv.Atoi(number); err != nil || n < 1 || n > maxCount {
				return nil, fmt.Errorf("%q: write how many instances after the colon, from 1 to %d", part, maxCount)
			}
		}
		p, err := Profile(g, name)
		if err != nil {
			return nil, err
		}
		out = append(out, slices.Repeat([]*mig.Profile{p}, n)...)
	}
	return out, nil
}

// maxCount is the largest number of instances of a profile that a layout may name.
const maxCount = 1000

// Profile finds a profile by NVIDIA's name, or the standard profile of a size such as 3g. The error is a
// [*nearest.UnknownError].
func Profile(g *mig.GPU, name string) (*mig.Profile, error) {
	size, ok := strings.CutSuffix(name, "g")
	if ok {
		n, err := strconv.Atoi(size)
		if err == nil && g.Profile(mig.Slices(n)) != nil {
			return g.Profile(mig.Slices(n)), nil
		}
	}
	return g.ProfileByName(name)
}

// Command returns the command of nvidia-smi that creates the instances of a plan.
func (p Plan) Command(g *mig.GPU) string {
	var tuples []string
	for _, in := range p.Instances {
		tuple := strconv.Itoa(in.Profile.ID)
		if !p.AnyStart {
			tuple += fmt.Sprintf(":%d", in.Start*max(g.DriverSlices, 1))
		}
		tuples = append(tuples, tuple)
	}
	return "nvidia-smi mig -cgi " + strings.Join(tuples, ",") + " -C"
}

// Divide gives the instances of a node to its GPUs; false if they do not fit. It returns [ErrUndecided] if that takes
// too many steps, and an error for a profile that is not in [mig.GPU.Profiles], such as one with graphics.
func Divide(g *mig.GPU, profiles []*mig.Profile, gpus int) ([]Plan, bool, error) {
	kinds := count(profiles)
	wanted := func(p *mig.Profile) bool {
		return slices.ContainsFunc(kinds, func(k kind) bool { return k.profile == p })
	}
	for _, k := range kinds {
		if !slices.Contains(g.Profiles, k.profile) {
			return nil, false, fmt.Errorf("%v cannot be divided among GPUs; check the layout of each", k.profile)
		}
	}
	d := divider{kinds: kinds, failed: map[string]bool{}, slices: int(g.MemorySlices), tries: mostTries + gpus}
	for _, part := range g.PartitionsOf(wanted) {
		holds := make([]int, len(kinds))
		for _, in := range part {
			holds[slices.IndexFunc(kinds, func(k kind) bool { return k.profile == in.Profile })]++
		}
		d.parts = append(d.parts, holds)
	}
	slices.SortFunc(d.parts, slices.Compare)
	d.parts = slices.CompactFunc(d.parts, slices.Equal)
	left := make([]int, len(kinds))
	for i, k := range kinds {
		left[i] = k.number
	}
	shares, ok := d.divide(left, gpus)
	if !ok && d.tries == 0 {
		return nil, false, ErrUndecided
	}
	var out []Plan
	for _, share := range shares {
		var own []*mig.Profile
		for i, n := range share {
			own = append(own, slices.Repeat([]*mig.Profile{kinds[i].profile}, n)...)
		}
		plan, _ := Fit(g, own) // it fits: share is part of a partition
		out = append(out, plan)
	}
	return out, ok, nil
}

// mostTries bounds the steps of [Divide] after its first division.
const mostTries = 5_000

// ErrUndecided says that [Divide] found no division within its steps, and did not show that there is none.
var ErrUndecided = errors.New("no division among the GPUs was found in time, but there may be one")

// A divider divides instances among GPUs.
type divider struct {
	kinds []kind
	// parts are the partitions of a GPU, as numbers of instances by kind.
	parts [][]int
	// failed has the states in which divide fails.
	failed map[string]bool
	// slices is the number of memory slices of a GPU, and tries is the number of steps that may still be tried.
	slices, tries int
}

// byUse returns the parts with an instance of a kind, first those of which the instances left use the most slices.
func (d *divider) byUse(left []int, kind int) [][]int {
	parts := slices.DeleteFunc(slices.Clone(d.parts), func(part []int) bool { return part[kind] == 0 })
	use := func(part []int) (sum int) {
		for i, n := range part {
			sum += min(n, left[i]) * int(d.kinds[i].profile.Length+d.kinds[i].profile.Size)
		}
		return sum
	}
	slices.SortStableFunc(parts, func(x, y []int) int { return use(y) - use(x) })
	return parts
}

// divide returns the numbers of instances of each GPU by kind; false if the instances left do not fit on the GPUs.
func (d *divider) divide(left []int, gpus int) ([][]int, bool) {
	first := slices.IndexFunc(left, func(n int) bool { return n > 0 })
	state := fmt.Sprint(left, gpus)
	if first < 0 {
		return nil, true
	}
	length := 0
	for i, n := range left {
		length += n * int(d.kinds[i].profile.Length)
	}
	if length > gpus*d.slices || d.tries == 0 || d.failed[state] {
		return nil, false
	}
	d.tries--
	for _, holds := range d.byUse(left, first) {
		share, rest := make([]int, len(left)), slices.Clone(left)
		for i, n := range holds {
			share[i] = min(n, left[i])
			rest[i] -= share[i]
		}
		others, ok := d.divide(rest, gpus-1)
		if ok {
			return append([][]int{share}, others...), true
		}
	}
	d.failed[state] = true
	return nil, false
}
