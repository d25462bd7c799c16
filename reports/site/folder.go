package site

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"miglab/harness/atomicfile"
)

// mark is in the first page of every site, and in no other folder's.
const mark = `<meta name="generator" content="miglab site"/>`

// replace puts a folder with the files in the place of dir.
func replace(dir string, files []file) (err error) {
	// The folder's own name, also for "." and for one with a slash at the end.
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	old, err := holdsSite(dir)
	if err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(parent, ".tmp-site-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	made, aside := filepath.Join(work, "new"), filepath.Join(work, "old")
	for _, f := range files {
		path := filepath.Join(made, filepath.FromSlash(f.path))
		if err := atomicfile.WriteFile(path, func(w io.Writer) error { _, err := w.Write(f.data); return err }); err != nil {
			return err
		}
	}
	if old {
		if err := os.Rename(dir, aside); err != nil {
			return err
		}
	}
	if err := os.Rename(made, dir); err != nil {
		if old {
			err = errors.Join(err, os.Rename(aside, dir))
		}
		return err
	}
	return nil
}

// holdsSite reports whether there is a folder that a site may replace: an empty one, or
// one that holds a site.
func holdsSite(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || len(entries) == 0 {
		return true, err
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	if !bytes.Contains(index, []byte(mark)) {
		return true, &InputError{dir, errors.New("the folder holds other things than a site; name an empty or a new one")}
	}
	return true, nil
}
