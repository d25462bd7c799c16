package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// release is the version that a release build sets, with -ldflags "-X main.release=v1.2.3".
var release string

// version says which program this is: its version, its commit, and what it was built by and for.
func version() string {
	v, commit := release, ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v == "" {
			v = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	if v == "" || v == "(devel)" {
		v = "(development)"
	}
	if commit == "" {
		commit = builtFrom()
	}
	return fmt.Sprintf("%s, commit %s, %s, %s/%s", v, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// builtFrom returns the commit that `make build` wrote beside the program, or "unknown".
func builtFrom() string {
	program, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	text, err := os.ReadFile(program + ".revision")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}
