package mps

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/devicetest"
)

// uuid is that of the fake GPU.
const uuid = "GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f"

// A whole is a fake GPU that nothing divides.
type whole struct {
	*devicetest.GPU
	id profiling.Identity
	// closed counts the calls of Close.
	closed *int
}

func (w whole) Close() error {
	*w.closed++
	return nil
}

func (w whole) Identify() (profiling.Identity, error) {
	_, err := w.GPU.Identify()
	return w.id, err
}

// board returns a GPU of a name and a memory in MiB.
func board(name string, memory int) whole {
	return whole{
		devicetest.New(mig.MustLookup("H200"), devicetest.SMLimit()),
		profiling.Identity{UUID: uuid, Name: name, MemoryMiB: memory, Driver: "580.65.06", Source: mig.SourceMIG},
		new(int),
	}
}

func a100() whole { return board("NVIDIA A100-SXM4-40GB", 40960) }
func h200() whole { return board("NVIDIA H200", 143771) }

// fakeControl has a daemon that is a sleeping process, and its number in a file as
// the real one. Files beside it say what goes wrong.
const fakeControl = `#!/bin/sh
here=$(dirname "$0")
pid=$CUDA_MPS_PIPE_DIRECTORY/nvidia-cuda-mps-control.pid
if [ "$1" = -d ]; then
	if [ -f "$here/refuse-start" ]; then cat "$here/refuse-start"; exit 1; fi
	if [ -f "$here/start-nothing" ]; then exit 0; fi
	if [ -f "$pid" ]; then echo "An instance of this daemon is already running"; exit 1; fi
	env | grep ^CUDA_ | sort >"$here/daemon-env"
	if [ -r /proc/$$/stat ]; then cut -d " " -f 5 /proc/$$/stat >"$here/group"; fi
	sleep 1000 &
	echo $! >>"$here/daemons"
	echo $! >"$pid"
	exit 0
fi
read -r line
echo "$line" >>"$here/asked"
if [ -f "$here/crash" ]; then kill -KILL $$; fi
if [ ! -f "$pid" ]; then echo "Cannot find MPS control daemon process"; exit 1; fi
case "$line" in
get_default_active_thread_percentage) cat "$here/limit" ;;
get_server_list) cat "$here/servers" ;;
quit*)
	if [ -f "$here/refuse-quit" ]; then exit 0; fi
	kill "$(cat "$pid")"
	rm "$pid" ;;
*) echo "Unknown command"; exit 1 ;;
esac
`

// fake is a folder with the fake control program, first in PATH.
type fake struct {
	t   *testing.T
	dir string
}

// newFake puts the fake control program into PATH. When the test is over, no daemon may be left.
func newFake(t *testing.T) fake {
	t.Helper()
	f := fake{t, t.TempDir()}
	if err := os.WriteFile(filepath.Join(f.dir, control), []byte(fakeControl), 0o755); err != nil {
		t.Fatal(err)
	}
	f.say("limit", "100.0\n")
	f.say("servers", "")
	t.Setenv("PATH", f.dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Cleanup(func() {
		for _, pid := range f.daemons() {
			if !ended(pid) {
				t.Errorf("the daemon with the number %d is left", pid)
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	})
	return f
}

// say writes what the fake program answers.
func (f fake) say(file, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, file), []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
}

// unsay takes back what say wrote.
func (f fake) unsay(file string) {
	f.t.Helper()
	if err := os.Remove(filepath.Join(f.dir, file)); err != nil {
		f.t.Fatal(err)
	}
}

// said reads what the fake program wrote.
func (f fake) said(file string) string {
	text, err := os.ReadFile(filepath.Join(f.dir, file))
	if err != nil && !os.IsNotExist(err) {
		f.t.Fatal(err)
	}
	return string(text)
}

// daemons lists the daemons that were ever started.
func (f fake) daemons() (pids []int) {
	for _, word := range strings.Fields(f.said("daemons")) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			f.t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

// alive says whether there is a process that is not just waiting for its parent.
func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && strings.Contains(string(stat), ") Z ") {
		return false
	}
	return syscall.Kill(pid, 0) == nil
}

// ended says whether a process ends that was told to: that takes the system a moment.
func ended(pid int) bool {
	for range 5000 {
		if !alive(pid) {
			return true
		}
		time.Sleep(time.Millisecond)
	}
	return false
}

// short is a folder whose path is short enough for sockets.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mps")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// fails is for GPUs whose multiprocessors nobody counts.
func fails(context.Context, string) (int, error) { return 0, errors.New("there is no CUDA") }

// opened opens a fake GPU and closes it at the end of the test.
func opened(t *testing.T, gpu whole) *Device {
	t.Helper()
	d, err := Open(t.Context(), gpu, short(t), fails)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// holdVariable names the folder in which a process of this test program holds the GPU.
const holdVariable = "MIGLAB_TEST_HOLD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(holdVariable); dir != "" {
		if _, err := Open(context.Background(), h200(), dir, fails); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("open")
		time.Sleep(time.Hour) // until it is killed
	}
	os.Exit(m.Run())
}

// holder starts a process that has the GPU open; kill ends it with SIGKILL.
func holder(t *testing.T, dir string) (kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), holdVariable+"="+dir)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() {
		c.Process.Kill()
		c.Wait()
	}
	t.Cleanup(kill)
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the other process says %q", line)
	}
	return kill
}
