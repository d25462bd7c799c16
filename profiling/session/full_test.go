//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package session_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"miglab/harness/deep"
	"miglab/profiling/devicetest"
	"miglab/profiling/session"
)

// folderEnv names the folder of a process that may not make larger files.
const folderEnv = "MIGLAB_SESSION_FULL"

func TestMain(m *testing.M) {
	if dir := os.Getenv(folderEnv); dir != "" {
		fill(dir)
		return
	}
	flag.Set("rapid.checks", strconv.Itoa(deep.N(20, 100))) // each property on few values unless the tests are deep
	if _, err := os.Stat("/dev/shm"); err == nil {
		os.Setenv("TMPDIR", "/dev/shm") // each line of a journal waits for the disk
	}
	os.Exit(m.Run())
}

// TestDiskFull has the writes of journals fail, in a process that may not make larger files.
func TestDiskFull(t *testing.T) {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), folderEnv+"="+t.TempDir())
	if out, err := c.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v\n%s", err, out)
	}
}

// limit lets files of this process grow to a size, or to any if it is negative.
func limit(size int64) error {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &r); err != nil {
		return err
	}
	r.Cur = r.Max
	if size >= 0 {
		r.Cur = uint64(size)
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &r)
}

// fill runs a session of two creates and a destroy, with a disk on which no file can be larger than a size, for every
// size that a journal has.
func fill(dir string) {
	signal.Ignore(syscall.SIGXFSZ) // so that a write fails with EFBIG
	for size := int64(0); ; size++ {
		full, err := fillAt(filepath.Join(dir, fmt.Sprint(size)), size)
		if err != nil {
			fmt.Printf("full after %d bytes: noticed: %v, %v\n", size, full, err)
			os.Exit(1)
		}
		if !full {
			break
		}
	}
	fmt.Println("ok")
}

// fillAt reports whether the disk was full at some time. The error is what else went wrong.
func fillAt(dir string, size int64) (full bool, err error) {
	ctx := context.Background()
	d := devicetest.New(a100, devicetest.Scale(0))
	count := func(when string, want int) error {
		exist, err := d.Instances()
		if err == nil && len(exist) != want {
			err = fmt.Errorf("%d instances %s, want %d", len(exist), when, want)
		}
		return err
	}
	journals := func() []string {
		files, err := filepath.Glob(filepath.Join(dir, "*.journal"))
		if err != nil {
			panic(err) // a bad pattern
		}
		return files
	}
	if err := limit(size); err != nil {
		return false, err
	}
	defer limit(-1)
	s, err := session.Open(ctx, d, session.Options{Dir: dir})
	if err != nil {
		if left := journals(); len(left) > 0 || !errors.Is(err, syscall.EFBIG) {
			return true, fmt.Errorf("Open: %w; it left %q", err, left)
		}
		return true, count("after Open", 0)
	}
	place := at("3g.20gb", 4)
	a, _, err := s.Create(ctx, place)
	have := 1
	if err == nil {
		place = at("1g.5gb", 0)
		_, _, err = s.Create(ctx, place)
		have = 2
	}
	others := 0 // instances at the end that are somebody else's
	switch {
	case err == nil:
		if _, err := s.Destroy(ctx, a); err != nil {
			return false, err
		}
		if err := count("after Destroy", 1); err != nil {
			return false, err
		}
	case !errors.Is(err, syscall.EFBIG) || !strings.Contains(err.Error(), "since the journal cannot be written"):
		return false, err
	default:
		full = true
		if err := count("after a create that could not be written down", have-1); err != nil {
			return false, err
		}
		// The place is free. Who makes an instance there keeps it when the session closes.
		if size%2 != 0 {
			if _, err := d.Create(place); err != nil {
				return false, err
			}
			others = 1
		}
	}
	if size%2 == 0 { // some runs end here as by SIGKILL, and the disk has room again
		s.Abandon()
		if err := limit(-1); err != nil {
			return false, err
		}
		if s, err = session.Open(ctx, d, session.Options{Dir: dir}); err != nil {
			return false, err
		}
	}
	if err := s.Close(); err != nil {
		return false, fmt.Errorf("Close: %w", err)
	}
	if left := journals(); len(left) > 0 {
		return false, fmt.Errorf("after Close there are %q", left)
	}
	return full, count("at the end", others)
}
