// Package filehash identifies files by their contents.
package filehash

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"

	"miglab/harness/wholefile"
)

// SHA256 returns the SHA-256 of a regular file in hexadecimal.
func SHA256(path string) (string, error) {
	f, err := wholefile.Open(path, math.MaxInt64)
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
