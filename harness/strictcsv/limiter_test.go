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

// The limit is on each line: a file of short lines may be longer.
func TestManyShortLinesAreRead(t *testing.T) {
	const line = "0123456789\n"
	text := strings.Repeat(line, 2*MaxLine/len(line))
	if _, err := io.ReadAll(&limiter{in: strings.NewReader(text), file: "f", line: 1}); err != nil {
		t.Errorf("%d bytes in lines of %d: %v", len(text), len(line), err)
	}
	long := "short\n" + strings.Repeat("x", MaxLine+1)
	if _, err := io.ReadAll(&limiter{in: strings.NewReader(long), file: "f", line: 1}); err == nil || !strings.Contains(err.Error(), "f:2: the line is longer") {
		t.Errorf("a line of %d bytes: %v", MaxLine+1, err)
	}
}
