//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package devicetest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
)

func open(t *testing.T, path string, opts ...devicetest.Option) *devicetest.GPU {
	t.Helper()
	d, err := devicetest.Open(path, a100, append(opts, devicetest.Scale(0))...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTwoShareAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gpu")
	d := open(t, path, devicetest.MIGOff())
	mode(t, d, false, false)
	other := open(t, path)
	mode(t, other, false, false) // The options are for a new file.
	if err := other.SetMIG(true); err != nil {
		t.Fatal(err)
	}
	i := create(t, d, on(a100, 3, 4))
	end := d.Use(i.ID, 77, "kernel")
	_, err := other.Create(on(a100, 1, 5))
	wants(t, err, profiling.ErrInsufficient, "create 1g.5gb at 5")
	wants(t, other.Destroy(i.ID), profiling.ErrBusy, "destroy instance 0")
	end()
	destroy(t, other, i)
	if all := instances(t, d); len(all) > 0 {
		t.Errorf("instances %v", all)
	}
	other.Lose()
	_, err = d.Identify()
	wants(t, err, profiling.ErrLost, "identify the GPU")
	d.Reset()
	mode(t, open(t, path), true, true)
}

func TestTwoCreateInAFileAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gpu")
	d := []*devicetest.GPU{open(t, path), open(t, path)}
	done := make(chan error)
	for start := range mig.Slices(7) {
		go func() {
			_, err := d[start%2].Create(on(a100, 1, start))
			done <- err
		}()
	}
	for range 7 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	ids := map[int]bool{}
	for _, i := range instances(t, d[0]) {
		ids[i.ID] = true
	}
	if len(ids) != 7 {
		t.Errorf("IDs %v, want 7", ids)
	}
}

func TestNoGPUInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gpu")
	if err := os.WriteFile(path, []byte("hello"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := devicetest.Open(path, a100); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if _, err := devicetest.Open(filepath.Join(path, "gpu"), a100); err == nil {
		t.Error("a file where there is no folder")
	}
}
