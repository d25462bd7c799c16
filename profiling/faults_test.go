package profiling_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every row of the list of faults names tests that exist.
func TestFaultsHaveTests(t *testing.T) {
	declared := map[string]bool{}
	for _, root := range []string{".", "../harness/cmd/miglab", "../datasets"} {
		err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			text, err := os.ReadFile(path)
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
				declared[m[1]] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile("FAULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| fault ") {
			continue
		}
		rows++
		cells := strings.Split(line, " | ")
		named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 3 || len(named) == 0 {
			t.Errorf("a row without a test: %s", line)
		}
		for _, m := range named {
			if !declared[m[1]] {
				t.Errorf("there is no test %s: %s", m[1], line)
			}
		}
	}
	if rows < 25 {
		t.Errorf("%d rows", rows)
	}
}
