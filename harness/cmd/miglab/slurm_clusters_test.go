//go:build linux

package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// submit submits a script and returns the job's number.
func submit(c *slurmCluster, script string, args ...string) string {
	c.t.Helper()
	return c.Output("sbatch", slices.Concat([]string{"--parsable", "--output=/dev/null"}, args, []string{"--wrap", script})...)
}

// awaitFiles waits until there are so many files that match a pattern.
func awaitFiles(c *slurmCluster, n int, pattern string) []string {
	c.t.Helper()
	var found []string
	c.Await(fmt.Sprintf("%d files %s", n, pattern), func() bool {
		found, _ = filepath.Glob(pattern)
		return len(found) >= n
	})
	return found
}

func TestArrayRunsOnAllNodesAndWhatDependsOnItAfterwards(t *testing.T) {
	dir := t.TempDir()
	c := startSlurm(t, 2, 2)
	array := submit(c, "sleep 0.2; touch "+dir+"/$SLURM_ARRAY_TASK_ID.$SLURMD_NODENAME", "--array=0-3")
	submit(c, "ls "+dir+" >"+dir+"/all.tmp && mv "+dir+"/all.tmp "+dir+"/all", "--dependency=afterany:"+array)
	awaitFiles(c, 1, dir+"/all")
	raw, err := os.ReadFile(dir + "/all")
	if err != nil {
		t.Fatal(err)
	}
	ran := map[string]int{}
	for _, name := range strings.Fields(string(raw)) {
		ran[filepath.Ext(name)]++
	}
	if ran[".n1"] != 2 || ran[".n2"] != 2 {
		t.Errorf("of 4 tasks there ran %v when the job after them began", ran)
	}
}

func TestNodesAndControllerComeAndGo(t *testing.T) {
	dir := t.TempDir()
	c := startSlurm(t, 1, 1)
	job := submit(c, "touch "+dir+"/begun; while ! [ -e "+dir+"/go ]; do sleep 0.05; done; touch "+dir+"/done")
	awaitFiles(c, 1, dir+"/begun")
	c.KillNode("n1")
	c.StartNode("n1")
	c.StopController()
	if err := c.Command("scontrol", "ping").Run(); err == nil {
		t.Error("the controller answers")
	}
	if err := os.WriteFile(dir+"/go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	awaitFiles(c, 1, dir+"/done") // the job outlives both
	c.StartController()
	c.Await("the controller to notice", func() bool {
		return c.Output("squeue", "--noheader", "--states=all", "--jobs="+job, "--format=%T") == "COMPLETED"
	})
}

// A listener is a TCP socket that listens.
type listener struct {
	address net.IP
	port    int
}

// listeners returns the sockets on which processes listen.
func listeners(t *testing.T, pids []int) []listener {
	t.Helper()
	own := map[string]bool{} // by inode
	for _, pid := range pids {
		fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
		for _, fd := range fds {
			to, _ := os.Readlink(fd)
			if inode, is := strings.CutPrefix(to, "socket:["); is {
				own[strings.TrimSuffix(inode, "]")] = true
			}
		}
	}
	var found []listener
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		f, err := os.Open(table)
		if err != nil {
			continue // a kernel without IPv6
		}
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			// sl local_address rem_address st ... inode, as 0: 0100007F:1F90 00000000:0000 0A.
			field := strings.Fields(lines.Text())
			if len(field) < 10 || field[3] != "0A" || !own[field[9]] {
				continue
			}
			address, port, _ := strings.Cut(field[1], ":")
			ip, err := hex.DecodeString(address)
			if err != nil {
				t.Fatal(err)
			}
			for word := range slices.Chunk(ip, 4) {
				slices.Reverse(word) // the words are in the machine's order
			}
			n, err := strconv.ParseInt(port, 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, listener{ip, int(n)})
		}
	}
	return found
}

func TestListensOnLoopbackAlone(t *testing.T) {
	c := startSlurm(t, 2, 1)
	found := listeners(t, processes(c.mark()))
	if len(found) != 3 {
		t.Errorf("%d sockets listen, want one of slurmctld and of each of 2 nodes", len(found))
	}
	for _, l := range found {
		if !l.address.IsLoopback() {
			t.Errorf("port %d listens on %s", l.port, l.address)
		}
	}
}

