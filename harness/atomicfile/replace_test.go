//go:build unix

package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// modeAfter writes a file under a umask and returns its mode.
func modeAfter(t *testing.T, umask int, path string) fs.FileMode {
	t.Helper()
	old := syscall.Umask(umask)
	err := Write(path, []byte("new"))
	syscall.Umask(old)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestModesFollowTheUmaskAndTheOldFile(t *testing.T) {
	dir := t.TempDir()
	for umask, want := range map[int]fs.FileMode{0o077: 0o600, 0o027: 0o640, 0o002: 0o664, 0o022: 0o644} {
		path := filepath.Join(dir, want.String(), "new.csv")
		if got := modeAfter(t, umask, path); got != want {
			t.Errorf("under umask %04o a new file has the mode %v, want %v", umask, got, want)
		}
		folder, err := os.Stat(filepath.Dir(path))
		if want := 0o777 &^ fs.FileMode(umask); err != nil || folder.Mode().Perm() != want {
			t.Errorf("under umask %04o a new folder has the mode %v, %v; want %v", umask, folder.Mode().Perm(), err, want)
		}
	}
	for _, want := range []fs.FileMode{0o600, 0o640, 0o666, 0o755} {
		path := filepath.Join(dir, "old.csv")
		if err := errors.Join(os.WriteFile(path, []byte("old"), 0o600), os.Chmod(path, want)); err != nil {
			t.Fatal(err)
		}
		if got := modeAfter(t, 0o022, path); got != want {
			t.Errorf("a file of the mode %v has %v after it was replaced", want, got)
		}
	}
}

func TestLinksStayAndTheirTargetsAreReplaced(t *testing.T) {
	dir := t.TempDir()
	there, missing := filepath.Join(dir, "a", "there.csv"), filepath.Join(dir, "a", "missing.csv")
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "a"), 0o755), os.WriteFile(there, []byte("a longer text"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"absolute", there}, {"relative", filepath.Join("a", "there.csv")}, {"dangling", filepath.Join("a", "missing.csv")}, {"chain", "relative"},
	} {
		link, to := c[0], c[1]
		path := filepath.Join(dir, link)
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
		if err := Write(path, []byte(link)); err != nil {
			t.Errorf("%s: %v", link, err)
		}
		target := there
		if link == "dangling" {
			target = missing
		}
		if text, err := os.ReadFile(target); err != nil || string(text) != link {
			t.Errorf("%s: the target holds %q, %v", link, text, err)
		}
	}
	for _, link := range []string{"absolute", "relative", "dangling", "chain"} {
		if info, err := os.Lstat(filepath.Join(dir, link)); err != nil || info.Mode().Type() != fs.ModeSymlink {
			t.Errorf("the link %s has become %v, %v", link, info.Mode(), err)
		}
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	if err := Write(loop, nil); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a link to itself: %v", err)
	}
}

// The parent of a linked folder is the parent of the folder that the link names, as for the system.
func TestLinksThroughTheParentOfALinkedFolder(t *testing.T) {
	dir := t.TempDir()
	real := filepath.Join(dir, "elsewhere", "deep")
	err := errors.Join(os.MkdirAll(real, 0o755), os.Symlink(real, filepath.Join(dir, "short")),
		os.Symlink("short/../target.csv", filepath.Join(dir, "relative")),
		os.Symlink(dir+"/short/../target.csv", filepath.Join(dir, "absolute")),
		os.Symlink("../target.csv", filepath.Join(real, "up")))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/relative", "/absolute", "/short/up", "/short/../target.csv"} {
		if err := Write(dir+path, []byte(path)); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "elsewhere", "target.csv"))
		if err != nil || string(text) != path {
			t.Errorf("%s: the target holds %q, %v", path, text, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "target.csv")); err == nil {
			t.Errorf("%s: a file that the link does not name was written", path)
		}
	}
}

func TestFIFOsAndDevicesAreWrittenNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := Write(path, []byte("through")); err != nil {
		t.Fatal(err)
	}
	if err := reader.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(reader); string(text) != "through" || err != nil {
		t.Errorf("the reader of the FIFO has %q, %v", text, err)
	}
	for name, kind := range map[string]fs.FileMode{path: fs.ModeNamedPipe, os.DevNull: fs.ModeDevice | fs.ModeCharDevice} {
		// A link to a device is replaced as the device is where a test may not replace it.
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(name, link); err != nil {
			t.Fatal(err)
		}
		if name == os.DevNull {
			if err := Write(link, []byte("lost")); err != nil {
				t.Error(err)
			}
		}
		if info, err := os.Stat(link); err != nil || info.Mode().Type() != kind {
			t.Errorf("%s has become %v, %v", name, info.Mode(), err)
		}
	}
}

func TestErrorsNameTheFileThatWasAskedFor(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "new") + "/", filepath.Join(file, "below")} {
		err := Write(path, []byte("x"))
		if err == nil || !strings.Contains(err.Error(), file) && !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), prefix) {
			t.Errorf("%s: %v", path, err)
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("left are %v, %v", entries, err)
	}
	if err := WriteFile(file, func(io.Writer) error { return io.ErrClosedPipe }); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if text, err := os.ReadFile(file); string(text) != "old" || err != nil {
		t.Errorf("after a failed write the file holds %q, %v", text, err)
	}
}
