package track_test

import (
	"os"
	"strings"
	"testing"

	"miglab/harness/track"
)

// A contest of a track that does not exist would be lost.
func TestContestsAreThoseOfTracks(t *testing.T) {
	text, err := os.ReadFile("contests.csv")
	if err != nil {
		t.Fatal(err)
	}
	lost := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			lost++
		}
	}
	for _, x := range track.All() {
		lost -= len(x.Contests)
	}
	if lost != 0 {
		t.Errorf("%d contests are of no track", lost)
	}
}
