package sweep

import (
	"os"
	"path/filepath"
	"testing"
)

func TestNodeLocal(t *testing.T) {
	for dir, want := range map[string]bool{
		os.TempDir(): true, filepath.Join(t.TempDir(), "not", "yet"): true, "/dev/shm/x": true,
	} {
		if why := NodeLocal(dir); (why != "") != want {
			t.Errorf("%s: %q", dir, why)
		}
	}
}
