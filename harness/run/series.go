package run

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/sim"
	"miglab/harness/task"
)

// A Series is an algorithm on a dataset under fixed conditions: a cell for each
// instance. [Series.Canonical] brings names into the one form that is looked up.
type Series struct {
	Track algo.Track
	// Dataset is the canonical spec.
	Dataset string
	// Content is a hash of what the dataset's name and the GPU's stand for in this
	// program, so that results do not outlive a change of either. [Series.Canonical]
	// sets it.
	Content string
	// GPU is the model's name.
	GPU string
	// Count is the number of GPUs, at least 1.
	Count int
	// Algorithm is the name with the parameters that differ from their defaults.
	Algorithm string
	// Weights names what a trained algorithm has learned ([algo.Algorithm.Weights]);
	// [Series.Canonical] sets it.
	Weights string
	Model   mig.Reconfiguration
}

// Canonical resolves the names: aliases and defaults give way to what results
// are filed under, a count of 0 becomes 1, and where the dataset is a file, it is
// read. An algorithm outside this program is not asked whether it does the track.
// Unknown names are a [*nearest.UnknownError], other errors those of [algo.Parse] and
// of the dataset, or a [*TrackError].
func (s Series) Canonical() (Series, error) {
	r, err := resolveNames(s, func(id string, _ algo.Track) (algo.Algorithm, error) { return algo.Parse(id) })
	if err != nil {
		return Series{}, err
	}
	return r.series, nil
}

// Cells returns the canonical cells of instances 0 to n-1, for the algorithm's
// present version. It is an error to ask for more than the dataset has. Other
// errors are those of [Series.Canonical] and [algo.ParseFor].
func (s Series) Cells(n int) ([]Cell, error) {
	r, err := resolve(s)
	if err != nil {
		return nil, err
	}
	if have := r.dataset.Instances(); have > 0 && n > have {
		return nil, &datasets.IndexError{Dataset: r.series.Dataset, Index: n - 1, Instances: have}
	}
	out := make([]Cell, n)
	for i := range out {
		out[i] = Cell{r.series, r.algorithm.Spec.Version, i}
	}
	return out, nil
}

// TrackError says that an algorithm does not belong to the track it was asked for.
type TrackError struct {
	Algorithm  string
	Track, Has algo.Track
}

func (e *TrackError) Error() string {
	return fmt.Sprintf("algorithm %q is of track %q and not of track %q", e.Algorithm, e.Has, e.Track)
}

// resolved is a series with what its names stand for.
type resolved struct {
	series    Series
	gpu       *mig.GPU
	dataset   datasets.Spec
	algorithm algo.Algorithm
}

func resolve(s Series) (resolved, error) { return resolveNames(s, algo.ParseFor) }

func resolveNames(s Series, parse func(id string, track algo.Track) (algo.Algorithm, error)) (r resolved, err error) {
	if r.gpu, err = mig.Lookup(s.GPU); err != nil {
		return r, err
	}
	if r.dataset, err = datasets.Parse(s.Dataset); err != nil {
		return r, err
	}
	if r.algorithm, err = parse(s.Algorithm, s.Track); err != nil {
		return r, err
	}
	asked := r.algorithm.Spec.Track != "" // one of this program, or one outside that said so
	if has := r.algorithm.Spec.Track; asked && has != s.Track {
		return r, &TrackError{r.algorithm.ID, s.Track, has}
	}
	if s.Track == algo.TrackCorun && r.gpu.ComputeSlices != corunSlices {
		return r, fmt.Errorf("the %s track is about GPUs with eight GPCs, seven of which MIG uses; %s has %d compute slices", s.Track, r.gpu, r.gpu.ComputeSlices)
	}
	if s.Count < 0 {
		return r, fmt.Errorf("%d GPUs: there must be at least 1", s.Count)
	}
	r.series = Series{
		Track: s.Track, Dataset: r.dataset.ID(), GPU: r.gpu.Name, Count: max(s.Count, 1),
		Algorithm: r.algorithm.ID, Weights: r.algorithm.Weights(), Model: s.Model,
	}
	about, err := r.about()
	if err != nil {
		return r, err
	}
	switch s.Track {
	case algo.TrackPlacement, algo.TrackOffline:
		// The requests are for a cluster of a size, and nothing is reconfigured.
		r.series.Count, r.series.Model = about.gpus, mig.Sequential
	case algo.TrackDispatch, algo.TrackCorun:
		// The fleet is part of the queue; a window is for one GPU.
		r.series.Count, r.series.Model = 1, mig.Sequential
	}
	if want := needs[s.Track]; about.kind != want {
		return r, &KindError{r.series.Dataset, about.kind, s.Track, want}
	}
	r.series.Content = about.content
	if asked {
		err = r.try(about)
	}
	return r, err
}

