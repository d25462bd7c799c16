package sweep

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"miglab/harness/atomicfile"
	"miglab/harness/strictjson"
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

// readIntact is readJSON, except that a file with wrong content is damage and no error.
func readIntact(path string, v any) (*Damage, error) {
	err := readJSON(path, v)
	if broken, ok := errors.AsType[*strictjson.Error](err); ok {
		return &Damage{path, fmt.Sprintf("line %d: %v", broken.Line, broken.Err)}, nil
	}
	return nil, err
}

// readJSON reads what writeJSON wrote and nothing else. What is wrong with the file's
// content is a [*strictjson.Error].
func readJSON(path string, v any) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	d := strictjson.NewDecoder(f, path)
	if err := d.Value(v); err != nil {
		return err
	}
	return d.End()
}
