package main

import (
	"io"
	"testing"
)

// Of several wrong flags the message names the same one every time.
func TestWrongFlagsGiveOneMessage(t *testing.T) {
	for _, args := range [][]string{
		{"run", "--track", "corun", "--algorithms", "local", "--datasets", "corun/queues", "--gpus", "2", "--reconfiguration", "free"},
		{"leaderboard", "--track", "dispatch", "--reconfiguration", "free", "--gpus", "2"},
	} {
		want := ""
		for range 40 {
			c := newRun()
			if args[0] == "leaderboard" {
				c = newLeaderboard()
			}
			c.SetArgs(args[1:])
			c.SetOut(io.Discard)
			c.SetErr(io.Discard)
			c.SilenceUsage, c.SilenceErrors = true, true
			err := c.Execute()
			if err == nil {
				t.Fatalf("%q: no error", args)
			}
			if want == "" {
				want = err.Error()
			}
			if err.Error() != want {
				t.Fatalf("%q: %v and %s", args, err, want)
			}
		}
	}
}