// corunSlices is the number of compute slices of the GPUs of the co-run track.
const corunSlices = 7

// try makes a scheduler that is told about the instance, so that one that cannot do
// with what there is to know says so before any work begins.
func (r *resolved) try(about aboutDataset) error {
	var err error
	switch r.series.Track {
	case algo.TrackPlacement:
		_, err = r.algorithm.Spec.Placement(r.algorithm.Args, sim.PlacementSetting{GPU: r.gpu, GPUs: about.gpus, Demand: about.demand})
	case algo.TrackDispatch:
		_, err = r.algorithm.Spec.Dispatch(r.algorithm.Args, sim.DispatchSetting{Slices: about.slices})
	case algo.TrackCorun:
		_, err = r.algorithm.Spec.Corun(r.algorithm.Args)
	}
	if err != nil {
		return fmt.Errorf("%s on dataset %q: %w", r.algorithm.ID, r.series.Dataset, err)
	}
	return nil
}

// needs is what a dataset must have for a track.
var needs = map[algo.Track]string{
	algo.TrackBatch: "tasks", algo.TrackStream: "tasks", algo.TrackBound: "tasks",
	algo.TrackPlacement: "requests", algo.TrackOffline: "requests", algo.TrackDispatch: "jobs",
	algo.TrackCorun: "programs",
}

// KindError says that a dataset has nothing for a track.
type KindError struct {
	Dataset string
	// Has and Needs are "tasks", "requests", "jobs" or "programs".
	Has   string
	Track algo.Track
	Needs string
}

func (e *KindError) Error() string {
	return fmt.Sprintf("dataset %q has %s; the %s track needs %s", e.Dataset, e.Has, e.Track, e.Needs)
}

// aboutDataset says what a dataset is about on a GPU, by its first instance.
type aboutDataset struct {
	// content stands in 16 hexadecimal digits for the instance as this program
	// generates or reads it, and the GPU model's geometry and costs. A result is thus
	// not found again after any of these has changed.
	content string
	// kind is "tasks", "requests", "jobs" or "programs".
	kind string
	// gpus is the size of the cluster that requests are for, and demand what they were
	// drawn from.
	gpus   int
	demand []float64
	// slices is the size of the fleet that jobs are for.
	slices int
}

func slicesOf(f task.Fleet) (n int) {
	for _, p := range f.Partitions {
		n += len(p)
	}
	return n
}

// abouts remembers the datasets that are no files.
var abouts sync.Map

func (r *resolved) about() (aboutDataset, error) {
	type key struct{ dataset, gpu string }
	k := key{r.series.Dataset, r.series.GPU}
	if a, ok := abouts.Load(k); ok {
		return a.(aboutDataset), nil
	}
	in, err := r.dataset.Instance(r.gpu, 0)
	if err != nil {
		return aboutDataset{}, err
	}
	a := aboutDataset{content: contentOf(r.gpu, in), kind: "tasks", gpus: max(in.GPUs, 1), demand: in.Demand, slices: slicesOf(in.Fleet)}
	switch {
	case in.Requests != nil:
		a.kind = "requests"
	case in.Jobs != nil:
		a.kind = "jobs"
	case in.Window.Jobs != nil:
		a.kind = "programs"
	}
	if !r.isFile() {
		abouts.Store(k, a)
	}
	return a, nil
}

// isFile reports whether the dataset is a file, which may change while it is used.
func (r *resolved) isFile() bool { return strings.Contains(r.series.Dataset, ":") }

// instance generates an instance. Where the dataset is a file, it must still hold
// what the series was planned with.
func (r *resolved) instance(index int) (datasets.Instance, error) {
	in, err := r.dataset.Instance(r.gpu, index)
	if err == nil && r.isFile() && contentOf(r.gpu, in) != r.series.Content {
		err = fmt.Errorf("dataset %q changed while it was used; run again", r.series.Dataset)
	}
	return in, err
}

func contentOf(g *mig.GPU, in datasets.Instance) string {
	h := sha256.New()
	tasks := in.Tasks.Hash()
	h.Write(tasks[:])
	fmt.Fprintln(h, g.ComputeSlices, g.MemorySlices, in.Lengths, in.GPUs, in.Demand, in.Jobs, in.Fleet.Watts, len(in.Fleet.Partitions))
	for _, p := range g.Profiles {
		fmt.Fprintln(h, *p)
	}
	for _, p := range in.Fleet.Partitions {
		fmt.Fprintln(h, p)
	}
	for _, q := range in.Requests {
		fmt.Fprintln(h, q.Arrival, q.Lifespan, q.Profile)
	}
	if in.Window.Jobs != nil {
		// Other windows of the dataset have other programs.
		fmt.Fprintln(h, in.Window, datasets.Programs())
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
