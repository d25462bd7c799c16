package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
)

const devicePlugin = "NVIDIA/k8s-device-plugin PR 1621 and 046b76bb, internal/rm/allocate.go, by GPU as in PR 2036; " +
	"it counts devices of one resource, and here a profile is a resource"

var _ = algo.Register(algo.Spec{
	Name: "packed", Version: 1, Cite: devicePlugin,
	Summary: "GPU with the most used instances of the profile, first free one",
	New:     algo.NewPlacer(newByInstances("packed", -1)),
})

var _ = algo.Register(algo.Spec{
	Name: "distributed", Version: 1, Cite: devicePlugin,
	Summary: "GPU with the fewest used instances of the profile, first free one",
	New:     algo.NewPlacer(newByInstances("distributed", 1)),
})

// newByInstances returns the constructor of a scheduler that takes the GPU with the least number of used instances of
// the profile, times the sign. If instances are made on demand, it counts the profile's starts that are not free.
func newByInstances(name string, sign int) algo.NewPlacer {
	return func(_ algo.Args, s sim.PlacementSetting) (sim.Placer, error) {
		return fixedTable(name, nil, s.GPU, func() rule {
			return func(p *mig.Profile, occupied mig.Mask) (choice, bool) {
				free, first := 0, nowhere
				for start := range (freeStarts{p, occupied}).all {
					if free == 0 {
						first = start
					}
					free++
				}
				return choice{cost{sign * (len(p.Starts) - free)}, first}, free > 0
			}
		}), nil
	}
}
