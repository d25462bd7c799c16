package session

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"miglab/harness/mig"
)

// FuzzReplay checks that no journal makes the reader fail in another way than it says,
// that every beginning of a journal is one, and that what is read is on the GPU.
func FuzzReplay(f *testing.F) {
	const whole = `{"event":"begin","boot":"b","process":5,"before":[{"profile":"2g.10gb","start":4,"id":1,"uuid":"MIG-x"}]}
{"event":"turn MIG on"}
{"event":"create","instance":{"profile":"1g.5gb","start":0}}
{"event":"created","instance":{"profile":"1g.5gb","start":0,"uuid":"MIG-y"}}
{"event":"create","instance":{"profile":"2g.10gb","start":4}}
{"event":"not created","instance":{"profile":"2g.10gb","start":4}}
{"event":"destroyed","instance":{"profile":"1g.5gb","start":0}}
`
	f.Add([]byte(whole))
	f.Add([]byte(whole[:300]))
	f.Add([]byte("{\"event\":\"begin\"}\n\x00\x00"))
	f.Add([]byte("{\"event\":\"begin\"}\n{\"event\":\"create\",\"instance\":{\"profile\":\"9g\",\"start\":-1}}\n"))
	g := mig.MustLookup("A100")
	f.Fuzz(func(t *testing.T, raw []byte) {
		r, err := replay(raw, "j", g)
		if err != nil {
			var journal *JournalError
			if !errors.As(err, &journal) || journal.Line < 1 || journal.Line > 1+bytes.Count(raw, []byte("\n")) {
				t.Fatalf("%#v", err)
			}
			return
		}
		for at := range r.left {
			if !slices.Contains(at.Profile.Starts, at.Start) {
				t.Errorf("%s cannot be", name(at))
			}
		}
		if _, err := replay(raw[:bytes.LastIndexByte(bytes.TrimSuffix(raw, []byte("\n")), '\n')+1], "j", g); err != nil {
			t.Errorf("without its last line: %v", err)
		}
	})
}

func TestJournalReadsWhatItWrote(t *testing.T) {
	g := mig.MustLookup("A100")
	path := filepath.Join(t.TempDir(), "journal")
	j, err := create(path, entry{Event: begun, Boot: "b", PID: 5})
	if err != nil {
		t.Fatal(err)
	}
	write := func(es ...entry) {
		t.Helper()
		for _, e := range es {
			if err := j.append(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	left, gone := place{Profile: "3g.20gb", Start: 4, ID: 2, UUID: "MIG-2"}, place{Profile: "1g.5gb"}
	write(entry{Event: modeOn}, entry{Event: intended, Instance: &left}, entry{Event: intended, Instance: &gone}, entry{Event: created, Instance: &left})
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"event":"des`); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if j, _, err = reopen(path, g); err != nil {
		t.Fatal(err)
	}
	write(entry{Event: failed, Instance: &gone})
	if err := j.close(); err != nil {
		t.Fatal(err)
	}
	j, r, err := reopen(path, g)
	if err != nil {
		t.Fatal(err)
	}
	want := map[mig.Instance]made{{Profile: g.Profile(3), Start: 4}: {there, 2, "MIG-2", false}}
	if r.boot != "b" || r.pid != 5 || !r.turnedOn || !maps.Equal(r.left, want) {
		t.Errorf("read %+v", r)
	}
	if err := j.remove(); err != nil {
		t.Error(err)
	}
	if j, _, err := reopen(path, g); j != nil || err != nil {
		t.Errorf("a removed journal is %v, %v", j, err)
	}
	if _, err := create(filepath.Join(path, "no folder"), entry{Event: begun}); err == nil {
		t.Error("a journal where there is no folder")
	}
}

func TestJournalCutAnywhere(t *testing.T) {
	const whole = `{"event":"begin","boot":"b","process":5}
{"event":"create","instance":{"profile":"1g.5gb","start":0}}
{"event":"created","instance":{"profile":"1g.5gb","start":0,"uuid":"MIG-y"}}
{"event":"destroyed","instance":{"profile":"1g.5gb","start":0}}
`
	g := mig.MustLookup("A100")
	path := filepath.Join(t.TempDir(), "journal")
	for n := range len(whole) + 1 {
		if err := os.WriteFile(path, []byte(whole[:n]), 0o644); err != nil {
			t.Fatal(err)
		}
		j, r, err := reopen(path, g)
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		if err := j.close(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Count(whole[:n], "\n")
		if want := []stage{"", "", creating, there, ""}[lines]; r.left[mig.Instance{Profile: g.Profile(1)}].stage != want {
			t.Errorf("cut at %d: %+v", n, r)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != whole[:strings.LastIndex(whole[:n], "\n")+1] {
			t.Errorf("cut at %d: %q, %v remains", n, raw, err)
		}
	}
}
