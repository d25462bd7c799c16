package suite

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"miglab/harness/mig"

	"golang.org/x/sync/errgroup"

	_ "miglab/algorithms"
	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	"miglab/bounds"
	"miglab/bounds/certificate"
	"miglab/datasets"
	"miglab/harness/algo"
	"miglab/harness/run"
	"miglab/harness/track"
)

var (
	freeze  = flag.Bool("freeze", false, "make the suite of candidates.csv and solvers.csv again")
	results = flag.String("results", "", "folder for the results of -freeze, so that it can go on")
)

const (
	// frozenMost is how many instances of each class the suite has at most.
	frozenMost = 60
	// frozenBudget is how long better schedules of an instance are looked for.
	frozenBudget = 12 * time.Second
)

// A candidateRow is some instances under the same conditions: a row of candidates.csv.
type candidateRow struct {
	Track     string `csv:"track"`
	Dataset   string `csv:"dataset"`
	GPU       string `csv:"gpu"`
	GPUs      int    `csv:"gpus"`
	Model     string `csv:"reconfiguration"`
	Instances int    `csv:"instances"`
}

// A solver is an algorithm that the classes are about: a row of solvers.csv. The simple one solves easy instances.
type solver struct {
	Track     string `csv:"track"`
	Algorithm string `csv:"algorithm"`
	Simple    bool   `csv:"simple"`
}

// A candidate is an instance that the suite may take, with what is found about it.
type candidate struct {
	Instance
	Best
	// simple and better are the results of the simple solver, and the best of all solvers.
	simple, better float64
	// proof writes the certificate; nil if there is none.
	proof func(dir string) error
}

// TestFreeze makes the suite, as -update makes golden files:
//
//	go test ./datasets/suite -run TestFreeze -freeze -results /tmp/freeze -timeout 2h
func TestFreeze(t *testing.T) {
	if !*freeze {
		t.Skip("-freeze makes the suite again")
	}
	db, err := run.Open(*results, new(mig.Catalog))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	candidates, solvers := readCandidates(t)
	f := freezer{&run.Engine{Store: db}, solvers}
	if err := f.find(t.Context(), candidates); err != nil {
		t.Fatal(err)
	}
	if err := writeSuite(Version, candidates); err != nil {
		t.Fatal(err)
	}
}

// readCandidates lists the first instance of each row of candidates.csv, then the second of each that has more, and so
// on.
func readCandidates(t *testing.T) (out []candidate, solvers []solver) {
	files := os.DirFS(Version)
	all, err := readRows[candidateRow](files, "candidates.csv")
	if err != nil {
		t.Fatal(err)
	}
	if solvers, err = readRows[solver](files, "solvers.csv"); err != nil {
		t.Fatal(err)
	}
	for index, further := 0, true; further; index++ {
		further = false
		for _, c := range all {
			if index >= c.Instances {
				continue
			}
			further = true
			of := track.MustLookup(c.Track)
			board := of.Boards[of.BoardOf(datasets.RegimeOf(c.Dataset), "")]
			objective := "min "
			if board.Higher {
				objective = "max "
			}
			out = append(out, candidate{Instance: Instance{
				Track: c.Track, Dataset: c.Dataset, Index: index, GPU: c.GPU, GPUs: c.GPUs, Model: c.Model,
				Objective: objective + board.Metric,
			}})
		}
	}
	return out, solvers
}

// A freezer finds out what is known about candidates.
type freezer struct {
	*run.Engine
	solvers []solver
}

