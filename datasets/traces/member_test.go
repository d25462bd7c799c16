package traces

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestEmptyMember: a member with an empty name is not the end of its object.
func TestEmptyMember(t *testing.T) {
	d := json.NewDecoder(strings.NewReader(`{"": 0, "jobs": [], "": 1, "more": 2}`))
	if err := enter(d, "jobs"); err != nil {
		t.Fatal(err)
	}
	if err := leave(d, "jobs"); err != nil {
		t.Error(err)
	}
}
