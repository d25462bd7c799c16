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

// config is a scontrol with a largest array.
const config = `echo "MaxArraySize            = 4"`

func TestSubmit(t *testing.T) {
	// The third array is number 102.
	sent := fake(t, map[string]string{
		"scontrol": config, "scancel": "",
		"sbatch": `case "$*" in *" task 0") echo 100 ;; *" task 4") echo "101;west" ;; *" task 8") echo 102 ;; *) echo 103 ;; esac`,
	})
	s := Submission{Name: "x-1", Program: "/p/miglab", Sweep: "/w/s", Tasks: []int{0, 1, 2, 3, 5, 8, 10, 11}, Args: []string{"--partition=cpu"}}
	arrays, merge, err := s.Submit(t.Context())
	if err != nil || !slices.Equal(arrays, []string{"100", "101", "102"}) || merge != "103" {
		t.Fatalf("jobs %q and %q, %v", arrays, merge, err)
	}
	common := "sbatch --parsable --job-name=x-1 --output=/w/s/logs/"
	want := []string{
		"scontrol show config",
		common + "%A_%a.log --partition=cpu --array=0-3 /w/s/script.sh task 0",
		common + "%A_%a.log --partition=cpu --array=1 /w/s/script.sh task 4",
		common + "%A_%a.log --partition=cpu --array=0,2-3 /w/s/script.sh task 8",
		common + "%j.log --partition=cpu --dependency=afterany:100:101:102 /w/s/script.sh merge",
	}
	if got := sent(); !slices.Equal(got, want) {
		t.Errorf("sent\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLimit: Slurm limits each array alone, so that one has to wait for the other.
func TestLimit(t *testing.T) {
	sent := fake(t, map[string]string{
		"scontrol": config, "sbatch": `case "$*" in *" task 0") echo 7 ;; *) echo 8 ;; esac`,
	})
	s := Submission{Name: "x", Program: "/p", Sweep: "/s", Tasks: []int{0, 1, 4, 5}, Limit: 2}
	if _, _, err := s.Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := strings.Join(sent(), "\n")
	if !strings.Contains(got, " --array=0-1%2 /s/script.sh task 0") || !strings.Contains(got, " --dependency=afterany:7 --array=0-1%2 /s/script.sh task 4") {
		t.Errorf("sent\n%s", got)
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
		{"second array", `case "$*" in *" task 0") echo 100 ;; *) echo 'sbatch: error: full' >&2; exit 1 ;; esac`, "sbatch: full"},
		{"merge", `case "$*" in *merge) exit 3 ;; *) echo 100 ;; esac`, "sbatch: exit status 3"},
		{"nonsense", "echo Submitted batch job 100", `sbatch: answers "Submitted batch job 100\n" and not a job's number`},
	} {
		t.Run(test.name, func(t *testing.T) {
			sent := fake(t, map[string]string{"scontrol": config, "scancel": "", "sbatch": test.sbatch})
			s := Submission{Name: "x-1", Program: "/p", Sweep: "/s", Tasks: []int{0, 4}}
			arrays, merge, err := s.Submit(t.Context())
			if err == nil || err.Error() != test.want || arrays != nil || merge != "" {
				t.Errorf("jobs %q and %q, error %v, want %s", arrays, merge, err, test.want)
			}
			if got := sent(); got[len(got)-1] != "scancel --me --name=x-1" {
				t.Errorf("not cancelled: %q", got)
			}
			if got := sent(); (test.name == "second array") != slices.Contains(got, "scancel 100") && test.name != "merge" {
				t.Errorf("cancelled by number: %q", got)
			}
		})
	}
}

func TestWithoutSlurm(t *testing.T) {
	fake(t, nil)
	want := "no sbatch on the PATH: miglab submit slurm works where jobs are submitted, as on a login node; miglab run needs no Slurm"
	if err := FindCommands(); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
	s := Submission{Name: "x", Program: "/p", Sweep: "/a b", Tasks: []int{0, 1000, 1001}}
	if _, _, err := s.Submit(t.Context()); !errors.As(err, new(*NotFoundError)) {
		t.Errorf("submitted: %v", err)
	}
	got, err := s.Commands(t.Context())
	want = `# scontrol show config could not be asked (` + (&NotFoundError{"scontrol"}).Error() + `); arrays of at most 1001 tasks are assumed
array0=$(sbatch --parsable --job-name=x '--output=/a b/logs/%A_%a.log' --array=0,1000 '/a b/script.sh' task 0)
array1=$(sbatch --parsable --job-name=x '--output=/a b/logs/%A_%a.log' --array=0 '/a b/script.sh' task 1001)
merge=$(sbatch --parsable --job-name=x '--output=/a b/logs/%j.log' --dependency=afterany:$array0:$array1 '/a b/script.sh' merge)
`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestCommandsAreWhatIsSent runs the commands that are shown in a shell.
func TestCommandsAreWhatIsSent(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip(err)
	}
	scripts := map[string]string{"scontrol": config, "scancel": "", "sbatch": `case "$*" in *" task 0") echo 7 ;; *" task 4") echo 8 ;; *) echo 9 ;; esac`}
	s := Submission{Name: "x", Program: "/p", Sweep: "/it's a $(sweep) 100%A", Tasks: []int{0, 1, 5}, Limit: 1, Args: []string{"--comment=a;b"}}
	sent := fake(t, scripts)
	if _, _, err := s.Submit(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := sent()[1:] // but for the question for the size
	commands, err := s.Commands(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	sent = fake(t, scripts)
	if out, err := exec.Command(shell, "-c", commands).CombinedOutput(); err != nil {
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
		if out, err := run("task", "4"); err == nil || !strings.Contains(out, "both must be on a file system that all nodes share") {
			t.Errorf("%q without a plan: %v, %s", name, err, out)
		}
		for file, text := range map[string]string{"plan.json": "{}", "miglab": "#!/bin/sh\nprintf '<%s>' \"$@\"\n"} {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := run("task", "4"); err == nil || !strings.Contains(out, "where the command was given") {
			t.Errorf("%q without a working directory: %v, %s", name, err, out)
		}
		if err := os.Mkdir(s.Dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := run("task", "4"); err != nil || out != "<task><"+dir+"><--index><3><--offset><4><--workers><2>" {
			t.Errorf("%q: %v, %s", name, err, out)
		}
		if out, err := run("merge"); err != nil || out != "<merge><"+dir+">" {
			t.Errorf("%q: %v, %s", name, err, out)
		}
	}
}

// TestParts: every task is sent once, whatever the size of arrays.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tasks := rapid.SliceOfDistinct(rapid.IntRange(0, 60), func(n int) int { return n }).Draw(t, "tasks")
		slices.Sort(tasks)
		size := rapid.IntRange(1, 20).Draw(t, "size")
		var got []int
		for _, p := range (&Submission{Tasks: tasks}).parts(size) {
			for _, i := range p.indices {
				if i < 0 || i >= size {
					t.Fatalf("index %d in arrays of %d", i, size)
				}
				got = append(got, p.offset+i)
			}
		}
		if !slices.Equal(got, tasks) {
			t.Fatalf("tasks %v", got)
		}
	})
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
	sent := fake(t, map[string]string{"scontrol": config, "scancel": "", "sbatch": "echo 1"})
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
