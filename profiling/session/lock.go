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

// lock takes the lock of a GPU and writes this process into its file, which stays: to
// remove it would let two runs lock two files of the same name. The system lifts the
// lock when the file is closed or the process dies, even by SIGKILL.
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
		pid, _ := strconv.Atoi(strings.TrimSpace(string(raw))) // 0 before it has written it
		return nil, &LockedError{gpu, pid, path}
	}
	if err := f.Truncate(0); err != nil {
		return nil, err
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
	return f, err
}

// bootID says which boot of the system it is; it is empty where the system does not say.
func bootID() (string, error) {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(bytes.TrimSpace(raw)), err
}
