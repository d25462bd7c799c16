package figures

import (
	"io/fs"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// Load returns a paper with its claims (see [LoadClaims]) and the terms of terms.csv. Its title and
// its artefacts are still missing.
func Load(name string, files fs.FS) (Paper, error) {
	claims, err := LoadClaims(name, files)
	if err != nil {
		return Paper{}, err
	}
	terms, err := ReadCSV[Term](name, files, "terms.csv")
	if err != nil {
		return Paper{}, err
	}
	return Paper{Name: name, Claims: claims, Terms: terms.Rows}, nil
}

// Instance returns an instance of a dataset that is fixed in the program. It panics if there is none.
func Instance[T task.Payload](dataset, gpu string, index int) T {
	in, err := datasets.InstanceOf[T](datasets.MustParse(dataset), mig.MustLookup(gpu), index)
	if err != nil {
		panic(err)
	}
	return in
}

// Map returns what f makes of each value.
func Map[V, T any](values []V, f func(V) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}

// Count returns how many of the values are so.
func Count[V any](values []V, is func(V) bool) (n int) {
	for _, v := range values {
		if is(v) {
			n++
		}
	}
	return n
}
