package main

import (
	"embed"
	"strings"
)

// helpTexts has the long descriptions and the examples of commands, a file each.
//
//go:embed help
var helpTexts embed.FS

// helpText returns a text without its last line break. It panics if there is none.
func helpText(file string) string {
	raw, err := helpTexts.ReadFile("help/" + file)
	if err != nil {
		panic(err)
	}
	return strings.TrimSuffix(string(raw), "\n")
}
