package launch

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, mode os.FileMode, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("program", 0o755, "#!/bin/sh\n")
	write("text", 0o644, "abc")
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	const (
		abc   = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
		empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	)
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		name string
		k    Kernel
		want []string
	}{
		{"all there", Kernel{Dir: dir, Argv: []string{"./program"}, Data: []Data{{Path: "text", SHA256: abc}, {Path: in("text")}}}, nil},
		{"from PATH", Kernel{Argv: []string{"sh"}}, nil},
		{"absolute", Kernel{Argv: []string{in("program")}}, nil},
		{"no folder", Kernel{Dir: in("nowhere"), Argv: []string{"./program"}, Data: []Data{{Path: "text"}}}, []string{
			in("nowhere") + " is missing; give the suite's folder with --set, or correct workdir",
		}},
		{"not a folder", Kernel{Dir: in("text"), Argv: []string{"./program"}}, []string{
			in("text") + " is not a folder; give the suite's folder with --set, or correct workdir",
		}},
		{"several", Kernel{Dir: dir, Argv: []string{"./nothing"}, Data: []Data{{Path: "nothing.txt"}, {Path: "text", SHA256: empty}, {Path: "folder"}}}, []string{
			in("nothing") + " is missing; build it, or correct argv",
			in("nothing.txt") + " is missing; fetch the suite's data, or correct data",
			in("text") + " has SHA-256 " + abc + ", not " + empty + "; fetch it again, or correct the manifest",
			in("folder") + " cannot be read: is a directory; fetch the suite's data, or correct data",
		}},
		{"not executable", Kernel{Dir: dir, Argv: []string{"./text"}}, []string{
			in("text") + " is not executable; make it so with chmod +x",
		}},
		{"folder as program", Kernel{Dir: dir, Argv: []string{"./folder"}}, []string{
			in("folder") + " is not a program; build it, or correct argv",
		}},
		{"not in PATH", Kernel{Argv: []string{"miglab-no-such-program"}}, []string{
			"miglab-no-such-program is not in PATH; install it, or give its path",
		}},
	} {
		c.k.Name, c.k.File, c.k.Line = "NW", "m.yaml", 7
		errs := c.k.Check()
		if len(errs) != len(c.want) {
			t.Errorf("%s: %v\nwant %q", c.name, errs, c.want)
			continue
		}
		for i, err := range errs {
			if err.Error() != "m.yaml:7: kernel NW: "+c.want[i] {
				t.Errorf("%s: %v\nwant m.yaml:7: kernel NW: %s", c.name, err, c.want[i])
			}
		}
	}
}

func TestExecutable(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"./program", "1"}, program},
		{[]string{program}, program},
		{[]string{"./nothing"}, filepath.Join(dir, "nothing")}, // a name with a slash is not looked up
		{[]string{"miglab-no-such-program"}, ""},
	} {
		k := Kernel{Dir: dir, Argv: c.argv}
		if got := k.Executable(); got != c.want {
			t.Errorf("%q: %q, want %q", c.argv, got, c.want)
		}
	}
}
