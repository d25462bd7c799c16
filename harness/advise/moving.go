package advise

import "miglab/harness/stats"

// A Moving says how much moves gain at one cost. It compares two policies that place by the same rule, of which [Mover]
// also moves running requests while others wait.
type Moving struct {
	Cost  float64 // the seconds for which a moved request makes no progress
	Moves int     // the number of moves
	// Less is the mean delay without moves minus the mean delay with moves. Pauses after moves are part of the delay.
	Less stats.BlockEstimate
	// Apart says that Less is certainly not 0, with Bonferroni's correction for the number of costs.
	Apart bool
}

// Still is the policy that places as [Mover] does and moves no request.
const Still, Mover = "mfi", "replan"

// moveCosts are the compared costs of a move, in seconds.
var moveCosts = []float64{0, 10, 30, 120}

// mostMoves is more than any policy moves: moves are not limited.
const mostMoves = 1 << 30

// moving simulates the cluster with moves at each cost. It leaves out costs whose simulation failed.
func (a *adviser) moving() (out []Moving, err error) {
	all := []Simulation{{Policy: Still, GPUs: a.in.GPUs}}
	for _, cost := range moveCosts {
		all = append(all, Simulation{Policy: Mover, GPUs: a.in.GPUs, Moves: true, MoveCost: cost})
	}
	outcomes, err := a.run(all)
	if err != nil {
		return nil, err
	}
	for i, cost := range moveCosts {
		o := outcomes[i+1]
		if o.Error == "" && outcomes[0].Error == "" {
			less := a.mean(difference(outcomes[0].Bins, o.Bins))
			out = append(out, Moving{Cost: cost, Moves: o.Moves, Less: less, Apart: certain(less, len(moveCosts))})
		}
	}
	return out, nil
}
