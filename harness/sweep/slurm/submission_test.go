package slurm

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// fake puts commands of Slurm on the PATH that are shell scripts, and nothing else but the
// shell's own folder.
func fake(t *testing.T, scripts map[string]string) (log func() []string) {
	t.Helper()
	dir := t.TempDir()
	sent := filepath.Join(dir, "sent.txt")
	for name, body := range scripts {
		text := "#!/bin/sh\necho \"" + name + " $*\" >>'" + sent + "'\n" + body + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	return func() []string {
		raw, err := os.ReadFile(sent)
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	}
}

// prepare makes the folder of a sweep, with a name, and writes its script.
func prepare(t *testing.T, name string, s *Submission) {
	t.Helper()
	s.Sweep = filepath.Join(t.TempDir(), name)
	s.Program, s.Dir = filepath.Join(s.Sweep, "miglab"), filepath.Join(s.Sweep, "work")
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for file, text := range map[string]string{
		"plan.json": "{}", "miglab": "#!/bin/sh\nprintf '<%s>' \"$@\"\n", "script.sh": s.Script(),
	} {
		if err := os.WriteFile(filepath.Join(s.Sweep, file), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// shell returns the path of a shell, without which the test is skipped. Tests then set PATH to fake commands.
func shell(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	return path
}

func TestSubmit(t *testing.T) {
	sh := shell(t)
	for _, name := range []string{"s", "it's a $(sweep) 100%A"} {
		s := Submission{Name: "x-1", Limit: 2, Args: []string{"--partition=cpu", "--comment=a;b"}}
		prepare(t, name, &s)
		sent := fake(t, map[string]string{"scancel": "", "sbatch": `case "$*" in *" task") echo "100;west" ;; *) echo 103 ;; esac`})
		out, err := Run(t.Context(), sh, s.ScriptPath(), "submit", Ranges([]int{0, 1, 2, 3, 5, 8, 10, 11}))
		if err != nil || out != "job      100: tasks\njob      103: merge, after them\n" {
			t.Fatalf("%q, %v", out, err)
		}
		common := "sbatch --parsable --job-name=x-1 --partition=cpu --comment=a;b --output=" + strings.ReplaceAll(s.Sweep, "%", "%%") + "/logs/"
		want := []string{
			common + "%A_%a.log --array=0-3,5,8,10-11%2 " + s.Sweep + "/script.sh task",
			common + "%j.log --dependency=afterany:100 " + s.Sweep + "/script.sh merge",
		}
		if got := sent(); !slices.Equal(got, want) {
			t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func TestSubmitThatFailsLeavesNothing(t *testing.T) {
	sh := shell(t)
	for _, test := range []struct {
		name, sbatch, want string
	}{
		{
			"partition", "echo 'sbatch: error: invalid partition specified: x' >&2; echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1",
			"sbatch: error: Batch job submission failed: Invalid partition name specified",
		},
		{"merge", `case "$*" in *merge) echo 'sbatch: error: no' >&2; exit 3 ;; *) echo 100 ;; esac`, "sbatch: error: no"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Submission{Name: "x-1"}
			prepare(t, "s", &s)
			sent := fake(t, map[string]string{"scancel": "", "sbatch": test.sbatch})
			out, err := Run(t.Context(), sh, s.ScriptPath(), "submit", "0,4")
			if err == nil || err.Error() != test.want || out != "" {
				t.Errorf("%q, error %v, want %s", out, err, test.want)
			}
			if got := sent(); (test.name == "merge") != slices.Contains(got, "scancel 100") {
				t.Errorf("cancelled by number: %q", got)
			}
		})
	}
}

// TestScript has a shell run the script in folders of hostile names.
func TestScript(t *testing.T) {
	sh := shell(t)
	for _, name := range []string{"plain", "a b", "it's", `"$HOME" \n $(x)`, "a\n#SBATCH --time=1", "%A*?"} {
		var s Submission
		prepare(t, name, &s)
		run := func(args ...string) (string, error) {
			c := exec.Command(sh, append([]string{"-s"}, args...)...)
			c.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=3", "SLURM_CPUS_ON_NODE=2")
			c.Stdin = strings.NewReader(s.Script())
			out, err := c.CombinedOutput()
			return string(out), err
		}
		if out, err := run("task"); err != nil || out != "<task><"+s.Sweep+"><--index><3><--workers><2>" {
			t.Errorf("%q: %v, %s", name, err, out)
		}
		if out, err := run("merge"); err != nil || out != "<merge><"+s.Sweep+">" {
			t.Errorf("%q: %v, %s", name, err, out)
		}
		if err := os.Remove(s.Dir); err != nil {
			t.Fatal(err)
		}
		if out, err := run("task"); err == nil || !strings.Contains(out, "where the command was given") {
			t.Errorf("%q without a working directory: %v, %s", name, err, out)
		}
		if err := os.Remove(filepath.Join(s.Sweep, "plan.json")); err != nil {
			t.Fatal(err)
		}
		if out, err := run("task"); err == nil || !strings.Contains(out, "both must be on a file system that all nodes share") {
			t.Errorf("%q without a plan: %v, %s", name, err, out)
		}
	}
}

func TestWord(t *testing.T) {
	sh := shell(t)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("ab /'\"$\\%*~#=\n!{}é")), 0, 20, -1).Draw(t, "s")
		out, err := exec.Command(sh, "-c", "printf %s "+Word(s)).Output()
		if err != nil || string(out) != s {
			t.Fatalf("%s: %v, %q", Word(s), err, out)
		}
	})
}