func (f *freezer) find(ctx context.Context, candidates []candidate) error {
	var cells []run.Span
	for i := range candidates {
		in := &candidates[i].Instance
		for _, s := range f.solvers {
			if s.Track == in.Track {
				cell, err := in.Cell(s.Algorithm)
				if err != nil {
					return err
				}
				cells = append(cells, cell)
			}
		}
		cell, metric, err := in.bound()
		if err != nil {
			return err
		}
		if metric != "" {
			cells = append(cells, cell)
		}
	}
	if err := f.Run(ctx, cells); err != nil {
		return err
	}
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i := range candidates {
		work.Go(func() error {
			c := &candidates[i]
			if err := f.classify(ctx, c); err != nil {
				return fmt.Errorf("%s, instance %d: %w", c.Dataset, c.Index, err)
			}
			fmt.Fprintln(os.Stderr, c.Track, c.Dataset, c.Index, c.GPU, c.GPUs, c.Class)
			return nil
		})
	}
	return work.Wait()
}

// classify sets the class of a candidate, the best result and a bound.
func (f *freezer) classify(ctx context.Context, c *candidate) error {
	for _, s := range f.solvers {
		if s.Track != c.Track {
			continue
		}
		value, _, err := c.result(f.Store, s.Algorithm)
		if err != nil {
			return err
		}
		if c.Algorithm == "" || c.Excess(value, c.better) < 0 {
			c.better, c.Algorithm = value, s.Algorithm
		}
		if s.Simple {
			c.simple = value
		}
	}
	certified, err := f.prove(ctx, c)
	if err != nil {
		return err
	}
	c.By, c.Date = "miglab", time.Now().UTC().Format(time.DateOnly)
	c.BoundBy, c.BoundDate = c.By, c.Date
	switch {
	case !c.Closed() || !certified && c.Value != 0:
		c.Class = Open
	case c.Excess(c.simple, c.Value) <= 0:
		c.Class = Easy
	case c.Excess(c.better, c.Value) <= 0:
		c.Class = Medium
	default:
		c.Class = Hard
	}
	return nil
}

// prove sets the best result and the bound, and reports whether there is a certificate. For a batch, a longer search
// looks for a better schedule.
func (f *freezer) prove(ctx context.Context, c *candidate) (certified bool, err error) {
	if c.Track == algo.TrackBatch {
		p, err := c.Problem()
		if err != nil {
			return false, err
		}
		proof, err := bounds.Best(ctx, p, frozenBudget)
		c.Value, c.Best.Bound, c.Algorithm = float64(proof.Makespan), float64(proof.Lower), proof.Schedule.Algorithm
		c.proof = func(dir string) error { return encodeCertificate(dir, c.Instance.ID, p, proof) }
		return true, err
	}
	if c.Value, c.Best.Bound, err = c.result(f.Store, c.Algorithm); err != nil {
		return false, err
	}
	g, requests, err := c.Requests()
	if err != nil || requests == nil {
		return false, err
	}
	instants, err := bounds.ProveOffline(ctx, g, requests.GPUs, requests.Requests)
	if err != nil {
		return false, err
	}
	proof, err := certificate.NewAcceptance(g, requests.GPUs, requests.Requests, instants)
	c.Best.Bound = float64(proof.AtMost) / float64(proof.Requests)
	c.proof = func(dir string) error {
		var text bytes.Buffer
		if err := certificate.EncodeAcceptance(&text, proof); err != nil {
			return err
		}
		return writeCertificate(dir, c.Instance.ID, text.Bytes())
	}
	return true, err
}

// writeSuite writes the first candidates of each class.
func writeSuite(dir string, all []candidate) error {
	var a Archive
	kept, number := map[string]int{}, map[string]int{}
	for i := range all {
		c := &all[i]
		if kept[c.Class]++; kept[c.Class] > frozenMost {
			continue
		}
		number[c.Track]++
		c.Instance.ID = fmt.Sprintf("%s-%03d", c.Track, number[c.Track])
		c.Best.ID = c.Instance.ID
		text, _, err := c.encode()
		if err != nil {
			return err
		}
		c.Hash = hexHash(text)
		if c.proof != nil {
			if err := c.proof(dir); err != nil {
				return err
			}
		}
		a.Instances, a.Best = append(a.Instances, c.Instance), append(a.Best, c.Best)
	}
	return a.Write(dir)
}
