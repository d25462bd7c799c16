//go:build cgo && linux

package nvml_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"miglab/harness/deep"
	"miglab/profiling"
	"miglab/profiling/nvml/nvmltest"
	"miglab/profiling/session"
)

// A folder holds the journals of sessions on the stub.
type folder string

// open begins a session that has no patience.
func (f folder) open(t *testing.T, d profiling.Device) *session.Session {
	t.Helper()
	s, err := session.Open(t.Context(), d, session.Options{Dir: string(f), Patience: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// journals says how many there are.
func (f folder) journals(t *testing.T, want int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(string(f), "*.journal"))
	if err != nil || len(files) != want {
		t.Errorf("journals %q, %v; want %d", files, err, want)
	}
}

// TestSession has sessions clean up after a driver that fails.
func TestSession(t *testing.T) {
	onStub(t, []stubTest{
		// Whatever call fails, and however often: what is on the GPU in the end is there for
		// the journal to tell, and the next session on a driver that works takes it away.
		{name: "calls fail", run: func(t *testing.T, s nvmltest.State) {
			d := open(t)
			three := at(t, "A100", "3g.20gb", 4)
			theirs := create(t, d, "1g.5gb", 0)
			for _, times := range []int{1, 2, -1} {
				f := folder(t.TempDir())
				for n, failed := 0, true; failed; n += deep.N(8, 1) {
					run := f.open(t, d)
					s.Add(t, fmt.Sprintf("fail * %d %d NO_PERMISSION", n, times))
					i, _, err := run.Create(t.Context(), three)
					if err == nil {
						_, err = run.Destroy(t.Context(), i)
					}
					failed = err != nil
					err = errors.Join(err, run.Close())
					s.Remove(t, "fail")
					if len(s.Lines(t, "gi")) > 1 {
						f.journals(t, 1)
						if text := fmt.Sprint(err); !strings.Contains(text, "tries again, with the journal") {
							t.Errorf("call %d fails %d times: something is left, and the errors are %s", n, times, text)
						}
					}
					if err := f.open(t, d).Close(); err != nil {
						t.Error(err)
					}
					f.journals(t, 0)
					if all, err := d.Instances(); err != nil || len(all) != 1 || all[0].UUID != theirs.UUID {
						t.Fatalf("call %d fails %d times: instances %v, %v are left", n, times, all, err)
					}
				}
			}
		}},
	})
}
