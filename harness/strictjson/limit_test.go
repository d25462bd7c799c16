package strictjson

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestLongTextsAreRefused reads from just before the limit.
func TestLongTextsAreRefused(t *testing.T) {
	for begin, c := range map[string]struct {
		rest endless
		read func(*Decoder) error
	}{
		`"`:  {"a", func(d *Decoder) error { return d.Into(new(string))() }},
		"[1": {",1", func(d *Decoder) error { return d.Value(new([]any)) }},
		"[2": {",2", func(d *Decoder) error { return d.List(func() error { return d.Into(new(int))() }) }},
		" ":  {" ", func(d *Decoder) error { return d.End() }},
	} {
		in := &count{Reader: io.MultiReader(strings.NewReader(begin), c.rest)}
		d := NewDecoder(in)
		d.lines.read = MaxBytes - 1<<16
		err := c.read(d)
		if own, ok := errors.AsType[*Error](err); !ok || !strings.HasPrefix(err.Error(), "line 1: ") || !strings.HasSuffix(err.Error(), "the text is longer than 256 MiB") {
			t.Errorf("%s...: %v (%+v)", begin, err, own)
		}
		if in.n > 1<<20 {
			t.Errorf("%s...: %d bytes were read", begin, in.n)
		}
	}
}

// An endless reader repeats a text.
type endless string

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = e[i%len(e)]
	}
	return len(b) - len(b)%len(e), nil
}

type count struct {
	io.Reader
	n int
}

func (c *count) Read(b []byte) (int, error) {
	if c.n > 1<<20 { // so that the test ends without the limit
		return 0, io.ErrNoProgress
	}
	n, err := c.Reader.Read(b)
	c.n += n
	return n, err
}
