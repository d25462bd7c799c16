package placement

import (
	"miglab/harness/algo"
	"miglab/harness/mig"
)

const devicePlugin = "NVIDIA/k8s-device-plugin PR 1621 and 046b76bb, internal/rm/allocate.go, by GPU as in PR 2036; " +
	"it counts devices of one resource, and here a profile is a resource"

var _ = algo.Register(algo.Spec{
	Name: "packed", Version: 1, Cite: devicePlugin,
	Summary: "GPU with the most used instances of the profile, first free one",
	New:     newTabled("packed", byInstances(-1)),
})

var _ = algo.Register(algo.Spec{
	Name: "distributed", Version: 1, Cite: devicePlugin,
	Summary: "GPU with the fewest used instances of the profile, first free one",
	New:     newTabled("distributed", byInstances(1)),
})

// byInstances returns a rule that takes the GPU with the least number of used instances of the profile, times the sign.
// If instances are made on demand, it counts the profile's starts that are not free.
func byInstances(sign int) func(algo.Args, *mig.GPU) rule {
	return func(algo.Args, *mig.GPU) rule {
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
	}
}
