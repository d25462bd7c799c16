// Package atomicfile replaces files as a whole: a reader sees the old content or the new
// one, never a part, even if the program is killed or the machine stops.
package atomicfile

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// prefix begins the names of the temporary files of [WriteFile].
const prefix = ".tmp-"

// Write is [WriteFile] for content that is there already.
func Write(path string, content []byte) error {
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFile replaces the file at path by what write produces. It makes missing folders.
// The content goes to a temporary file in the same folder, which is flushed to disk and
// then renamed. If anything fails before the rename, the old file stays as it was.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &os.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, prefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// syncFolder flushes a folder's list of files to disk. It does nothing where folders
// cannot be flushed, as on Windows and some network file systems.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// Sweep removes from a folder the temporary files that killed processes left in
// [WriteFile]. No other process may be writing to the folder. A folder that does not
// exist is clean.
func Sweep(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.IsDir() || !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return err
}
