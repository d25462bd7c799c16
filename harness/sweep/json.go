package sweep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"miglab/harness/atomicfile"
)

// writeJSON replaces a file by a value's JSON.
func writeJSON(path string, v any) error {
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", " ")
		return e.Encode(v)
	})
}

// A jsonError says that a file is not what writeJSON wrote.
type jsonError struct {
	path string
	line int
	err  error
}

func (e *jsonError) Error() string { return fmt.Sprintf("%s:%d: %v", e.path, e.line, e.err) }

func (e *jsonError) Unwrap() error { return e.err }

// readJSON reads what writeJSON wrote and nothing else. What is wrong with the file's
// content is a *jsonError.
func readJSON(path string, v any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err = d.Decode(v)
	at := d.InputOffset()
	if err == nil {
		if _, err = d.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		err = errors.New("something follows the end")
	}
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = syntax.Offset
	}
	if kind := (*json.UnmarshalTypeError)(nil); errors.As(err, &kind) {
		at = kind.Offset
	}
	return &jsonError{path, 1 + bytes.Count(data[:min(at, int64(len(data)))], []byte("\n")), err}
}
