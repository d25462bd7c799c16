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

// gaussian makes about 327,000 launches: counters are read of the first 200 unless asked otherwise.
func TestCountersOfFewLaunches(t *testing.T) {
	profile := newProfile()
	c, _, err := profile.Find([]string{"counters"})
	if err != nil {
		t.Fatal(err)
	}
	if f := c.Flags().Lookup("launch-count"); f == nil || f.DefValue != "200" {
		t.Errorf("--launch-count: %+v, want the default 200", f)
	}
}
