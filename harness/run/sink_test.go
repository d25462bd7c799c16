package run

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"miglab/harness/store"
)

func TestSinkTakesTheResults(t *testing.T) {
	dir, shards := t.TempDir(), t.TempDir()
	st := open(t, shards)
	sink := func() (store.Sink, error) { return st.Segments(dir, "a", time.Hour) }
	cells := everything(t, 4)
	mustRun(t, Engine{Store: st, Sink: sink}, cells)
	got, damaged, err := store.OpenSegments(dir, "a")
	if err != nil || got.Len() != len(cells) || st.Len() != len(cells) || damaged != nil {
		t.Errorf("%d rows in segments and %d in memory, %v, %v; want %d", got.Len(), st.Len(), damaged, err, len(cells))
	}
	if n := open(t, shards).Len(); n != 0 {
		t.Errorf("the shard has %d rows", n)
	}
	// What is there is not computed again.
	before := calls.Load()
	mustRun(t, Engine{Store: got, Sink: sink}, cells)
	if n := calls.Load() - before; n != 0 {
		t.Errorf("%d cells computed again", n)
	}
}

// A brokenSink fails at every turn with one error.
type brokenSink struct{ err error }

func (s brokenSink) Append(...store.Record) error { return s.err }
func (s brokenSink) Close() error                 { return s.err }

func TestSinkThatFails(t *testing.T) {
	broken := errors.New("disk full")
	cells := cellsOf(t, series("test-fifo"), 3)
	for what, sink := range map[string]func() (store.Sink, error){
		"opening": func() (store.Sink, error) { return nil, broken },
		"writing": func() (store.Sink, error) { return brokenSink{broken}, nil },
	} {
		e := Engine{Store: open(t, t.TempDir()), Sink: sink}
		if _, err := e.Run(context.Background(), cells); !errors.Is(err, broken) || err.Error() != "disk full" {
			t.Errorf("%s: %q, want the error once", what, err)
		}
	}
}

func TestKeys(t *testing.T) {
	cells := slices.Concat(cellsOf(t, series("test-fifo"), 3), cellsOf(t, series("test-stream"), 2), cellsOf(t, series("test-fifo"), 1))
	i := 0
	for c, k := range Keys(cells) {
		if c != &cells[i] || k != c.Key() {
			t.Errorf("cell %d is %v with key %v, want %v with key %v", i, c, k, cells[i], cells[i].Key())
		}
		i++
	}
	if i != len(cells) {
		t.Errorf("%d keys of %d cells", i, len(cells))
	}
	for range Keys(cells) {
		break
	}
}
