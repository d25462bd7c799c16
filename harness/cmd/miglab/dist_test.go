package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// citedVersion returns the version that CITATION.cff and the Makefile have.
func citedVersion(t *testing.T) string {
	t.Helper()
	version := regexp.MustCompile(`(?m)^version: (\S+)$`).FindStringSubmatch(mustRead(t, filepath.Join(root, "CITATION.cff")))
	if version == nil {
		t.Fatal("CITATION.cff has no version")
	}
	return version[1]
}

// The image has the version of the tarball, and a Go that may build it.
func TestDockerfile(t *testing.T) {
	image := mustRead(t, filepath.Join(root, "Dockerfile"))
	if !strings.Contains(image, "\nARG VERSION="+citedVersion(t)+"\n") {
		t.Errorf("the Dockerfile does not have the version %s", citedVersion(t))
	}
	language := regexp.MustCompile(`(?m)^go (\d+\.\d+)\.`).FindStringSubmatch(mustRead(t, filepath.Join(root, "go.mod")))
	if language == nil || !strings.Contains(image, "\nFROM golang:"+language[1]+".") {
		t.Errorf("the Dockerfile does not have the Go of go.mod, %q", language)
	}
	if !regexp.MustCompile(`(?m)^ENV GOFLAGS=-mod=vendor GOPROXY=off GOTOOLCHAIN=local `).MatchString(image) {
		t.Error("the Dockerfile does not build offline")
	}
}

// What make dist packs agrees with its checksum, builds without modules or a network, as the Dockerfile does, and knows its
// version and commit without a repository.
func TestDist(t *testing.T) {
	if os.Getenv("MIGLAB_LONG") != "1" {
		t.Skip("make test-long builds it")
	}
	run := func(dir, name string, args ...string) string {
		t.Helper()
		c := exec.Command(name, args...)
		c.Dir = dir
		c.Env = append(os.Environ(), "GOFLAGS=-mod=vendor", "GOPROXY=off", "GOTOOLCHAIN=local", "GOMODCACHE="+filepath.Join(t.TempDir(), "none"))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	pack := exec.Command("make", "dist")
	pack.Dir = root
	if out, err := pack.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	run(filepath.Join(root, "bin"), "sha256sum", "-c", "SHA256SUMS")
	dir, folder := t.TempDir(), "miglab-"+citedVersion(t)
	run(dir, "tar", "-xzf", filepath.Join(absolute, "bin", folder+".tar.gz"))
	run(filepath.Join(dir, folder), "make", "build")
	got := run(dir, filepath.Join(dir, folder, "bin", "miglab"), "--version")
	want := "miglab v" + citedVersion(t) + ", commit " + run(root, "git", "rev-parse", "HEAD") + ", " + runtime.Version() + ", "
	if !strings.HasPrefix(got, want) {
		t.Errorf("it says %s, want %s", got, want)
	}
}
