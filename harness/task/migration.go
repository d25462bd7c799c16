package task

import "fmt"

// Migration limits the moves of workloads in a cluster. The zero value allows no moves.
//
// MIG has no live migration. A move is a checkpoint and a restart: the workload stops, its state is saved to the memory
// of the host, its instance is destroyed and another one is created. The old slices are free in the slot of the move.
// The workload holds its new slices from the same slot on, pauses for Downtime slots and departs that much later. If a
// real checkpoint holds the old slices for longer, moves gain less than simulated.
type Migration struct {
	// Moves is the largest number of moves of the whole cluster in any Window consecutive slots.
	Moves, Window int
	// Downtime is the number of slots for which a moved workload pauses. It is not moved again during the pause.
	Downtime int
}

// maxDowntime keeps departures within an int.
const maxDowntime = 1 << 31

// Check returns an error if the numbers do not describe a budget.
func (m Migration) Check() error {
	if m.Moves < 0 || m.Downtime < 0 || m.Downtime > maxDowntime || m.Moves > 0 && m.Window < 1 {
		return fmt.Errorf("%d moves in %d slots with a downtime of %d slots; "+
			"give at least 0 moves, 1 slot, and a downtime from 0 to %d", m.Moves, m.Window, m.Downtime, maxDowntime)
	}
	return nil
}
