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

// listFile lists the files of a site, itself included. The next run replaces or removes these files and no others.
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
	paths, folders := []string{listFile}, map[string]bool{}
	for _, f := range files {
		at := filepath.Join(dir, filepath.FromSlash(f.path))
		info, err := root.Lstat(f.path)
		switch {
		case err == nil && !(slices.Contains(old, f.path) && info.Mode().IsRegular()):
			return refuse(at,
				"miglab site did not write this file and would replace it; move it, or name another folder")
		case err != nil && !errors.Is(err, fs.ErrNotExist): // such as a link that leads out of the folder
			return refuse(at, "%w", err)
		}
		paths, folders[filepath.Dir(at)] = append(paths, f.path), true
	}
	for folder := range folders {
		if err := atomicfile.Sweep(folder); err != nil {
			return err
		}
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

// ownFiles returns the files of the site in a folder; an empty list if the folder is empty.
func ownFiles(root *os.Root) ([]string, error) {
	list, err := root.ReadFile(listFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// A list that somebody made of other files, as "ls > files.txt" does, lacks some of these.
	own := strings.Fields(string(list))
	lacks := func(path string) bool { return !slices.Contains(own, path) }
	if !slices.ContainsFunc([]string{listFile, "index.html", "instances.html", "algorithms.html"}, lacks) {
		return own, nil
	}
	entries, err := fs.ReadDir(root.FS(), ".")
	// A run that was killed at once has left what [atomicfile.Sweep] removes.
	isForeign := func(e fs.DirEntry) bool { return e.IsDir() || !strings.HasPrefix(e.Name(), ".tmp-") }
	if slices.ContainsFunc(entries, isForeign) {
		err = refuse(root.Name(), "the folder holds something else than a site; name an empty or a new one")
	}
	return nil, err
}
