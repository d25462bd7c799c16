package sweep

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// A unitDone is the file that says that a unit is done.
type unitDone struct {
	Unit string `json:"unit"`
	// Run is the run of a task that did it.
	Run string `json:"run"`
}

func unitPath(folder string, unit int) string {
	return filepath.Join(folder, "units", fmt.Sprintf("%04d.json", unit))
}

// unitIsDone reports whether there is an intact file that says so.
func (p *Plan) unitIsDone(folder string, unit int) (bool, *Damage, error) {
	path := unitPath(folder, unit)
	var d unitDone
	damage, err := readIntact(path, &d)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil, nil
	case err != nil || damage != nil:
		return false, damage, err
	case d.Unit != p.Units[unit]:
		return false, &Damage{Path: path, Reason: fmt.Sprintf("it is about %q and not about %q", d.Unit, p.Units[unit])}, nil
	}
	return true, nil, nil
}

// WorkUnits does the units of a task that are not done, one after the other, up to
// the first that fails. The two last arguments are as those of [Work], and do does a
// unit; it may be called for a unit that another run of the task has begun.
func WorkUnits(ctx context.Context, folder string, p *Plan, task int, runName string, do func(ctx context.Context, unit string) error) error {
	return p.attempt(ctx, folder, task, runName, func(report func(done, total int)) error {
		var own []int
		for _, r := range p.Tasks[task] {
			for u := r.From; u < r.To; u++ {
				own = append(own, u)
			}
		}
		for i, u := range own {
			report(i, len(own))
			done, _, err := p.unitIsDone(folder, u)
			if err != nil {
				return err
			}
			if done {
				continue
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(ctx, p.Units[u]); err != nil {
				return err
			}
			if err := writeJSON(unitPath(folder, u), unitDone{p.Units[u], runName}); err != nil {
				return err
			}
		}
		report(len(own), len(own))
		return nil
	})
}
