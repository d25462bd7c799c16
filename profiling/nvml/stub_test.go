//go:build cgo && linux

package nvml_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"miglab/profiling/nvml/nvmltest"
)

// child is the environment variable that names the test that a process is to run.
const child = "MIGLAB_NVML_TEST"

// A stubTest runs in a process of its own, which sees the GPUs of a state: a library
// stays in the process that loaded it.
type stubTest struct {
	name string
	// state is the stub's; empty, it is one A100.
	state []string
	run   func(t *testing.T, s nvmltest.State)
}

// stubs are the folders of the stubs that were compiled, by flags.
var stubs = map[string]string{}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, dir := range stubs {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// built compiles the stub with flags once, and returns its folder.
func built(t *testing.T, flags ...string) string {
	t.Helper()
	key := strings.Join(flags, " ")
	if stubs[key] == "" {
		from := nvmltest.Build(t, flags...)
		dir, err := os.MkdirTemp("", "miglab-nvml-")
		if err != nil {
			t.Fatal(err)
		}
		stubs[key] = dir
		if err := os.CopyFS(dir, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return stubs[key]
}

// onStub runs tests with the stub, compiled with flags.
func onStub(t *testing.T, tests []stubTest, flags ...string) {
	t.Helper()
	var dir string
	if os.Getenv(child) == "" {
		dir = built(t, flags...)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if os.Getenv(child) == t.Name() {
				tt.run(t, nvmltest.State(os.Getenv(nvmltest.Variable)))
				return
			}
			state := tt.state
			if len(state) == 0 {
				state = []string{nvmltest.A100}
			}
			out, err := again(t, t.Name(), nvmltest.New(t, state...).Env(dir)...).CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if !strings.Contains(string(out), "--- PASS: "+t.Name()+" ") {
				t.Fatalf("the process did not run the test:\n%s", out)
			}
		})
	}
}

// again is this program, to run one test.
func again(t *testing.T, name string, env ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run", "^"+strings.ReplaceAll(name, "/", "$/^")+"$")
	cmd.Env = append(append(os.Environ(), child+"="+name), env...)
	return cmd
}