// TestListensOnLoopbackWhateverTheHostName runs the test before with a host name that
// stands for nothing.
func TestListensOnLoopbackWhateverTheHostName(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can set a host name")
	}
	startSlurm(t, 1, 1) // or skip
	test := exec.Command("unshare", "--uts", "sh", "-c", `hostname nowhere.invalid && exec "$0" "$@"`,
		os.Args[0], "-test.run=^TestListensOnLoopbackAlone$", "-test.v")
	if out, err := test.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}

// busy starts a cluster with a job that would run for an hour and a child of it.
func busy(t *testing.T) *slurmCluster {
	t.Helper()
	c := startSlurm(t, 2, 1)
	begun := c.path("begun")
	submit(c, "sleep 3600 & touch "+begun+"; wait")
	awaitFiles(c, 1, begun)
	// munged, slurmctld, 2 slurmd, slurmstepd, the job's shell and its child.
	if running := processes(c.mark()); len(running) < 7 {
		t.Errorf("only %d processes run", len(running))
	}
	return c
}

// gone checks that nothing of a cluster is left.
func gone(t *testing.T, dir string) {
	t.Helper()
	mark := (&slurmCluster{dir: dir}).mark()
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		left := processes(mark)
		_, err := os.Stat(dir)
		if len(left) == 0 && os.IsNotExist(err) {
			return
		}
		if time.Since(begin) > slurmPatience {
			t.Fatalf("processes %v and the folder %s are left: %v", left, dir, err)
		}
	}
}

func TestNothingIsLeft(t *testing.T) {
	var c *slurmCluster
	t.Run("cluster", func(t *testing.T) { c = busy(t) })
	if c == nil {
		t.Skip("no cluster")
	}
	if left := processes(c.mark()); len(left) > 0 {
		t.Errorf("processes %v are left", left)
	}
	gone(t, c.dir)
}

// dying is set where the test process is to be ended in mid-test, to a file for the folder
// of its cluster. Named panics, the process ends itself as the deadline of go test does.
const dying = "SLURMTEST_DYING"

func TestNothingIsLeftOfATestThatDies(t *testing.T) {
	if path := os.Getenv(dying); path != "" {
		dir := busy(t).dir
		if err := os.WriteFile(path+".tmp", []byte(dir), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".tmp", path); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "panics" {
			go panic("as if the test took too long")
		}
		select {}
	}
	startSlurm(t, 1, 1) // or skip
	for _, name := range []string{"killed", "panics"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNothingIsLeftOfATestThatDies$")
			test.Env = append(os.Environ(), dying+"="+path)
			if err := test.Start(); err != nil {
				t.Fatal(err)
			}
			var dir []byte
			for begin := time.Now(); dir == nil && time.Since(begin) < slurmPatience; time.Sleep(20 * time.Millisecond) {
				dir, _ = os.ReadFile(path)
			}
			if dir == nil {
				t.Fatal("the test process has no cluster")
			}
			if name == "killed" {
				if err := test.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
			if err := test.Wait(); err == nil {
				t.Error("the test process ended well")
			}
			gone(t, string(dir))
		})
	}
}

// recorder notes how a test ends.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Fatal(...any) { r.stop("failed") }
func (r *recorder) Skip(...any)  { r.stop("skipped") }

func (r *recorder) stop(end string) {
	r.end = end
	runtime.Goexit()
}

func TestWithoutSlurm(t *testing.T) {
	if testing.Short() {
		t.Skip("is about tests that are not short")
	}
	t.Setenv("PATH", t.TempDir())
	for require, want := range map[string]string{"": "skipped", "1": "failed"} {
		t.Setenv("MIGLAB_REQUIRE_SLURM", require)
		r := &recorder{TB: t}
		done := make(chan bool)
		go func() {
			defer close(done)
			startSlurm(r, 1, 1)
		}()
		<-done
		if r.end != want {
			t.Errorf("MIGLAB_REQUIRE_SLURM=%q: the test was %q, want %q", require, r.end, want)
		}
	}
}

// Clusters that run at the same time never get the same port. Each of these would find
// about nine ports of the other if it looked only at what listens.
func TestTakePortsOfOneClusterOnly(t *testing.T) {
	a, b := &slurmCluster{t: t}, &slurmCluster{t: t}
	of := map[int]bool{}
	for _, c := range []*slurmCluster{a, b} {
		ports, err := c.takePorts(300)
		if err != nil {
			t.Fatal(err)
		}
		for _, port := range ports {
			if of[port] {
				t.Errorf("port %d was taken twice", port)
			}
			of[port] = true
		}
	}
}
