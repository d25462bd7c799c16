package algotest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/datasets"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim"
	"miglab/harness/sim/corun"
	"miglab/harness/spec"
	"miglab/harness/task"
)

// TestEveryDataset asks every family, with every listed value of each parameter, for an instance on every
// model. Either the instance is valid and is read back from its file, or an error names the model.
func TestEveryDataset(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data.csv")
	got := map[string]int{}
	for _, g := range models(t) {
		for _, info := range datasets.List() {
			if strings.HasSuffix(info.Name, ":"+datasets.FileKey) {
				continue // readBack reads these
			}
			for _, id := range variants(info) {
				var kind string
				err := guarded(t, func(context.Context) (err error) {
					kind, err = instance(g, id, path, id == info.Name)
					return err
				})
				_, invalid := errors.AsType[invalidError](err)
				_, panicked := errors.AsType[panicError](err)
				if invalid || panicked || err != nil && !strings.Contains(err.Error(), g.Name) {
					t.Errorf("%s on %s: %v", id, g, err)
				}
				got[kind]++
			}
		}
	}
	if got["tasks"] < 100 || got["requests"] < 50 || got["jobs"] == 0 {
		t.Errorf("there are too few instances: %v", got)
	}
}

// An invalidError says what is wrong with an instance that a dataset gives.
type invalidError struct{ error }

func (e invalidError) Unwrap() error { return e.error }

// instance returns the kind of a dataset's first instance, which it checks; "" if the parameters exclude
// one another. It may write the instance to a file and read that. An error that is not an [invalidError] is
// the dataset's own.
func instance(g *mig.GPU, id, path string, file bool) (string, error) {
	d, err := datasets.Parse(id)
	if _, exclude := errors.AsType[*spec.ParameterError](err); exclude {
		return "", nil
	}
	if err != nil {
		return "", invalidError{err}
	}
	in, err := d.Instance(g, 0)
	if err != nil {
		return "", err
	}
	err = legal(g, in)
	if err == nil && file {
		err = readBack(path, families[in.Kind()], g, in)
	}
	if err != nil {
		return "", invalidError{err}
	}
	return in.Kind(), nil
}

// families has the family that reads the files of a kind of payload.
var families = map[string]string{"tasks": "profile:", "requests": "requests:", "jobs": "jobs:", "programs": "corunfile:"}

// variants returns a dataset with its defaults, and with every other listed value of each parameter.
func variants(info datasets.Family) []string {
	ids := []string{info.Name}
	join := "?"
	if strings.Contains(info.Name, "?") {
		join = "&"
	}
	for _, p := range info.Params {
		for _, v := range p.Values {
			if v != p.Default {
				ids = append(ids, info.Name+join+p.Name+"="+v)
			}
		}
	}
	return ids
}

// legal returns what is wrong with an instance.
func legal(g *mig.GPU, in task.Payload) error {
	switch in := in.(type) {
	case task.Batches:
		if err := in.Tasks.Validate(g); err != nil {
			return err
		}
		p := schedule.Problem{GPU: g, Start: in.Start, Release: in.Releases(), Tasks: in.Tasks}
		for _, v := range schedule.Check(p, schedule.Schedule{GPU: g}) {
			if v.Kind == schedule.BadProblem {
				return v
			}
		}
		n := 0
		for _, length := range in.Lengths {
			n += length
		}
		if n != len(in.Tasks) {
			return fmt.Errorf("the lengths are %v, and there are %d tasks", in.Lengths, len(in.Tasks))
		}
	case task.Requests:
		if len(in.Demand) != 0 && len(in.Demand) != len(task.RequestProfiles(g)) {
			return fmt.Errorf("the demand is %v", in.Demand)
		}
		_, err := sim.RunPlacement(g, in.GPUs, in.Requests, rejecting{}, sim.SteadyWindow, in.Migration)
		return err
	case task.Queue:
		for _, part := range in.Fleet.Partitions {
			if !slices.ContainsFunc(g.Partitions(), func(o mig.Partition) bool { return slices.Equal(part, o) }) {
				return fmt.Errorf("%s has no partition %s", g, part)
			}
		}
		_, err := sim.NewDispatch(in.Jobs, in.Fleet)
		return err
	case corun.Window:
		if v := in.Check(); v != nil {
			return &corun.InvalidError{Violations: v}
		}
	}
	return nil
}

// rejecting places nothing.
type rejecting struct{}

func (rejecting) Place(*sim.Cluster, int) (sim.Spot, bool) { return sim.Spot{}, false }

// readBack writes an instance to a file, and reads it as a dataset.
func readBack(path, family string, g *mig.GPU, in task.Payload) error {
	var text, again bytes.Buffer
	if err := in.WriteCSV(&text, g); err != nil {
		return err
	}
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return err
	}
	back, err := datasets.MustParse(family+path).Instance(g, 0)
	if err != nil {
		return err
	}
	if err := back.WriteCSV(&again, g); err != nil || again.String() != text.String() {
		return fmt.Errorf("the file changes when it is read and written again: %w", err)
	}
	return nil
}
