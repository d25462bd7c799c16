package sweep

import (
	"encoding/json"
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

// readJSON reads what writeJSON wrote and nothing else. What is wrong with the file's
// content is a [*strictjson.Error].
func readJSON(path string, v any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := strictjson.Unmarshal(text, v); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
