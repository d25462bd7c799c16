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

// tailBytes is the most bytes of standard error in an error.
const tailBytes = 1 << 10

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

// String returns the end of the text without white space around it.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.ToValidUTF8(string(bytes.TrimSpace(t.text)), "\ufffd")
}
