package atomicfile

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestSweepRemovesWhatKilledWritersLeft(t *testing.T) {
	dir := t.TempDir()
	leftover := ""
	if err := WriteFile(filepath.Join(dir, "table.csv"), func(w io.Writer) error {
		// What is there while a file is written is what a killed process leaves.
		entries, err := os.ReadDir(dir)
		if len(entries) == 1 {
			leftover = filepath.Join(dir, entries[0].Name())
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, prefix+"folder")
	if err := errors.Join(os.WriteFile(leftover, []byte("half a li"), 0o600), os.Mkdir(folder, 0o755)); err != nil {
		t.Fatal(err)
	}
	if err := Sweep(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{prefix + "folder", "table.csv"}; err != nil || !slices.Equal(left, want) {
		t.Errorf("left are %q, %v; want %q", left, err, want)
	}
	if err := Sweep(filepath.Join(dir, "nowhere")); err != nil {
		t.Errorf("a folder that does not exist: %v", err)
	}
	if err := Sweep(filepath.Join(dir, "table.csv")); err == nil {
		t.Error("a file can be swept")
	}
}

func TestLockIsTakenByOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), ".lock")
	unlock, err := Lock(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Lock(ctx, path); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the second lock: %v", err)
	}
	unlock()
	if unlock, err = Lock(t.Context(), path); err != nil { // also from the one that did not wait
		t.Fatal(err)
	}
	unlock()
	if _, err := Lock(t.Context(), filepath.Join(path, "below")); err == nil {
		t.Error("a file below a file was locked")
	}
}
