package certificate

import (
	"cmp"
	"fmt"
	"slices"

	"miglab/harness/mig"
	"miglab/harness/task"
)

// PriceScale is the whole number that represents the price 1.
const PriceScale = 1 << 30

// An Instant has the prices of one slot: the charge of a running instance of each profile, in parts of [PriceScale] and
// in the order of [task.RequestProfiles].
type Instant struct {
	Slot   int   `json:"slot"`
	Prices []int `json:"prices"`
}

// AcceptedAtMost returns an upper bound on the number of requests that any scheduler can accept on a number of GPUs,
// even if it knows all requests in advance, moves them and lets them stay for longer. The GPUs are empty at first. The
// instants prove the bound. They must be in ascending order of slot; the fewer there are, the weaker is the bound.
//
// PROVEN. In every slot each GPU holds instances that share no memory slice. Let V be the most that such instances can
// be charged in an instant. The accepted requests together are charged at most gpus V there, hence at most the sum of
// gpus V over all instants. Let c_i be the charge of request i over the instants in its lifetime, with all its
// instances. For any set A of accepted requests,
//
//	|A| = sum c_i + sum (1 - c_i) <= sum over the instants of gpus V + sum over all requests of max(0, 1 - c_i),
//
// where the sums on the left are over A. Requests for more than the GPUs have do not count, as they are never
// accepted. The number is whole, so rounding down is valid. All of this is computed in whole numbers.
//
// It returns an error for requests that no cluster can accept, instants out of order and prices outside 0 to 1.
func AcceptedAtMost(g *mig.GPU, gpus int, requests []task.Request, instants []Instant) (int, error) {
	profiles := task.RequestProfiles(g)
	total, all := 0, len(requests)*PriceScale
	// charged[p][k] is the charge of an instance of p over the first k instants.
	charged := make([][]int, len(profiles))
	for p := range charged {
		charged[p] = make([]int, len(instants)+1)
	}
	for k, at := range instants {
		if len(at.Prices) != len(profiles) || k > 0 && at.Slot <= instants[k-1].Slot {
			return 0, fmt.Errorf("instant %d is in slot %d with %d prices; give the %d prices of each slot once, by "+
				"ascending slot", k, at.Slot, len(at.Prices), len(profiles))
		}
		for p, price := range at.Prices {
			if price < 0 || price > PriceScale {
				return 0, fmt.Errorf("slot %d has a price of %d for %v; prices are from 0 to %d", at.Slot, price,
					profiles[p], PriceScale)
			}
			charged[p][k+1] = charged[p][k] + price
		}
		earned := dearest(profiles, at.Prices, 0)
		if earned > 0 && gpus > (all-total)/earned {
			total = all
		} else {
			total += gpus * earned
		}
	}
	slot := func(at Instant, s int) int { return cmp.Compare(at.Slot, s) }
	for i := range requests {
		q := &requests[i]
		p := slices.Index(profiles, q.Profile)
		if err := q.CheckGPUs(g); p < 0 || q.Lifespan < 1 || q.Arrival < 0 || err != nil {
			return 0, fmt.Errorf("request %d asks for %v on %d GPUs for %d slots, which no cluster gives it",
				i, q.Profile, q.Instances(), q.Lifespan)
		}
		from, _ := slices.BinarySearchFunc(instants, q.Arrival, slot)
		until := len(instants)
		if q.Lifespan <= task.Forever-q.Arrival {
			until, _ = slices.BinarySearchFunc(instants, q.Arrival+q.Lifespan, slot)
		}
		if !q.Exceeds(g, gpus) {
			members, copies := []task.Member{{Profile: q.Profile}}, q.Instances()
			if q.Gang != nil {
				members, copies = q.Gang.Members, 1
			}
			c := 0
			for _, m := range members {
				k := slices.Index(profiles, m.Profile)
				c += charged[k][until] - charged[k][from]
			}
			if c == 0 || copies <= PriceScale/c {
				total += PriceScale - copies*c
			}
		}
	}
	return min(total, all) / PriceScale, nil
}

// dearest returns the largest charge of instances that a GPU can hold beside the occupied slices.
func dearest(profiles []*mig.Profile, prices []int, occupied mig.Mask) int {
	most := 0
	for p, profile := range profiles {
		for _, start := range profile.Starts {
			m := (mig.Instance{Profile: profile, Start: start}).Mask()
			// The masks of a set are tried in ascending order only, so that each set is tried once.
			if m > occupied && m&occupied == 0 && prices[p] > 0 {
				most = max(most, prices[p]+dearest(profiles, prices, occupied|m))
			}
		}
	}
	return most
}
