package run

import (
	"fmt"

	"miglab/harness/store"
)

// A plan is what is left to do.
type plan struct {
	jobs []job
	// total counts the shard's cells and done those that have a result.
	total, done int
}

// A job is the missing cells of one instance.
type job struct {
	key   instanceKey
	tasks []jobTask
}

type jobTask struct {
	series *resolved
	// cell is the canonical JSON.
	cell string
}

// plan finds the shard's cells without a result and groups them by instance, in
// the order in which they are listed first.
func (e *Engine) plan(cells []Cell) (*plan, error) {
	p := &plan{}
	known := map[Series]*planned{}
	groups := map[instanceKey]int{}
	missing := map[store.Key]bool{}
	var current *planned
	var buf []byte
	for i := range cells {
		c := &cells[i]
		if current == nil || c.Series != current.series {
			if current = known[c.Series]; current == nil {
				r, err := resolveCell(*c)
				if err != nil {
					return nil, err
				}
				current = &planned{r, r.series.appendJSON(nil)}
				known[c.Series] = current
			}
		}
		if err := current.checkVersion(c); err != nil {
			return nil, err
		}
		instance := c.instanceKey()
		if !e.Shard.holds(instance) {
			continue
		}
		buf = appendCell(append(buf[:0], current.json...), c.Version, c.Instance)
		key := store.KeyOf(buf)
		if missing[key] {
			continue
		}
		p.total++
		if row, ok := e.Store.Get(key); ok && row.Kind != store.KindTimeout {
			p.done++
			continue
		}
		missing[key] = true
		g, ok := groups[instance]
		if !ok {
			g = len(p.jobs)
			groups[instance] = g
			p.jobs = append(p.jobs, job{key: instance})
		}
		p.jobs[g].tasks = append(p.jobs[g].tasks, jobTask{current.resolved, string(buf)})
	}
	return p, nil
}

// planned is a series with the beginning of its cells' JSON.
type planned struct {
	*resolved
	json []byte
}

// resolveCell resolves a cell, which must be canonical.
func resolveCell(c Cell) (*resolved, error) {
	r, err := resolve(c.Series)
	if err != nil {
		return nil, err
	}
	if r.series != c.Series {
		return nil, &CellError{c, "is not canonical, or its tasks file has changed; make cells with Series.Cells"}
	}
	return r, r.checkVersion(&c)
}

func (r *resolved) checkVersion(c *Cell) error {
	if now := r.algorithm.Spec.Version; c.Version != now {
		return &CellError{*c, fmt.Sprintf("cannot be computed; the algorithm is at version %d", now)}
	}
	return nil
}
