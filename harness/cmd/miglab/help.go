package main

import (
	"embed"
	"strconv"
	"strings"

	"miglab/bounds"
)

// helpTexts has the description and the examples of each command, in a file named after it.
//
//go:embed help
var helpTexts embed.FS

// helpNumbers replaces what other packages know.
var helpNumbers = strings.NewReplacer("{searched}", strconv.Itoa(bounds.MaxSearched))
