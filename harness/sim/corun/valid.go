package corun

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"miglab/harness/mig"
)

// gpcs is the number of GPCs of a whole GPU with MIG off. Compute shares are multiples of 1/gpcs.
const gpcs = 8

// slack is the amount by which sums of shares may exceed 1: tenths and hundredths are not exact in binary.
const slack = 1e-9

// geometry has the profiles and starts of every model with seven compute slices of one GPC each.
var geometry = mig.MustLookup("A100")

// Validate returns an error unless MIG can create s: the instances exist and fit side by side,
// shares are positive and add up to at most 1, and there are at most [MaxSlots] jobs.
func (s Setup) Validate() error {
	if len(s.GIs) == 0 {
		return errors.New("the setup is empty; the whole GPU is one GPU instance")
	}
	var profiles []*mig.Profile
	for g := range s.GIs {
		p, err := s.GIs[g].check()
		switch {
		case err != nil:
		case p == nil && len(s.GIs) > 1:
			err = errors.New("a GPU that MIG does not divide is one instance; compute instances stand in braces")
		case p != nil:
			profiles = append(profiles, p)
			if !fitBeside(profiles, 0) {
				err = fmt.Errorf("MIG has no room for %v side by side", profiles)
			}
		}
		if err != nil {
			return fmt.Errorf("GPU instance %d of %s: %w", g+1, s, err)
		}
	}
	n := s.Slots()
	if n > MaxSlots {
		return fmt.Errorf("%s: %d jobs would run at the same time; the model takes up to %d", s, n, MaxSlots)
	}
	return nil
}

var errNothingRuns = errors.New("nothing runs in the instance; clients stand in (), compute instances in {}")

// check returns the profile of a valid GPU instance; nil for a whole GPU that MIG does not divide.
func (gi *GI) check() (*mig.Profile, error) {
	if len(gi.CIs) == 0 {
		return nil, errNothingRuns
	}
	if !(gi.Memory > 0 && gi.Memory <= 1) {
		return nil, shareError(gi.Memory)
	}
	for i := range gi.CIs {
		ci := &gi.CIs[i]
		if err := ci.check(); err != nil {
			return nil, err
		}
		switch {
		case ci.MIG:
		case len(gi.CIs) > 1:
			return nil, errors.New("clients outside compute instances do not go beside compute instances")
		case ci.Compute != 1 || gi.Memory != 1:
			return nil, errors.New("a GPU that MIG does not divide has all multiprocessors and all memory, 1m")
		case ci.clients() == 0:
			return nil, errNothingRuns
		}
	}
	if !gi.CIs[0].MIG {
		return nil, nil
	}
	return gi.profile()
}

// check returns an error unless the compute instance exists and its clients' shares are positive and at most 1 in sum.
func (c *CI) check() error {
	switch {
	case !(c.Compute > 0 && c.Compute <= 1):
		return shareError(c.Compute)
	case c.MIG && geometry.Profile(c.slices()) == nil:
		return fmt.Errorf("MIG has no compute instance with %s of the GPU; one GPC is 0.125, and there are "+
			"those with %v", number(c.Compute), geometry.Sizes())
	case c.Default < 0 || c.Default > 0 && len(c.Shares) > 0:
		return errors.New("clients with and without percentages do not go together")
	}
	for _, x := range c.Shares {
		if !(x > 0 && x <= 1) {
			return shareError(x)
		}
	}
	all := sum(c.Shares)
	if all > 1+slack {
		const digits = 1e6 // hides the rounding of the sum
		rounded := math.Round(all*digits) / digits
		return fmt.Errorf("the clients have %s of their instance together; at most 1", number(rounded))
	}
	return nil
}

func shareError(x float64) error {
	return fmt.Errorf("%s is not a share; it must be over 0 and at most 1", number(x))
}

// slices returns the number of compute slices; 0 if Compute is not a whole number of them.
func (c *CI) slices() mig.Slices {
	n := mig.Slices(c.Compute * gpcs)
	if float64(n) != c.Compute*gpcs {
		return 0
	}
	return n
}

// profile returns the smallest profile with the memory of the GPU instance and enough slices for its compute instances.
// It can start wherever a larger profile with the same memory can. If no profile fits, the error says why.
func (gi *GI) profile() (*mig.Profile, error) {
	compute, hasThree := mig.Slices(0), false
	for i := range gi.CIs {
		n := gi.CIs[i].slices()
		compute += n
		hasThree = hasThree || n == 3
	}
	var memories []string    // of all profiles
	largest := mig.Slices(0) // of the profiles with gi.Memory
	for _, p := range geometry.Profiles {
		memory := float64(p.Length) / float64(geometry.MemorySlices)
		m := number(memory) + "m"
		if !slices.Contains(memories, m) {
			memories = append(memories, m)
		}
		if memory != gi.Memory {
			continue
		}
		largest = max(largest, p.Size)
		// A GPU instance of four slices cannot have a compute instance of three.
		if p.Size >= compute && !(hasThree && p.Size == 4) {
			return p, nil
		}
	}
	if largest == 0 {
		return nil, fmt.Errorf("MIG has no instance with %sm; there are those with %v", number(gi.Memory), memories)
	}
	return nil, fmt.Errorf("the compute instances, %d GPCs together, fit no instance with %sm; the largest has %d",
		compute, number(gi.Memory), largest)
}

// fitBeside reports whether instances of the profiles fit on the slices that are not taken.
func fitBeside(profiles []*mig.Profile, taken mig.Mask) bool {
	if len(profiles) == 0 {
		return true
	}
	for _, start := range profiles[0].Starts {
		in := mig.Instance{Profile: profiles[0], Start: start}
		if in.Mask()&taken == 0 && fitBeside(profiles[1:], taken|in.Mask()) {
			return true
		}
	}
	return false
}
