package run

import (
	"fmt"
	"strings"
	"sync"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/harness/track"
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
// of the dataset.
func (s Series) Canonical() (Series, error) {
	r, err := resolveNames(s, func(id string, track algo.Track) (algo.Algorithm, error) {
		a, err := algo.Parse(id)
		if err == nil {
			err = a.CheckTrack(track)
		}
		return a, err
	})
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

// resolved is a series with the values that its names refer to.
type resolved struct {
	series    Series
	track     *track.Track
	gpu       *mig.GPU
	dataset   datasets.Spec
	algorithm algo.Algorithm
}

func resolve(s Series) (*resolved, error) { return resolveNames(s, algo.ParseFor) }

func resolveNames(s Series, parse func(id string, track algo.Track) (algo.Algorithm, error)) (_ *resolved, err error) {
	r := &resolved{}
	if r.gpu, err = mig.Lookup(s.GPU); err != nil {
		return nil, err
	}
	if r.dataset, err = datasets.Parse(s.Dataset); err != nil {
		return nil, err
	}
	if r.algorithm, err = parse(s.Algorithm, s.Track); err != nil {
		return nil, err
	}
	if err := r.algorithm.CheckGPU(r.gpu); err != nil {
		return nil, err
	}
	asked := r.algorithm.Spec.Track != "" // an algorithm of this program, or an external one that said so
	r.track = track.Of(s.Track)
	if r.track.Accepts != nil {
		if err := r.track.Accepts(r.gpu); err != nil {
			return nil, err
		}
	}
	if s.Count < 0 {
		return nil, fmt.Errorf("%d GPUs: there must be at least 1", s.Count)
	}
	r.series = Series{
		Track: s.Track, Dataset: r.dataset.ID(), GPU: r.gpu.Name, Count: max(s.Count, 1),
		Algorithm: r.algorithm.ID, Weights: r.algorithm.Weights(), Model: s.Model,
	}
	if !r.track.Reconfigures {
		r.series.Model = mig.Sequential
	}
	return r, r.fit(asked)
}

// fit compares the dataset with the track and sets what the series has from its first instance.
func (r *resolved) fit(try bool) error {
	about, err := r.about()
	if err != nil {
		return err
	}
	if about.kind != r.track.Data {
		return fmt.Errorf("dataset %q has %s; the %s track needs %s", r.series.Dataset, about.kind, r.series.Track,
			r.track.Data)
	}
	if about.count > 0 {
		r.series.Count = about.count
	}
	r.series.Content = about.content
	if !try || r.track.Try == nil {
		return nil
	}
	if _, ok := tries.Load(r.series); ok {
		return nil
	}
	in, err := r.dataset.Instance(r.gpu, 0)
	if err == nil {
		err = r.track.Try(r.algorithm, r.problem(in, 0))
	}
	if err == nil && !r.isFile() {
		tries.Store(r.series, true)
	}
	if err != nil {
		return fmt.Errorf("%s on dataset %q: %w", r.algorithm.ID, r.series.Dataset, err)
	}
	return nil
}

// aboutDataset is what a series has from the first instance of its dataset.
type aboutDataset struct {
	kind, content string
	// count is the number of GPUs; 0 where the dataset does not give it.
	count int
}

// tries remembers the series whose algorithm could be made for the dataset.
var tries sync.Map

// abouts remembers the datasets that are not files.
var abouts sync.Map

func (r *resolved) about() (aboutDataset, error) {
	k := [3]string{string(r.series.Track), r.series.Dataset, r.series.GPU}
	if a, ok := abouts.Load(k); ok {
		return a.(aboutDataset), nil
	}
	in, err := r.dataset.Instance(r.gpu, 0)
	if err != nil {
		return aboutDataset{}, err
	}
	a := aboutDataset{kind: in.Kind(), content: r.content(in)}
	if a.kind == r.track.Data && r.track.Count != nil {
		a.count = r.track.Count(in)
	}
	if !r.isFile() {
		abouts.Store(k, a)
	}
	return a, nil
}

// isFile reports whether the dataset is a file, which may change while it is used.
func (r *resolved) isFile() bool { return strings.Contains(r.series.Dataset, ":") }

// instance generates an instance. A dataset that is a file must still have the contents that the
// series was planned with.
func (r *resolved) instance(index int) (task.Payload, error) {
	in, err := r.dataset.Instance(r.gpu, index)
	if err != nil || !r.isFile() {
		return in, err
	}
	now, err := r.about()
	if err == nil && now.content != r.series.Content {
		err = fmt.Errorf("dataset %q changed while it was used; run again", r.series.Dataset)
	}
	return in, err
}

// content identifies the first instance as this program generates or reads it, with the GPU
// model's geometry and costs, so that a result is not found again after any of these has changed.
func (r *resolved) content(in task.Payload) string {
	d := task.NewDigest()
	g := r.gpu
	d.Int(int(g.ComputeSlices))
	d.Int(int(g.MemorySlices))
	d.Int(len(g.Profiles))
	for _, p := range g.Profiles {
		d.Text(p.String())
		d.Int(int(p.Length))
		d.Int(len(p.Starts))
		for _, at := range p.Starts {
			d.Int(int(at))
		}
		d.Float(float64(p.Create))
		d.Float(float64(p.Destroy))
	}
	in.AddTo(d)
	if v, ok := r.dataset.(datasets.Varied); ok {
		v.AddTo(d)
	}
	return d.String()
}
