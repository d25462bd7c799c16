// Package atomicfile replaces files as a whole: a reader sees the old content or the new
// one, never a part, even if the program is killed or the machine stops.
package atomicfile

import (
	"bufio"
	"cmp"
	"crypto/rand"
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

// Write is [WriteFile] with the whole content.
func Write(path string, content []byte) error {
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFile replaces the content of the file at path by the content that write writes. It makes missing folders. The
// content goes to a temporary file in the same folder, which is flushed to disk and then renamed. If anything fails
// before the rename, the old file stays as it was. The new file has the mode of the old one, or the one that the umask
// leaves.
//
// A symbolic link stays, and the file that it names is replaced. A file that is not regular, such as a device or a
// FIFO, is opened and written.
func WriteFile(path string, write func(io.Writer) error) error {
	old, err := os.Stat(path)
	target, linkErr := os.Readlink(path)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return err
	case err == nil && old.IsDir() || strings.HasSuffix(path, string(filepath.Separator)):
		return &os.PathError{Op: "write", Path: path, Err: syscall.EISDIR}
	case err == nil && !old.Mode().IsRegular(): // before links: those in /proc lead to pipes, which have no path
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(fill(f, write), f.Close())
	case linkErr == nil && filepath.IsAbs(target):
		return WriteFile(target, write)
	case linkErr == nil:
		return WriteFile(folder(path)+target, write)
	}
	return replace(path, old, write)
}

// folder returns the folder of a path, with a separator at its end. Unlike [filepath.Dir], it does not shorten "a/..",
// which is another folder than the one of a if a is a link.
func folder(path string) string {
	dir, _ := filepath.Split(path)
	return cmp.Or(dir, "."+string(filepath.Separator))
}

// replace writes a temporary file beside the file at path, which old describes, and renames it. old is nil if there is
// no file.
func replace(path string, old fs.FileInfo, write func(io.Writer) error) (err error) {
	dir := folder(path)
	if err := os.MkdirAll(dir+".", 0o777); err != nil { // the dot: where dir is a file, the error says so
		return err
	}
	f, err := os.OpenFile(dir+prefix+rand.Text(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if at, ok := errors.AsType[*os.PathError](err); ok {
		at.Path = path // the path that the caller knows
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	if err := fill(f, write); err != nil {
		return err
	}
	if old != nil {
		if err := f.Chmod(old.Mode().Perm()); err != nil {
			return err
		}
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

// fill writes the content to an open file.
func fill(f *os.File, write func(io.Writer) error) error {
	w := bufio.NewWriter(f)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
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

// Sweep removes from a folder the temporary files that killed processes left in [WriteFile]. No other process may be
// writing to the folder. A folder that does not exist is clean.
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
