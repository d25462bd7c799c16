package slurm

import (
	"context"
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

func TestSubmit(t *testing.T) {
	sent := fake(t, map[string]string{
		"scancel": "", "sbatch": `case "$*" in *" task") echo "100;west" ;; *) echo 103 ;; esac`,
	})
	s := Submission{Name: "x-1", Program: "/p/miglab", Sweep: "/w/s", Tasks: []int{0, 1, 2, 3, 5, 8, 10, 11}, Limit: 2, Args: []string{"--partition=cpu"}}
	array, merge, err := s.Submit(t.Context())
	if err != nil || array != "100" || merge != "103" {
		t.Fatalf("jobs %q and %q, %v", array, merge, err)
	}
	common := "sbatch --parsable --job-name=x-1 --output=/w/s/logs/"
	want := []string{
		common + "%A_%a.log --partition=cpu --array=0-3,5,8,10-11%2 /w/s/script.sh task",
		common + "%j.log --partition=cpu --dependency=afterany:100 /w/s/script.sh merge",
	}
	if got := sent(); !slices.Equal(got, want) {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestSubmitThatFailsLeavesNothing(t *testing.T) {
	for _, test := range []struct {
		name, sbatch, want string
	}{
		{
			"partition", "echo 'sbatch: error: invalid partition specified: x' >&2; echo 'sbatch: error: Batch job submission failed: Invalid partition name specified' >&2; exit 1",
			"sbatch: Batch job submission failed: Invalid partition name specified",
		},
		{"merge", `case "$*" in *merge) exit 3 ;; *) echo 100 ;; esac`, "sbatch: exit status 3"},
		{"nonsense", "echo Submitted batch job 100", `sbatch answers "Submitted batch job 100\n" and not a job's number`},
	} {
		t.Run(test.name, func(t *testing.T) {
			sent := fake(t, map[string]string{"scancel": "", "sbatch": test.sbatch})
			s := Submission{Name: "x-1", Program: "/p", Sweep: "/s", Tasks: []int{0, 4}}
			array, merge, err := s.Submit(t.Context())
			if err == nil || err.Error() != test.want || array != "" || merge != "" {
				t.Errorf("jobs %q and %q, error %v, want %s", array, merge, err, test.want)
			}
			if got := sent(); (test.name == "merge") != slices.Contains(got, "scancel 100") {
				t.Errorf("cancelled by number: %q", got)
			}
		})
	}
}

func TestWithoutSlurm(t *testing.T) {
	fake(t, nil)
	want := "no sbatch on the PATH: miglab submit slurm works where jobs are submitted, as on a login node; miglab run needs no Slurm"
	s := Submission{Name: "x", Program: "/p", Sweep: "/a b", Tasks: []int{0, 1000}}
	if _, _, err := s.Submit(t.Context()); err == nil || err.Error() != want {
		t.Errorf("submitted: %v", err)
	}
	want = `array=$(sbatch --parsable --job-name=x '--output=/a b/logs/%A_%a.log' --array=0,1000 '/a b/script.sh' task)
merge=$(sbatch --parsable --job-name=x '--output=/a b/logs/%j.log' --dependency=afterany:$array '/a b/script.sh' merge)
`
	if got := s.Commands(); got != want {
		t.Errorf("%s", got)
	}
}

// TestCommandsAreWhatIsSent runs the commands that are shown in a shell.
func TestCommandsAreWhatIsSent(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	scripts := map[string]string{"scancel": "", "sbatch": `case "$*" in *" task") echo 7 ;; *) echo 9 ;; esac`}
	s := Submission{Name: "x", Program: "/p", Sweep: "/it's a $(sweep) 100%A", Tasks: []int{0, 1, 5}, Limit: 1, Args: []string{"--comment=a;b"}}
	sent := fake(t, scripts)
	if _, _, err := s.Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := sent()
	sent = fake(t, scripts)
	if out, err := exec.Command(shell, "-c", s.Commands()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got := sent(); !slices.Equal(got, want) {
		t.Errorf("shown\n%s\nsent\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestScript has a shell run the script in folders of hostile names.
func TestScript(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	for _, name := range []string{"plain", "a b", "it's", `"$HOME" \n $(x)`, "a\n#SBATCH --time=1", "%A*?"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		s := Submission{Program: filepath.Join(dir, "miglab"), Sweep: dir, Dir: dir + "/work"}
		run := func(args ...string) (string, error) {
			c := exec.Command(shell, append([]string{"-s"}, args...)...)
			c.Env = append(os.Environ(), "SLURM_ARRAY_TASK_ID=3", "SLURM_CPUS_ON_NODE=2")
			c.Stdin = strings.NewReader(s.Script())
			out, err := c.CombinedOutput()
			return string(out), err
		}
		if out, err := run("task"); err == nil || !strings.Contains(out, "both must be on a file system that all nodes share") {
			t.Errorf("%q without a plan: %v, %s", name, err, out)
		}
		for file, text := range map[string]string{"plan.json": "{}", "miglab": "#!/bin/sh\nprintf '<%s>' \"$@\"\n"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := run("task"); err == nil || !strings.Contains(out, "where the command was given") {
			t.Errorf("%q without a working directory: %v, %s", name, err, out)
		}
		if err := os.Mkdir(s.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := run("task"); err != nil || out != "<task><"+dir+"><--index><3><--workers><2>" {
			t.Errorf("%q: %v, %s", name, err, out)
		}
		if out, err := run("merge"); err != nil || out != "<merge><"+dir+">" {
			t.Errorf("%q: %v, %s", name, err, out)
		}
	}
}

func TestWord(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOfN(rapid.RuneFrom([]rune("ab /'\"$\\%*~#=\n!{}é")), 0, 20, -1).Draw(t, "s")
		out, err := exec.Command(shell, "-c", "printf %s "+Word(s)).Output()
		if err != nil || string(out) != s {
			t.Fatalf("%s: %v, %q", Word(s), err, out)
		}
	})
}

func TestCancelledWhileSubmitting(t *testing.T) {
	sent := fake(t, map[string]string{"scancel": "", "sbatch": "echo 1"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := Submission{Name: "x", Program: "/p", Sweep: "/s", Tasks: []int{0}}
	if _, _, err := s.Submit(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if got := sent(); len(got) > 0 {
		t.Errorf("sent %q", got)
	}
}
