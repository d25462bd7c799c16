// Command dra places requests for MIG instances as kube-scheduler does: it calls the structured allocator of
// Kubernetes' dynamic resource allocation, on ResourceSlices like those of NVIDIA's DRA driver. It speaks miglab's
// protocol (../../PROTOCOL.md), track placement.
//
// A node is a pool. Each GPU has a counter for each memory slice and a device for each start of each profile. A device
// consumes the counters of its slices. The devices of a GPU come in the order of the profiles and of their starts. The
// allocator takes the GPUs in the order of the names of their ResourceSlices, which end in increasing numbers.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	core "k8s.io/api/core/v1"
	dra "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

// driver names the driver, and the class of its devices.
const driver = "gpu.nvidia.com"

// A question is a message of miglab, with the fields that this program reads.
type question struct {
	Type, Track string
	ID          int64
	GPU         struct {
		MemorySlices int `json:"memory_slices"`
		Profiles     []struct {
			Name   string
			Length int
			Starts []int
		}
	}
	GPUs     int
	PerNode  int `json:"per_node"`
	Geometry []string
	Profile  int
	Changes  []struct{ GPU, Mask int }
}

// A place is the position of a device: its GPU, its first memory slice and the mask of its memory slices.
type place struct{ gpu, start, mask int }

// A cluster is the state of the nodes.
type cluster struct {
	profiles []string
	nodes    []*core.Node
	slices   []*dra.ResourceSlice
	places   map[structured.DeviceID]place
	masks    []int // the occupied slices of each GPU
	taken    sets.Set[structured.DeviceID]
	cache    *cel.Cache
}

// one is the amount of a counter that a device consumes.
var one = dra.Counter{Value: resource.MustParse("1")}

// counters returns a counter for each memory slice of a mask.
func counters(mask int) map[string]dra.Counter {
	out := map[string]dra.Counter{}
	for s := 0; mask>>s > 0; s++ {
		if mask>>s&1 == 1 {
			out[fmt.Sprintf("memory-slice-%d", s)] = one
		}
	}
	return out
}

// newCluster publishes the devices of all nodes.
func newCluster(q *question) *cluster {
	c := &cluster{
		places: map[structured.DeviceID]place{}, masks: make([]int, q.GPUs), taken: sets.New[structured.DeviceID](),
		cache: cel.NewCache(100, cel.Features{}),
	}
	for _, p := range q.GPU.Profiles {
		c.profiles = append(c.profiles, p.Name)
	}
	per := q.PerNode
	if per == 0 {
		per = q.GPUs
	}
	for first := 0; first < q.GPUs; first += per {
		node := fmt.Sprintf("node-%d", len(c.nodes))
		c.nodes = append(c.nodes, &core.Node{ObjectMeta: meta.ObjectMeta{Name: node}})
		last := min(first+per, q.GPUs)
		pool := dra.ResourcePool{Name: node, ResourceSliceCount: int64(2 * (last - first))}
		publish := func(spec dra.ResourceSliceSpec) {
			spec.Driver, spec.Pool, spec.NodeName = driver, pool, &node
			name := fmt.Sprintf("slice-%06d", len(c.slices))
			c.slices = append(c.slices, &dra.ResourceSlice{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: spec})
		}
		for gpu := first; gpu < last; gpu++ {
			set := fmt.Sprintf("gpu-%d", gpu)
			all := counters(1<<q.GPU.MemorySlices - 1)
			publish(dra.ResourceSliceSpec{SharedCounters: []dra.CounterSet{{Name: set, Counters: all}}})
			publish(dra.ResourceSliceSpec{Devices: c.devices(q, node, set, gpu)})
		}
	}
	return c
}

