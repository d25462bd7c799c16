package run

import (
	"slices"

	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/track"
)

// Competition lists the cells of algorithms on so many instances of each dataset, or on all that
// it has, and of the references that the track compares them with. base has the track and the
// conditions. Errors are those of [datasets.Parse] and [Series.Cells].
func Competition(base Series, algorithms, specs []string, instances int) ([]Cell, error) {
	var cells []Cell
	for _, d := range specs {
		spec, err := datasets.Parse(d)
		if err != nil {
			return nil, err
		}
		n := instances
		if have := spec.Instances(); have > 0 {
			n = min(n, have)
		}
		add := func(of algo.Track, id string) error {
			s := base
			s.Track, s.Dataset, s.Algorithm = of, d, id
			own, err := s.Cells(n)
			cells = append(cells, own...)
			return err
		}
		for _, id := range algorithms {
			if err := add(base.Track, id); err != nil {
				return nil, err
			}
		}
		for _, r := range track.Of(base.Track).Beside {
			if r.Track == base.Track && slices.Contains(algorithms, r.Algorithm) {
				continue
			}
			if err := add(r.Track, r.Algorithm); err != nil {
				return nil, err
			}
		}
	}
	return cells, nil
}
