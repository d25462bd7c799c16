package cli

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version describes the program: its version, its commit, the version of Go and the platform. release is the version of
// a release; it is empty in other builds.
func Version(release string) string {
	v := release
	if info, ok := debug.ReadBuildInfo(); ok {
		v = cmp.Or(v, info.Main.Version)
	}
	if v == "" || v == "(devel)" {
		v = "(development)"
	}
	return fmt.Sprintf("%s, commit %s, %s, %s/%s", v, Commit(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// Commit returns the commit that the program was built from. It is recorded in the program by go build, or in a file
// beside the program by make build. Without both, Commit returns "unknown".
func Commit() string {
	revision, modified := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				modified = "-modified"
			}
		}
	}
	if revision != "" {
		return revision + modified
	}
	program, err := os.Executable()
	if err != nil {
		return "unknown"
	}
	if text, err := os.ReadFile(program + ".revision"); err == nil {
		return strings.TrimSpace(string(text))
	}
	return "unknown"
}
