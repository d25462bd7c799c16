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

// A LockedError says that another run has the GPU. If PID is this process's own, another
// session of this process has it.
type LockedError struct {
	// GPU is the UUID.
	GPU string
	// PID is the process that has it; 0 if the process has not written its number yet.
	PID int
	// File is the lock.
	File string
}

func (e *LockedError) Error() string {
	switch e.PID {
	case 0:
		return fmt.Sprintf("another run uses %s: it holds %s; wait until it ends", e.GPU, e.File)
	case os.Getpid():
		return fmt.Sprintf("%s is given twice: this process already holds %s", e.GPU, e.File)
	}
	return fmt.Sprintf("another run uses %s: process %d holds %s; wait until it ends", e.GPU, e.PID, e.File)
}

// lockGPU takes the lock of a GPU and writes this process's number into its file. The file is
// never removed, since two runs could then lock two files of the same name.
func lockGPU(path, gpu string) (*os.File, error) {
	f, err := filelock.Open(path)
	if err != nil {
		return nil, err
	}
	if f == nil {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(raw))) // 0 until the process has written it
		return nil, &LockedError{gpu, pid, path}
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
