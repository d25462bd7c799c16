//go:build unix

package mig_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/nearest"
)

// Names in data open no files: only what a user writes on the command line may.
func TestLookupOpensNoFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gpu.json")
	if err := os.WriteFile(file, []byte(half(t, "Unasked-20SM")), 0o600); err != nil {
		t.Fatal(err)
	}
	var models mig.Catalog
	if _, err := models.Lookup(file); err == nil {
		t.Errorf("%s was read", file)
	} else if _, ok := errors.AsType[*nearest.UnknownError](err); !ok {
		t.Errorf("the error is %T: %v", err, err)
	}
	if g, err := models.Lookup("Unasked-20SM"); err == nil {
		t.Errorf("%s was added", g)
	}
	if g, err := models.LookupOrRead(file); err != nil || g.Name != "Unasked-20SM" {
		t.Errorf("from the command line: %v, %v", g, err)
	}
	if g, err := models.LookupOrRead("a100"); err != nil || g.Name != "A100" {
		t.Errorf("from the command line: %v, %v", g, err)
	}
}

func TestModelsAreReadWithinLimits(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name+".json") }
	if err := errors.Join(
		os.WriteFile(file("large"), []byte(half(t, "Large-20SM")), 0o600), os.Truncate(file("large"), 1<<20+1),
		syscall.Mkfifo(file("fifo"), 0o600), os.Symlink("/dev/zero", file("zero")),
	); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"large": "at most 1 MiB", "fifo": "not a regular file", "zero": "not a regular file"} {
		if name == "fifo" { // has no writer; a program that opens it waits until this test does
			go func() {
				if f, err := os.OpenFile(file(name), os.O_WRONLY, 0); err == nil {
					f.Close()
				}
			}()
		}
		_, err := new(mig.Catalog).LookupOrRead(file(name))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file(name)) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
