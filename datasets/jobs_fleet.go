package datasets

import (
	"slices"
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/task"
)

// fleet is the GPUs of a dataset of the dispatch track, as parameters write them.
type fleet struct {
	// gpus is one partition a GPU, joined by "+", as in 7+4-3.
	gpus string
	// watts is what a GPU draws by busy slices from 0, joined by "-".
	watts string
}

// reportFleet is the fleet of the deadline report: its configurations
// [1,1,2,2,3,3,12,12] by NVIDIA's numbering, in which 12 is 2-2-2-1 (number 9 in FAR
// Fig. 1). These are 20 slices; the report says 26 (2.3). The power table is the
// released ENERGY_TABLE.
var reportFleet = fleet{
	gpus:  "7+7+4-3+4-3+4-2-1+4-2-1+2-2-2-1+2-2-2-1",
	watts: "40-120-160-200-240-250-250-250",
}

// parameters are those that change the fleet.
func (f *fleet) parameters() []parameter {
	return []parameter{{"gpus", f.setGPUs}, {"watts", f.setWatts}}
}

// differing lists the parameters that are not the report's, as name=value.
func (f *fleet) differing() []string {
	var p []string
	if f.gpus != reportFleet.gpus {
		p = append(p, "gpus="+f.gpus)
	}
	if f.watts != reportFleet.watts {
		p = append(p, "watts="+f.watts)
	}
	return p
}

// setGPUs takes partitions that some model has; which model it is shows later.
func (f *fleet) setGPUs(value string) error {
	const want = "at least one partition, joined by +, as in 7+4-3"
	if value == "" {
		return &ParameterError{"gpus", value, want}
	}
	var known []string
	for _, g := range mig.GPUs() {
		for _, p := range g.Partitions() {
			known = append(known, p.String())
		}
	}
	slices.Sort(known)
	known = slices.Compact(known)
	for _, name := range strings.Split(value, "+") {
		if !slices.Contains(known, name) {
			return nearest.Unknown("partition", name, known)
		}
	}
	f.gpus = value
	return nil
}

func (f *fleet) setWatts(value string) error {
	var out []string
	for _, text := range strings.Split(value, "-") {
		w, err := strconv.ParseFloat(text, 64)
		if err != nil || !(w >= 0 && w <= maxWatts) {
			return &ParameterError{"watts", value, "numbers from 0 to " + strconv.Itoa(maxWatts) + " by busy slices from 0, joined by -, as in 40-120-160"}
		}
		out = append(out, strconv.FormatFloat(w, 'f', -1, 64))
	}
	f.watts = strings.Join(out, "-")
	return nil
}

// maxWatts bounds the parameter watts.
const maxWatts = 1_000_000

// on returns the fleet of GPUs of a model. The error is a [*nearest.UnknownError]
// where the model lacks a partition.
func (f *fleet) on(g *mig.GPU) (task.Fleet, error) {
	var out task.Fleet
	for _, name := range strings.Split(f.gpus, "+") {
		p, err := g.ParsePartition(name)
		if err != nil {
			return task.Fleet{}, err
		}
		out.Partitions = append(out.Partitions, p)
	}
	for _, text := range strings.Split(f.watts, "-") {
		w, err := strconv.ParseFloat(text, 64)
		if err != nil {
			panic("datasets: watts that were parsed before do not parse: " + text)
		}
		out.Watts = append(out.Watts, w)
	}
	return out, nil
}
