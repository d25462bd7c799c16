package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Newest returns the sweep below a folder that was planned last.
func Newest(folder string) (string, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var newest string
	var when time.Time
	for _, e := range entries {
		dir := filepath.Join(folder, e.Name())
		if info, err := os.Stat(filepath.Join(dir, planFile)); err == nil &&
			(newest == "" || info.ModTime().After(when)) {
			newest, when = dir, info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%s has no sweeps; name the folder of one, which miglab submit prints", folder)
	}
	return newest, nil
}

// NodeLocal says why other machines do not see a folder, if its path or file system tells; "" where they may.
func NodeLocal(dir string) string {
	for { // the nearest folder that there is
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			break
		}
		dir = filepath.Dir(dir)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for _, own := range []string{"/tmp", "/var/tmp", "/dev", "/run", os.TempDir()} {
		if dir == own || strings.HasPrefix(dir, own+"/") {
			return "every machine has a " + own + " of its own"
		}
	}
	if kind := localFileSystem(dir); slices.Contains([]string{"tmpfs", "ramfs", "overlay"}, kind) {
		return "it is on a file system of this machine alone (" + kind + ")"
	}
	return ""
}
