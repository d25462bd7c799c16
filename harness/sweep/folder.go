package sweep

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Newest returns the sweep below a folder that was planned last.
func Newest(folder string) (newest string, err error) {
	below := os.DirFS(folder)
	plans, _ := fs.Glob(below, "*/"+planFile) // none where there is no folder
	var when time.Time
	for _, plan := range plans {
		if info, err := fs.Stat(below, plan); err == nil && info.ModTime().After(when) {
			newest, when = filepath.Join(folder, filepath.Dir(plan)), info.ModTime()
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%s has no sweeps; name the folder of one, which miglab submit prints", folder)
	}
	return newest, nil
}
