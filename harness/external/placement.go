package external

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

func init() {
	protocols[algo.TrackPlacement] = func(p *program) algo.Constructor {
		return algo.NewPlacer(func(_ algo.Args, setting sim.PlacementSetting) (sim.Placer, error) {
			if setting.Gangs && p.hello.Protocol < withGangs {
				return nil, &algo.UnsupportedError{
					What: "requests for several instances at once or for +me",
					Reason: fmt.Sprintf("the program keeps to version %d of the protocol, and gangs came with version %d",
						p.hello.Protocol, withGangs),
				}
			}
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
		// Gangs is missing if all requests are for one instance without media extensions, or for whole GPUs.
		Gangs  bool      `json:"gangs,omitzero"`
		Demand []float64 `json:"demand,omitempty"` // missing if it is not known
	}
	clusterProfile struct {
		Name   string       `json:"name"`
		Size   mig.Slices   `json:"size"`
		Length mig.Slices   `json:"length"`
		Starts []mig.Slices `json:"starts"`
	}
	// placementRequest asks for a decision.
	placementRequest struct {
		Type    string       `json:"type"` // request
		ID      int64        `json:"id"`
		Profile int          `json:"profile"` // an index in the profiles of the cluster
		Changes []maskChange `json:"changes"` // the GPUs whose masks have changed since the last decision
	}
	// gangRequest asks for the places of a gang.
	gangRequest struct {
		Type    string       `json:"type"` // gang
		ID      int64        `json:"id"`
		Where   string       `json:"where"` // gpu if all members must be on one GPU, or any
		Members []gangMember `json:"members"`
		Changes []maskChange `json:"changes"`
	}
	gangMember struct {
		Profile int  `json:"profile"`
		Media   bool `json:"media,omitzero"` // missing if the member needs no media extensions
	}
	maskChange struct {
		GPU   int      `json:"gpu"`
		Mask  mig.Mask `json:"mask"`
		Media bool     `json:"media,omitzero"` // missing if the media extensions are free
	}
)

func newCluster(id int64, s *sim.PlacementSetting) cluster {
	q := cluster{
		Type: "cluster", ID: id, GPUs: s.GPUs, PerNode: s.PerNode, Waiting: s.Waiting, Demand: s.Demand,
		Gangs: s.Gangs,
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

// places is the answer to a gangRequest: a place for each member, or a rejection.
type places struct {
	head
	Places []struct {
		GPU   *int        `json:"gpu"`
		Slice *mig.Slices `json:"slice"`
	} `json:"places"`
}

func (p *places) check(id int64) error {
	for _, at := range p.Places {
		if at.GPU == nil || at.Slice == nil {
			return errors.New("gpu or slice is missing in places")
		}
	}
	return p.expect(id, "places is", []bool{len(p.Places) > 0}, "places", "reject")
}

// A placer is a program of the placement track.
type placer struct {
	dialogue
	setting sim.PlacementSetting
	told    []maskChange // the last state of each GPU that the program was told
}

// Place implements [sim.Placer]. If the program fails, it chooses a GPU that does not exist, which ends the simulation.
func (p *placer) Place(c *sim.Cluster, profile int) (sim.Spot, bool) {
	changes := p.changes(c)
	var answer place
	if !p.ask(placementRequest{Type: "request", ID: p.id, Profile: profile, Changes: changes}, &answer) {
		return sim.Spot{GPU: -1}, true
	}
	if answer.Type == "reject" {
		return sim.Spot{}, false
	}
	return sim.Spot{GPU: *answer.GPU, Start: *answer.Slice}, true
}

// PlaceGang implements [sim.GangPlacer]. If the program fails, it chooses GPUs that do not exist, which ends the
// simulation.
func (p *placer) PlaceGang(c *sim.Cluster, g *task.Gang) ([]sim.Spot, bool) {
	question := gangRequest{Type: "gang", ID: p.id, Where: g.Where(), Changes: p.changes(c)}
	for _, m := range g.Members {
		question.Members = append(question.Members, gangMember{slices.Index(c.Profiles(), m.Profile), m.Media})
	}
	var answer places
	if !p.ask(question, &answer) {
		return slices.Repeat([]sim.Spot{{GPU: -1}}, len(g.Members)), true
	}
	if answer.Type == "reject" {
		return nil, false
	}
	var out []sim.Spot
	for _, at := range answer.Places {
		out = append(out, sim.Spot{GPU: *at.GPU, Start: *at.Slice})
	}
	return out, true
}

// changes returns the GPUs whose state has changed since the last question. Before the first, it opens the dialogue.
func (p *placer) changes(c *sim.Cluster) (out []maskChange) {
	if !p.opened {
		p.opened = true
		p.told = make([]maskChange, c.GPUs())
		for gpu := range p.told {
			p.told[gpu].GPU = gpu
		}
		p.ask(newCluster(p.id, &p.setting), &ready{})
	}
	for gpu := range p.told {
		now := maskChange{gpu, c.Mask(gpu), c.Media(gpu)}
		if p.told[gpu] != now {
			p.told[gpu] = now
			out = append(out, now)
		}
	}
	return out
}
