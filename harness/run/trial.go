package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/store"
	"miglab/harness/task"
	"miglab/harness/track"
)

// A Trial is a series with the values that its names refer to. It is resolved once; planning, computing and reading
// results share it.
type Trial struct {
	Series    store.Series // canonical names; the store files results under them
	track     *track.Track
	gpu       *mig.GPU
	model     mig.Reconfiguration
	dataset   datasets.Spec
	algorithm algo.Algorithm
}

// Resolve looks up the names of a series, the GPU's name in models. It replaces aliases by canonical names and sets the
// content, the version and the weights. The count is the dataset's if it has one, else the given one, else 1. The model
// is sequential if none is given or the track does not reconfigure. Resolve reads a dataset that is a file, and starts
// an external program.
//
// The error for an unknown name is a [*nearest.UnknownError]. Other errors are from [algo.ParseFor] and the dataset, or
// say that the algorithm or the track does not support the GPU, the count or the instances.
func Resolve(models *mig.Catalog, s store.Series) (t *Trial, err error) {
	t = new(Trial)
	if t.track, err = track.Lookup(s.Track); err != nil {
		return nil, err
	}
	if t.gpu, err = models.Lookup(s.GPU); err != nil {
		return nil, err
	}
	if t.dataset, err = datasets.Parse(s.Dataset); err != nil {
		return nil, err
	}
	if t.model, err = mig.ParseReconfiguration(cmp.Or(s.Model, mig.Sequential.String())); err != nil {
		return nil, err
	}
	if !t.track.Reconfigures {
		t.model = mig.Sequential
	}
	if t.algorithm, err = algo.ParseFor(s.Algorithm, s.Track); err != nil {
		return nil, err
	}
	if err := t.algorithm.CheckGPU(t.gpu); err != nil {
		return nil, err
	}
	if t.track.Accepts != nil {
		if err := t.track.Accepts(t.gpu); err != nil {
			return nil, err
		}
	}
	if s.Count < 0 {
		return nil, fmt.Errorf("%d GPUs: there must be at least 1", s.Count)
	}
	about, err := describeDataset(t.track, t.dataset, t.gpu)
	if err != nil {
		return nil, err
	}
	t.Series = store.Series{
		Track: s.Track, Dataset: t.dataset.ID(), Content: about.content, GPU: t.gpu.Name,
		Count: cmp.Or(about.count, s.Count, 1), Algorithm: t.algorithm.ID, Version: t.algorithm.Spec.Version,
		Weights: t.algorithm.Weights(), Model: t.model.String(),
	}
	return t, t.try()
}

// succeeded holds the series for which [Trial.try] returned nil, by GPU model.
var succeeded = mig.Derived(func(*mig.GPU) *sync.Map { return new(sync.Map) })

// try makes the algorithm for the first instance, if the track says that this may fail for a GPU model.
func (t *Trial) try() error {
	if t.track.Try == nil {
		return nil
	}
	if _, ok := succeeded(t.gpu).Load(t.Series); ok {
		return nil
	}
	in, err := t.dataset.Instance(t.gpu, 0)
	if err == nil {
		err = t.track.Try(t.algorithm, t.problem(in, 0))
	}
	if err != nil {
		return fmt.Errorf("%s on dataset %q: %w", t.algorithm.ID, t.Series.Dataset, err)
	}
	if !isFile(t.dataset) {
		succeeded(t.gpu).Store(t.Series, true)
	}
	return nil
}

// A Span is a range of consecutive instances of a trial. Each instance is a cell.
type Span struct {
	*Trial
	// From is the first instance, and To is the instance after the last.
	From, To int
}

// Has reports whether the span contains an instance.
func (s Span) Has(instance int) bool { return s.From <= instance && instance < s.To }

// Span returns the instances from to to-1. It returns a [*datasets.IndexError] if the dataset has fewer instances.
func (t *Trial) Span(from, to int) (Span, error) {
	have := t.dataset.Instances()
	if have > 0 && to > have {
		return Span{}, &datasets.IndexError{Dataset: t.Series.Dataset, Index: to - 1, Instances: have}
	}
	return Span{Trial: t, From: from, To: to}, nil
}

// SpanOf resolves a series and returns its instances 0 to n-1. It passes on the errors of [Resolve] and [Trial.Span].
func SpanOf(models *mig.Catalog, s store.Series, n int) (Span, error) {
	t, err := Resolve(models, s)
	if err != nil {
		return Span{}, err
	}
	return t.Span(0, n)
}

