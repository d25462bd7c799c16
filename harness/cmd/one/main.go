package main

// A throw-away command: reproduces one paper. Usage: one RESULTS [paper/artefact]

import (
	"context"
	"fmt"
	"os"

	_ "miglab/algorithms"
	_ "miglab/algorithms/corun"
	_ "miglab/algorithms/dispatch"
	_ "miglab/algorithms/placement"
	_ "miglab/algorithms/rl/agents"
	_ "miglab/bounds"
	"miglab/harness/run"
	"miglab/harness/store"
	figures "miglab/paper-figures"
	paper "miglab/paper-figures/hierarchical"
)

func main() {
	p, err := paper.Paper()
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(2)
	}
	dir := os.Args[1]
	r := &figures.Reproduction{Papers: []figures.Paper{p}, Dir: dir, Engine: func() (*run.Engine, error) {
		st, err := store.Open(dir)
		return &run.Engine{Store: st, Progress: func(done, total int) {
			if done%1000 == 0 {
				fmt.Fprintf(os.Stderr, "\r%d/%d ", done, total)
			}
		}}, err
	}}
	if len(os.Args) > 2 {
		r.Only = func(p, a string) bool { return p+"/"+a == os.Args[2] }
	}
	m, left, err := r.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(left, "artefacts left; printed:", m.Count(figures.Printed), "; stated:", m.Count(figures.Stated))
}
