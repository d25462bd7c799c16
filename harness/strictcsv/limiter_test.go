package strictcsv

import (
	"io"
	"strings"
	"testing"
)

func TestLargeFilesAreRefused(t *testing.T) {
	l := &limiter{in: strings.NewReader("0123456789\n"), file: "f", line: 7, total: MaxBytes - 5}
	if _, err := io.ReadAll(l); err == nil || !strings.Contains(err.Error(), "f:8: the file is larger than 256 MiB") {
		t.Errorf("%v", err)
	}
	l = &limiter{in: strings.NewReader("0123456789\n"), file: "f", line: 7, total: MaxBytes - 11}
	if _, err := io.ReadAll(l); err != nil {
		t.Error(err)
	}
}
