package launch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"miglab/harness/wholefile"
)

// Check checks that the kernel's folder, program and data files exist, and that data files with a SHA256 have that
// content. It starts no program. Each error names the manifest's line, the fault and the remedy.
func (k *Kernel) Check() (all []error) {
	report := func(path, reason, remedy string) {
		all = append(all, k.failure(fmt.Errorf("%s %s; %s", path, reason, remedy)))
	}
	if k.Dir != "" {
		if info, err := os.Stat(k.Dir); err != nil || !info.IsDir() {
			report(k.Dir, cmp.Or(fileProblem(err), "is not a folder"),
				"give the suite's folder with --set, or correct workdir")
			return all // everything else is in the folder
		}
	}
	if program := k.Executable(); program == "" {
		report(k.Argv[0], "is not in PATH", "install it, or give its path")
	} else if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
		report(program, cmp.Or(fileProblem(err), "is not a program"), "build it, or correct argv")
	} else if info.Mode()&0o111 == 0 {
		report(program, "is not executable", "make it so with chmod +x")
	}
	for _, d := range k.Data {
		path := k.path(d.Path)
		sum, err := hash(path, d.SHA256 != "")
		switch {
		case err != nil:
			report(path, fileProblem(err), "fetch the suite's data, or correct data")
		case d.SHA256 != "" && sum != d.SHA256:
			report(path, "has SHA-256 "+sum+", not "+d.SHA256, "fetch it again, or correct the manifest")
		}
	}
	return all
}

// hash opens a regular file, and returns its SHA-256 if that is needed.
func hash(path string, needed bool) (string, error) {
	if needed {
		return wholefile.SHA256(path)
	}
	f, err := wholefile.Open(path, math.MaxInt64)
	if err != nil {
		return "", err
	}
	return "", f.Close()
}

// Executable returns the path of the kernel's program. A name without a slash is looked up in PATH, and the result is
// "" if it is not there. A name with a slash is not looked up.
func (k *Kernel) Executable() string {
	program := k.Argv[0]
	if strings.Contains(program, "/") {
		return k.path(program)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}

// path turns a path that is relative to the kernel's folder into one for this process.
func (k *Kernel) path(p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(k.Dir, p)
}

// fileProblem says why a file cannot be read, without its path; empty if it can.
func fileProblem(err error) string {
	if err == nil {
		return ""
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "is missing"
	}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return "cannot be read: " + err.Error()
}
