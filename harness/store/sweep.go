package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// filesLike lists the paths of a folder's files whose names begin and end as given,
// by name; none for a folder that does not exist. [filepath.Glob] would take
// brackets and asterisks in the folder's own name for a pattern.
func filesLike(dir, begin, end string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if name := e.Name(); !e.IsDir() && strings.HasPrefix(name, begin) && strings.HasSuffix(name, end) {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out, err
}
