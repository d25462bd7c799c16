package suite

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"miglab/bounds/certificate"
	"miglab/harness/atomicfile"
	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/strictcsv"
)

// Solvers find what is known about an instance when a suite is frozen.
type Solvers struct {
	// Simple and Better return the makespans of the simple algorithm and of the better ones.
	Simple, Better func(context.Context, schedule.Problem) (mig.Seconds, error)
	// Best returns the best schedule that a long run or an exact search finds, and a proven bound.
	Best func(context.Context, schedule.Problem) (certificate.Certificate, error)
}

// A candidate is instances of which a suite takes some: a row of candidates.csv.
type candidate struct {
	Dataset   string `csv:"dataset"`
	GPU       string `csv:"gpu"`
	GPUs      int    `csv:"gpus"`
	Model     string `csv:"reconfiguration"`
	Instances int    `csv:"instances"`
}

// Freeze makes a suite of the candidates.csv in a folder: at most so many instances of each class, the first of all
// candidates before the second of any. The class follows from what the solvers find, by the rule in README.md.
func Freeze(ctx context.Context, dir string, most int, by, date string, solvers Solvers, report func(Instance)) error {
	candidates, err := rows[candidate](os.DirFS(dir), "candidates.csv")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "best"), 0o755); err != nil {
		return err
	}
	var instances []Instance
	var best []Best
	kept := map[string]int{}
	for index, further := 0, true; further; index++ {
		further = false
		for _, c := range candidates {
			if index >= c.Instances {
				continue
			}
			further = true
			in := Instance{
				ID: fmt.Sprintf("batch-%03d", len(instances)+1), Track: "batch", Dataset: c.Dataset, Index: index,
				GPU: c.GPU, GPUs: c.GPUs, Model: c.Model,
			}
			p, claim, err := in.classify(ctx, solvers)
			if err != nil {
				return fmt.Errorf("%s, instance %d: %w", c.Dataset, index, err)
			}
			report(in)
			if kept[in.Class]++; kept[in.Class] > most {
				continue
			}
			if err := writeCertificate(dir, in.ID, p, claim); err != nil {
				return err
			}
			instances = append(instances, in)
			best = append(best, Best{in.ID, claim.Makespan, claim.Lower, by, date, claim.Schedule.Algorithm})
		}
	}
	if err := writeBest(dir, best); err != nil {
		return err
	}
	return writeInstances(dir, instances)
}

// classify sets the class and the hash of an instance.
func (in *Instance) classify(ctx context.Context, with Solvers) (p schedule.Problem, c certificate.Certificate, err error) {
	if p, err = in.Problem(); err != nil {
		return p, c, err
	}
	text, err := in.encode(p)
	if err != nil {
		return p, c, err
	}
	in.Hash = hashOf(text)
	simple, err := with.Simple(ctx, p)
	if err != nil {
		return p, c, err
	}
	better, err := with.Better(ctx, p)
	if err != nil {
		return p, c, err
	}
	c, err = with.Best(ctx, p)
	switch closed := c.Makespan * (1 + equal); {
	case !c.Proven:
		in.Class = Open
	case simple <= closed:
		in.Class = Easy
	case better <= closed:
		in.Class = Medium
	default:
		in.Class = Hard
	}
	return p, c, err
}

func writeInstances(dir string, all []Instance) error {
	var text bytes.Buffer
	err := strictcsv.Write(&text, strictcsv.Columns[Instance](), len(all), func(i int) []string {
		in := &all[i]
		return []string{
			in.ID, in.Track, in.Class, in.Dataset, strconv.Itoa(in.Index), in.GPU, strconv.Itoa(in.GPUs), in.Model, in.Hash,
		}
	})
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, "instances.csv"), text.Bytes())
}
