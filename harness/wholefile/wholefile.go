// Package wholefile reads and hashes files that are needed as a whole, up to a limit: a device, a pipe or a
// file that is too large is refused before it fills the memory or blocks.
package wholefile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"syscall"
)

// ErrNotRegular is the error for a device, a pipe and other files without a length.
var ErrNotRegular = errors.New("it is not a regular file; name a file on a disk")

// Open opens a regular file of at most limit bytes. The error is an [*os.PathError].
func Open(path string, limit int64) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return os.Open(path) // for its error
	}
	switch {
	case info.IsDir():
		err = syscall.EISDIR
	case !info.Mode().IsRegular():
		err = ErrNotRegular
	case info.Size() > limit:
		err = fmt.Errorf("it has %d bytes; at most %d MiB are read", info.Size(), limit>>20)
	default:
		return os.Open(path)
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: err}
}

// Read returns the content of a regular file of at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path, limit)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, path, limit)
}

// ReadAll reads to the end of a reader of at most limit bytes, which may be a pipe. The name is only used in errors.
func ReadAll(r io.Reader, name string, limit int64) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if int64(len(text)) > limit {
		return nil, fmt.Errorf("%s is too large; at most %d MiB are read", name, limit>>20)
	}
	return text, nil
}

// SHA256 returns the SHA-256 of a regular file in hexadecimal.
func SHA256(path string) (string, error) {
	f, err := Open(path, math.MaxInt64)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
