package sweep

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
