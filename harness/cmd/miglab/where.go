package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strings"
)

// where returns the file and line of a task in a tasks file that was read before;
// the file alone should it have changed meanwhile.
func where(file, task string) string {
	raw, err := os.ReadFile(file)
	if err != nil {
		return file
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(raw, []byte("\ufeff"))))
	r.TrimLeadingSpace = true
	for column := -1; ; {
		fields, err := r.Read()
		if err != nil {
			return file
		}
		if column < 0 {
			column = slices.IndexFunc(fields, func(name string) bool { return strings.TrimSpace(name) == "task" })
		} else if strings.TrimSpace(fields[column]) == task {
			line, _ := r.FieldPos(column)
			return fmt.Sprintf("%s:%d", file, line)
		}
	}
}
