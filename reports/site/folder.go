package site

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"miglab/harness/atomicfile"
)

// mark is in the first page of every site, and in no other folder's.
const mark = `<meta name="generator" content="miglab site"/>`

// listFile lists the files of a site, itself included. The next run removes these files and no others.
const listFile = "files.txt"

// replace puts a folder with the files in the place of dir.
func replace(dir string, files []file) (err error) {
	paths := []string{listFile}
	for _, f := range files {
		paths = append(paths, f.path)
	}
	slices.Sort(paths)
	files = append(files, file{listFile, []byte(strings.Join(paths, "\n") + "\n")})
	// The folder's own name, also for "." and for one with a slash at the end.
	dir, err = filepath.Abs(dir)
	if err != nil {
		return err
	}
	if folder, err := filepath.EvalSymlinks(dir); err == nil {
		dir = folder // a link to the folder stays
	}
	old, err := holdsSite(dir)
	if err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if err := os.MkdirAll(parent, 0o777); err != nil {
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
		if err := atomicfile.Write(path, f.data); err != nil {
			return err
		}
	}
	if old {
		info, err := os.Stat(dir)
		if err == nil {
			err = os.Chmod(made, info.Mode().Perm())
		}
		if err == nil {
			err = os.Rename(dir, aside)
		}
		if err != nil {
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

// holdsSite reports whether a site may replace the folder: it is empty, or an earlier run wrote all its files.
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
		return true, refuse(dir, "the folder holds something else than a site; name an empty or a new one")
	}
	list, err := os.ReadFile(filepath.Join(dir, listFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return true, err
	}
	own := strings.Split(string(list), "\n")
	return true, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil && !slices.Contains(own, filepath.ToSlash(name)) {
			err = refuse(path, "miglab site did not write this file and would delete it; move it, or name another folder")
		}
		return err
	})
}
