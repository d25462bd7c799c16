package session

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling"
)

// TestUnknownProfiles: each entry of a journal that is wrong is named, even if two begin at the same slice.
func TestUnknownProfiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal")
	raw := `{"process":5,"instances":[{"profile":"8g","start":0},{"profile":"9g","start":0}]}`
	if err := os.WriteFile(path, []byte(raw), 0o644); err != nil {
		t.Fatal(err)
	}
	_, _, err := readJournal(path, mig.MustLookup("A100"))
	if err == nil || !strings.Contains(err.Error(), "8g") || !strings.Contains(err.Error(), "9g") {
		t.Errorf("%v; want both profiles", err)
	}
}

// FuzzReadJournal checks that no journal makes the reader fail in another way than it says, and that what is read is
// on the GPU.
func FuzzReadJournal(f *testing.F) {
	f.Add([]byte(`{"boot":"b","process":5,"turned_mig_on":true,"before":[{"profile":"2g.10gb","start":4,"id":1,"uuid":"MIG-x"}],` +
		`"instances":[{"profile":"1g.5gb","start":0,"creating":true},{"profile":"1g.5gb","start":1,"uuid":"MIG-y"}]}`))
	f.Add([]byte(`{"process":5,"instances":[{"profile":"9g","start":-1}]}`))
	g, path := mig.MustLookup("A100"), filepath.Join(f.TempDir(), "journal")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if err := os.WriteFile(path, raw, 0o644); err != nil {
			t.Fatal(err)
		}
		_, left, err := readJournal(path, g)
		if journal, ok := errors.AsType[*profiling.DeviceError](err); err != nil && (!ok || journal.Op != path) {
			t.Fatalf("%#v", err)
		}
		for at := range left {
			if !slices.Contains(at.Profile.Starts, at.Start) {
				t.Errorf("%s cannot be", instanceName(at))
			}
		}
	})
}