// devices returns the devices of a GPU and stores their places.
func (c *cluster) devices(q *question, node, set string, gpu int) (out []dra.Device) {
	for i := range q.GPU.Profiles {
		p := &q.GPU.Profiles[i]
		for _, start := range p.Starts {
			mask := (1<<p.Length - 1) << start
			d := dra.Device{
				Name:       fmt.Sprintf("%s-profile-%d-at-%d", set, i, start),
				Attributes: map[dra.QualifiedName]dra.DeviceAttribute{"profile": {StringValue: &p.Name}},
				ConsumesCounters: []dra.DeviceCounterConsumption{{
					CounterSet: set, Counters: counters(mask),
				}},
			}
			c.places[structured.MakeDeviceID(driver, node, d.Name)] = place{gpu, start, mask}
			out = append(out, d)
		}
	}
	return out
}

// List and Get implement the allocator's lister of device classes. The only class has all devices of the driver.
func (c *cluster) List() ([]*dra.DeviceClass, error) {
	class, err := c.Get(driver)
	return []*dra.DeviceClass{class}, err
}

func (c *cluster) Get(name string) (*dra.DeviceClass, error) {
	return &dra.DeviceClass{ObjectMeta: meta.ObjectMeta{Name: name}}, nil
}

// allocate places a request on the first node that has room; false if none has.
func (c *cluster) allocate(ctx context.Context, q *question) (at place, ok bool, err error) {
	for _, change := range q.Changes {
		c.masks[change.GPU] = change.Mask
	}
	for id := range c.taken {
		p := c.places[id]
		if p.mask&^c.masks[p.gpu] != 0 {
			c.taken.Delete(id) // its instance has left
		}
	}
	state := structured.AllocatedState{
		AllocatedDevices: c.taken, AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity: structured.NewConsumedCapacityCollection(),
	}
	features := structured.Features{PartitionableDevices: true}
	allocator, err := structured.NewAllocator(ctx, features, state, c, c.slices, c.cache)
	if err != nil {
		return at, false, err
	}
	wants := fmt.Sprintf("device.attributes[%q].profile == %q", driver, c.profiles[q.Profile])
	claim := &dra.ResourceClaim{ObjectMeta: meta.ObjectMeta{Name: "claim", UID: "1"}}
	claim.Spec.Devices.Requests = []dra.DeviceRequest{{Name: "instance", Exactly: &dra.ExactDeviceRequest{
		DeviceClassName: driver, AllocationMode: dra.DeviceAllocationModeExactCount, Count: 1,
		Selectors: []dra.DeviceSelector{{CEL: &dra.CELDeviceSelector{Expression: wants}}},
	}}}
	for _, node := range c.nodes {
		results, err := allocator.Allocate(ctx, node, []*dra.ResourceClaim{claim})
		if err != nil {
			return at, false, err
		}
		if len(results) > 0 {
			d := results[0].Devices.Results[0]
			id := structured.MakeDeviceID(d.Driver, d.Pool, d.Device)
			c.taken.Insert(id)
			return c.places[id], true, nil
		}
	}
	return at, false, nil
}

// answer answers a question. c points to the cluster of the last question that had one.
func answer(ctx context.Context, q *question, c **cluster) (map[string]any, error) {
	switch q.Type {
	case "hello":
		if q.Track != "placement" {
			return nil, errors.New("only placement")
		}
		return map[string]any{"type": "hello", "protocol": 1, "name": "DRA structured allocator", "version": 1}, nil
	case "cluster":
		if q.Geometry != nil {
			return nil, errors.New("instances are made on demand")
		}
		*c = newCluster(q)
		return map[string]any{"type": "ready", "id": q.ID}, nil
	}
	at, ok, err := (*c).allocate(ctx, q)
	if !ok {
		return map[string]any{"type": "reject", "id": q.ID}, err
	}
	return map[string]any{"type": "place", "id": q.ID, "gpu": at.gpu, "slice": at.start}, nil
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 64<<20)
	out := json.NewEncoder(os.Stdout)
	var c *cluster
	for in.Scan() {
		var q question
		err := json.Unmarshal(in.Bytes(), &q)
		var a map[string]any
		if err == nil {
			a, err = answer(context.Background(), &q, &c)
		}
		if err != nil {
			a = map[string]any{"type": "error", "message": err.Error()}
			if q.Type != "hello" {
				a["id"] = q.ID
			}
		}
		if out.Encode(a) != nil {
			return // miglab has ended
		}
	}
}
