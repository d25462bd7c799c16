package datasets

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// A brokenFolder lists its files and then fails.
type brokenFolder struct{ fstest.MapFS }

var errBroken = errors.New("input/output error")

func (f brokenFolder) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := f.MapFS.ReadDir(name)
	return entries, errors.Join(err, errBroken)
}

// A folder that can only be listed in part is an error, also where the files that are listed are right.
func TestReadHardwareFolder(t *testing.T) {
	var text bytes.Buffer
	if err := WriteHardware(&text, []OverlapRate{overlapRow("gemm:all", 1, 1, "gemm", 132, 0.05)}); err != nil {
		t.Fatal(err)
	}
	table := &fstest.MapFile{Data: text.Bytes()}
	if _, err := ReadHardware(fstest.MapFS{"mine.overlap.csv": table}); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadHardware(brokenFolder{fstest.MapFS{"mine.overlap.csv": table}}); !errors.Is(err, errBroken) {
		t.Errorf("%v, want %v", err, errBroken)
	}
}