// Competition returns a span of the first instances for each dataset and each entry: the algorithms, followed by those
// of the track's Beside that are not among them. A dataset with fewer instances contributes all that it has. base has
// the conditions and the track, which must be registered. Competition passes on the errors of [Resolve].
func Competition(models *mig.Catalog, base store.Series, algorithms, datasetSpecs []string, instances int,
) ([]Span, error) {
	var out []Span
	entries := make([]track.Reference, 0, len(algorithms))
	for _, id := range algorithms {
		entries = append(entries, track.Reference{Track: base.Track, Algorithm: id})
	}
	for _, r := range track.MustLookup(base.Track).Beside {
		if r.Track != base.Track || !slices.Contains(algorithms, r.Algorithm) {
			entries = append(entries, r)
		}
	}
	for _, dataset := range datasetSpecs {
		for _, e := range entries {
			s := base
			s.Track, s.Dataset, s.Algorithm = e.Track, dataset, e.Algorithm
			t, err := Resolve(models, s)
			if err != nil {
				return nil, err
			}
			n := instances
			have := t.dataset.Instances()
			if have > 0 {
				n = min(n, have)
			}
			out = append(out, Span{Trial: t, To: n})
		}
	}
	return out, nil
}

// Schedule computes a cell of the batch or stream track without a store. It returns the problem and the
// schedule, which the referee has checked. It returns the errors of the dataset and of the algorithm, a
// panic of the algorithm as an error, a [*track.InvalidError] for an invalid schedule, and an error on a track without
// schedules.
func (t *Trial) Schedule(ctx context.Context, instance int) (schedule.Problem, schedule.Schedule, error) {
	a, err := t.Answer(ctx, instance)
	if err == nil && a.Problem.GPU == nil {
		err = fmt.Errorf("%v is of a track without schedules", t.Series)
	}
	return a.Problem, a.Schedule, err
}

// Answer computes a cell of any track without a store. Its errors are those of [Trial.Schedule] except the last.
func (t *Trial) Answer(ctx context.Context, instance int) (track.Answer, error) {
	in, err := t.instance(instance)
	if err != nil {
		return track.Answer{}, err
	}
	return t.solve(ctx, in, instance)
}

// instance generates an instance. A dataset that is a file must still have the contents that it had
// when the series was resolved.
func (t *Trial) instance(index int) (task.Payload, error) {
	in, err := t.dataset.Instance(t.gpu, index)
	if err != nil || !isFile(t.dataset) {
		return in, err
	}
	now, err := describeDataset(t.track, t.dataset, t.gpu)
	if err == nil && now.content != t.Series.Content {
		err = fmt.Errorf("dataset %q changed while it was used; run again", t.Series.Dataset)
	}
	return in, err
}

// Content returns the current content of a dataset on a GPU model. Results with other content are out of
// date. Content resolves no algorithm, so that no external program is started. It returns the same errors
// as [Resolve] for the dataset.
func Content(t *track.Track, dataset string, g *mig.GPU) (string, error) {
	d, err := datasets.Parse(dataset)
	if err != nil {
		return "", err
	}
	about, err := describeDataset(t, d, g)
	return about.content, err
}

// A description holds the fields of a series that follow from the first instance of its dataset.
type description struct {
	// content is a hash of the dataset's first instance and the GPU model, so that results become out of
	// date when either changes.
	content string
	count   int // the number of GPUs; 0 if the dataset does not give it
}

// descriptions holds, for a model, the descriptions of datasets that are not files, by track and dataset.
var descriptions = mig.Derived(func(*mig.GPU) *sync.Map { return new(sync.Map) })

// describeDataset describes a dataset. It refuses a dataset that the track does not support.
func describeDataset(t *track.Track, dataset datasets.Spec, gpu *mig.GPU) (d description, err error) {
	key := [2]string{t.Name, dataset.ID()}
	known, ok := descriptions(gpu).Load(key)
	if ok {
		return known.(description), nil
	}
	in, err := dataset.Instance(gpu, 0)
	if err != nil {
		return d, err
	}
	if in.Kind() != t.Data {
		return d, fmt.Errorf("dataset %q has %s; the %s track needs %s", dataset.ID(), in.Kind(), t.Name, t.Data)
	}
	d.content = hashContent(gpu, dataset, in)
	if t.Count != nil {
		d.count = t.Count(in)
	}
	if !isFile(dataset) {
		descriptions(gpu).Store(key, d)
	}
	return d, nil
}

// isFile reports whether the dataset is a file, which may change while it is used.
func isFile(dataset datasets.Spec) bool { return strings.Contains(dataset.ID(), ":") }

// hashContent hashes the first instance, the other contents of a [datasets.Varied] dataset, and the GPU
// model's geometry, costs and watts.
func hashContent(g *mig.GPU, dataset datasets.Spec, first task.Payload) string {
	d := task.NewDigest()
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
	if w := g.Power; w != nil { // models without it keep their hash
		d.Float(float64(w.Idle))
		d.Int(len(w.Busy))
		for _, watts := range slices.Concat(w.Busy, w.Curve) {
			d.Float(float64(watts))
		}
	}
	first.AddTo(d)
	if v, ok := dataset.(datasets.Varied); ok {
		v.AddTo(d)
	}
	return d.String()
}
