package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"miglab/profiling/internal/filelock"
)

// lockedBy returns the error that another run, or another session of this process, uses the GPU.
func lockedBy(gpu, path string) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	holder := "it" // it has not written its number yet
	if pid := strings.TrimSpace(string(raw)); pid != "" {
		holder = "process " + pid
	}
	return fmt.Errorf("another run uses %s: %s holds %s; wait until it ends", gpu, holder, path)
}

// lockGPU takes the lock of a GPU and writes this process's number into its file. The file is never removed, since two
// runs could then lock two files of the same name.
func lockGPU(path, gpu string) (*os.File, error) {
	f, err := filelock.Open(path)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, lockedBy(gpu, path)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// bootID identifies the boot of the system; it is empty if the system does not tell.
func bootID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(bytes.TrimSpace(raw)), err
}
