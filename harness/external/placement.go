package external

import (
	"fmt"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

func init() {
	protocols[algo.TrackPlacement] = func(p *program) algo.Constructor {
		return algo.NewPlacer(func(_ algo.Args, setting sim.PlacementSetting) (sim.Placer, error) {
			return &placer{dialogue: newDialogue(p, setting.Seed), setting: setting}, nil
		})
	}
}

// The questions of the placement track.
type (
	// cluster opens the dialogue.
	cluster struct {
		Type string              `json:"type"` // cluster
		ID   int64               `json:"id"`
		GPU  gpu[clusterProfile] `json:"gpu"`
		GPUs int                 `json:"gpus"`
		// PerNode is missing if the cluster has no nodes, and Waiting if requests do not wait.
		PerNode int          `json:"per_node,omitzero"`
		Waiting task.Waiting `json:"waiting,omitzero"`
		// Geometry has the instances of each GPU, as in 4@0 2@4 1@6, if they are never changed.
		Geometry []string `json:"geometry,omitempty"`
		// Demand is missing if it is not known.
		Demand []float64 `json:"demand,omitempty"`
	}
	clusterProfile struct {
		Name   string       `json:"name"`
		Size   mig.Slices   `json:"size"`
		Length mig.Slices   `json:"length"`
		Starts []mig.Slices `json:"starts"`
	}
	// placementRequest asks for a decision.
	placementRequest struct {
		Type string `json:"type"` // request
		ID   int64  `json:"id"`
		// Profile is an index in the profiles of the cluster.
		Profile int `json:"profile"`
		// Changes has the GPUs whose masks have changed since the last decision.
		Changes []maskChange `json:"changes"`
	}
	maskChange struct {
		GPU  int      `json:"gpu"`
		Mask mig.Mask `json:"mask"`
	}
)

func newCluster(id int64, s *sim.PlacementSetting) cluster {
	q := cluster{
		Type: "cluster", ID: id, GPUs: s.GPUs, PerNode: s.PerNode, Waiting: s.Waiting, Demand: s.Demand,
		GPU: gpu[clusterProfile]{
			Name: s.GPU.Name, ComputeSlices: s.GPU.ComputeSlices, MemorySlices: s.GPU.MemorySlices,
		},
	}
	for _, p := range s.Geometry {
		q.Geometry = append(q.Geometry, strings.Trim(fmt.Sprint([]mig.Instance(p)), "[]"))
	}
	for _, p := range task.RequestProfiles(s.GPU) {
		q.GPU.Profiles = append(q.GPU.Profiles, clusterProfile{p.String(), p.Size, p.Length, p.Starts})
	}
	return q
}

// A place is the answer to a placementRequest: the GPU and slice of the instance, or a rejection.
type place struct {
	head
	GPU   *int        `json:"gpu"`
	Slice *mig.Slices `json:"slice"`
}

func (p *place) check(id int64) error {
	return p.expect(id, "gpu or slice is", []bool{p.GPU != nil, p.Slice != nil}, "place", "reject")
}

// A placer is a program of the placement track.
type placer struct {
	dialogue
	setting sim.PlacementSetting
	// masks are the last masks that the program was told.
	masks []mig.Mask
}

// Place implements [sim.Placer]. If the program fails, it chooses a GPU that does not exist, which ends the simulation.
func (p *placer) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	if !p.opened {
		p.opened = true
		p.masks = make([]mig.Mask, c.GPUs())
		p.ask(newCluster(p.id, &p.setting), &ready{})
	}
	question := placementRequest{Type: "request", ID: p.id, Profile: profile}
	for gpu := range p.masks {
		now := c.Mask(gpu)
		if p.masks[gpu] != now {
			p.masks[gpu] = now
			question.Changes = append(question.Changes, maskChange{gpu, now})
		}
	}
	var answer place
	if !p.ask(question, &answer) {
		return sim.Spot{GPU: -1}, true
	}
	if answer.Type == "reject" {
		return sim.Spot{}, false
	}
	return sim.Spot{GPU: *answer.GPU, Start: *answer.Slice}, true
}
