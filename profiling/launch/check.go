package launch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"miglab/harness/wholefile"
)

// Check checks that the kernel's folder, program and data files exist, and that data files with a SHA256 have that
// content. It starts no program. Each error names the manifest's line, the fault and the remedy.
func (k *Kernel) Check() (all []error) {
	missing := func(path, reason, remedy string) {
		all = append(all, k.failure(fmt.Errorf("%s %s; %s", path, reason, remedy)))
	}
	if k.Dir != "" {
		if info, err := os.Stat(k.Dir); err != nil || !info.IsDir() {
			missing(k.Dir, cmp.Or(fileProblem(err), "is not a folder"),
				"give the suite's folder with --set, or correct workdir")
			return all // everything else is in the folder
		}
	}
	if program := k.program(); !strings.Contains(program, "/") {
		if _, err := exec.LookPath(program); err != nil {
			missing(program, "is not in PATH", "install it, or give its path")
		}
	} else if info, err := os.Stat(k.path(program)); err != nil || !info.Mode().IsRegular() {
		missing(k.path(program), cmp.Or(fileProblem(err), "is not a program"), "build it, or correct argv")
	} else if info.Mode()&0o111 == 0 {
		missing(k.path(program), "is not executable", "make it so with chmod +x")
	}
	for _, d := range k.Data {
		path := k.path(d.Path)
		sum, err := wholefile.SHA256(path)
		switch {
		case err != nil:
			missing(path, fileProblem(err), "fetch the suite's data, or correct data")
		case d.SHA256 != "" && sum != d.SHA256:
			missing(path, "has SHA-256 "+sum+", not "+d.SHA256, "fetch it again, or correct the manifest")
		}
	}
	return all
}

// Executable returns the path of the kernel's program for this process, or "" if it is not found.
func (k *Kernel) Executable() string {
	program := k.program()
	if strings.Contains(program, "/") {
		return k.path(program)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}

// program returns the word of Argv that names the program.
func (k *Kernel) program() string { return k.Argv[k.programIndex()] }

// programIndex returns the index of the program in Argv: env and variables may stand before it.
func (k *Kernel) programIndex() int {
	if set := variables(k.Argv); len(set) > 0 && len(set)+1 < len(k.Argv) {
		return len(set) + 1
	}
	return 0
}

// variables returns the words NAME=VALUE after env.
func variables(argv []string) []string {
	if filepath.Base(argv[0]) != "env" {
		return nil
	}
	n := 1
	for n < len(argv) && strings.Contains(argv[n], "=") {
		n++
	}
	return argv[1:n]
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
