//go:build unix

package external

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/harness/algo"
	"miglab/harness/store"
)

// TestStoredErrorsAreTheSameInEveryRun has programs that fail and say their process ID on standard error, which a
// user wants to see and which no two runs agree on.
func TestStoredErrorsAreTheSameInEveryRun(t *testing.T) {
	const begin = "#!/bin/sh\nread hello\n" +
		`echo '{"type":"hello","protocol":1,"name":"f","version":1}'` + "\nread question\necho process $$ gives up >&2\n"
	for name, end := range map[string]string{
		"crashed": "exit 3",
		"garbage": `echo '{"type":5}'; sleep 9`,
		"wrong":   `echo '{"type":"schedule","id":1,"schedule":{}}'; sleep 9`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), name)
			if err := os.WriteFile(path, []byte(begin+end+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			series := store.Series{Track: algo.TrackBatch, Dataset: "drl/WIDETIMES", GPU: "A100", Algorithm: "exec:" + path}
			first, second := engine(t, series, 1, 1), engine(t, series, 1, 1)
			if first[0].Kind == "" || fmt.Sprint(first) != fmt.Sprint(second) {
				t.Errorf("two runs store\n%v\n%v", first, second)
			}
			if err := settle(t, "exec:"+path, problem(1)); err == nil || !strings.Contains(err.Error(), " gives up") {
				t.Errorf("the user sees %v, without what the program says", err)
			}
		})
	}
}
