package external

import (
	"bytes"
	"strings"
	"sync"
)

// A tail keeps the end of the text that is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// The most bytes and lines of standard error in an error.
const (
	tailBytes = 1 << 10
	tailLines = 5
)

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	cut := len(t.text) - tailBytes
	if cut > 0 {
		t.text = append(t.text[:0], t.text[cut:]...)
	}
	return len(p), nil
}

func (t *tail) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = t.text[:0]
}

// String returns the last lines.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.Split(string(bytes.TrimSpace(t.text)), "\n")
	return strings.ToValidUTF8(strings.Join(lines[max(0, len(lines)-tailLines):], "\n"), "\ufffd")
}
