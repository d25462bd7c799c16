package cli

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version says which program this is: its version, its commit, and what it was built by and for.
// release is empty unless a release was built.
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

// Commit returns the commit that the program was built from, or "unknown": what go build has put into
// it, or what make build wrote beside it.
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
