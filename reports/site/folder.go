package site

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"miglab/harness/atomicfile"
)

// listFile lists the files of a site, itself included. The next run replaces these files and no others.
const listFile = "files.txt"

// writeFolder writes the files into dir and removes the other files of the site that was there.
func writeFolder(dir string, files []file) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	old, err := ownFiles(root)
	if err != nil {
		return err
	}
	paths := []string{listFile}
	for _, f := range files {
		if _, err := root.Lstat(f.path); err == nil && !slices.Contains(old, f.path) {
			return refuse(filepath.Join(dir, f.path),
				"miglab site did not write this file and would replace it; move it, or name another folder")
		}
		paths = append(paths, f.path)
	}
	for _, path := range old {
		if slices.Contains(paths, path) {
			continue
		}
		if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	slices.Sort(paths)
	// The list comes first: if this run is interrupted, the next one knows the files.
	list := file{listFile, []byte(strings.Join(paths, "\n") + "\n")}
	for _, f := range append([]file{list}, files...) {
		if err := atomicfile.Write(filepath.Join(dir, filepath.FromSlash(f.path)), f.data); err != nil {
			return err
		}
	}
	return nil
}

// ownFiles returns the files of the site in a folder; none if the folder is empty.
func ownFiles(root *os.Root) ([]string, error) {
	list, err := root.ReadFile(listFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if own := strings.Fields(string(list)); slices.Contains(own, listFile) {
		return own, nil
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	if err == nil && len(entries) > 0 {
		err = refuse(root.Name(), "the folder holds something else than a site; name an empty or a new one")
	}
	return nil, err
}
