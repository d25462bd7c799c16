package session

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"miglab/profiling/internal/filelock"
)

// lock takes the lock of a GPU and writes this process's number into its file. The file is
// never removed, since two runs could then lock two files of the same name.
func lock(path, gpu string) (_ *os.File, err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	free, err := filelock.Try(f)
	if err != nil {
		return nil, err
	}
	if !free {
		raw, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(raw))) // 0 until the process has written it
		return nil, &LockedError{gpu, pid, path}
	}
	if err := f.Truncate(0); err != nil {
		return nil, err
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return f, err
}

// bootID identifies the boot of the system; it is empty if the system does not tell.
func bootID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(bytes.TrimSpace(raw)), err
}
