//go:build linux

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// slurmPatience is how long Await waits. Nothing takes as long; the loss of a node takes a quarter of it,
// more where the machine is busy.
const slurmPatience = 3 * time.Minute

// slurmController is the name of the controller among the daemons; the others are nodes.
const slurmController = "slurmctld"

// A slurmCluster is a real Slurm for tests: munged, slurmctld and some slurmd, on one machine, as
// whoever runs the test, without systemd and without a trace. The daemons have a configuration, a
// key, ports and a state folder of their own, so that clusters of several tests run beside each
// other and beside one that the machine may belong to, and they listen on loopback alone.
//
// Slurm's timers are set about as short as it bears: a node that is lost is given up after half a
// minute, and a job that is requeued starts again after some seconds. A time limit still has
// minutes for a unit, and is looked at every half a minute.
//
// The cluster runs until the end of its test. Its methods fail the test where something goes
// wrong, and are for the goroutine that runs the test.
type slurmCluster struct {
	t       testing.TB
	dir     string
	under   []string // the command that the daemons run under, if any
	nodes   []string
	daemons map[string]*exec.Cmd // those that run
}

// clusters has an element for each cluster that runs. With more of them at a time on two processors, Slurm's messages
// time out, and it requeues jobs that begin.
var clusters = make(chan struct{}, 5)

// startSlurm starts a cluster of nodes n1, n2, ... with so many CPUs each, whatever the machine
// has, and ends it with the test. With it ends each process that it started, jobs
// included, and its files go, even where the test is killed.
//
// Slurm's daemons listen on what the machine's host name stands for. Where that is not a
// loopback address, they get the host name localhost, in a namespace of their own, for
// which the test must run as root.
//
// With -short the test is skipped. It is where Slurm cannot run, too, unless
// MIGLAB_REQUIRE_SLURM is 1: then it fails.
//
// The end of the cluster comes before that of folders that the test made before it: call
// TempDir first for those that jobs write to.
func startSlurm(t testing.TB, nodes, cpus int) *slurmCluster {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a Slurm cluster")
	}
	clusters <- struct{}{}
	t.Cleanup(func() { <-clusters })
	host, under, err := hostName()
	if err = errors.Join(slurmInstalled(), err); err != nil {
		if os.Getenv("MIGLAB_REQUIRE_SLURM") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	// Not below TMPDIR: the path of a socket has at most 107 bytes.
	dir, err := os.MkdirTemp("/tmp", "slurmtest-")
	if err != nil {
		t.Fatal(err)
	}
	c := &slurmCluster{t: t, dir: dir, under: under, daemons: map[string]*exec.Cmd{}}
	c.endWithTest()
	for i := range nodes {
		c.nodes = append(c.nodes, fmt.Sprintf("n%d", i+1))
	}
	c.configure(host, cpus)
	socket := "--socket=" + c.path("munge.socket")
	c.start("munged", "munged", "--foreground", socket, "--key-file="+c.path("munge.key"),
		"--pid-file="+c.path("munged.pid"), "--seed-file="+c.path("munged.seed"))
	c.Await("munged to answer", func() bool { return c.Command("munge", "--no-input", socket).Run() == nil })
	c.StartController()
	for _, name := range c.nodes {
		c.StartNode(name)
	}
	return c
}

// slurmInstalled says what of Slurm and munge is missing.
func slurmInstalled() error {
	for _, name := range []string{"munged", "munge", "slurmctld", "slurmd", "slurmstepd", "sbatch"} {
		if _, err := lookPath(name); err != nil {
			return fmt.Errorf("no Slurm to test with: %w; Debian's packages are munge, slurmctld, slurmd and slurm-client", err)
		}
	}
	return nil
}

// lookPath finds a program in PATH or among those of the administrator.
func lookPath(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		if path, err := exec.LookPath(filepath.Join("/usr/sbin", name)); err == nil {
			return path, nil
		}
	}
	return path, err
}

// hostName returns the daemons' host name and, where it is not the machine's, the command
// that runs them under it.
func hostName() (name string, under []string, err error) {
	if name, err = os.Hostname(); err != nil {
		return "", nil, err
	}
	addresses, _ := net.LookupHost(name)
	elsewhere := func(address string) bool { return !net.ParseIP(address).IsLoopback() }
	switch {
	case len(addresses) > 0 && !slices.ContainsFunc(addresses, elsewhere):
		name, _, _ = strings.Cut(name, ".") // as Slurm does
		return name, nil, nil
	case os.Getuid() == 0:
		return "localhost", []string{"unshare", "--uts", "sh", "-c", `hostname localhost && exec "$0" "$@"`}, nil
	}
	return "", nil, fmt.Errorf("the host name %s stands for %q, and Slurm would listen there: run the test as root, or add the line \"127.0.0.1 %s\" to /etc/hosts", name, addresses, name)
}

// path returns the path of a file of the cluster.
func (c *slurmCluster) path(name string) string { return filepath.Join(c.dir, name) }

// mark is what each process of the cluster has in its environment, and no other.
func (c *slurmCluster) mark() string { return "SLURM_CONF=" + c.path("slurm.conf") }

// Env returns the environment in which Slurm's commands, and programs that call them,
// find the cluster. Their processes end with the test, too.
func (c *slurmCluster) Env() []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, "SLURM_") && !strings.HasPrefix(e, "SBATCH_") && !strings.HasPrefix(e, "SQUEUE_") {
			env = append(env, e)
		}
	}
	return append(env, c.mark())
}

// Command returns a command that finds the cluster.
func (c *slurmCluster) Command(name string, args ...string) *exec.Cmd {
	if path, err := lookPath(name); err == nil {
		name = path
	}
	command := exec.Command(name, args...)
	command.Env = c.Env()
	return command
}

// Output runs a command and returns what it prints, without the last newline.
func (c *slurmCluster) Output(name string, args ...string) string {
	c.t.Helper()
	command := c.Command(name, args...)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if name == "squeue" && command.ProcessState.ExitCode() < 0 { // slurmctld closed the connection, and a signal ended it
		return c.Output(name, args...)
	}
	if err != nil {
		c.t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &stderr)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Await waits until something is so, and fails the test where that takes too long.
func (c *slurmCluster) Await(what string, so func() bool) {
	c.t.Helper()
	for begin := time.Now(); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Since(begin) > slurmPatience {
			c.t.Fatalf("waited %s for %s\n%s", slurmPatience, what, c.Logs())
		}
	}
}

// Logs returns the ends of the daemons' logs.
func (c *slurmCluster) Logs() string {
	var all strings.Builder
	names, _ := filepath.Glob(c.path("*.log"))
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		fmt.Fprintf(&all, "--- %s\n%s\n", filepath.Base(name), raw[max(0, len(raw)-3000):])
	}
	return all.String()
}

// StartController starts the controller and waits until it answers.
func (c *slurmCluster) StartController() {
	c.t.Helper()
	c.start(slurmController, "slurmctld", "-D")
	c.Await("slurmctld to answer", func() bool { return c.Command("scontrol", "ping").Run() == nil })
}

// StopController stops the controller and waits until it has written its state.
func (c *slurmCluster) StopController() {
	c.t.Helper()
	c.stop(slurmController, syscall.SIGTERM)
}

// StartNode starts a node and waits until the controller gives it work.
func (c *slurmCluster) StartNode(name string) {
	c.t.Helper()
	c.start(name, "slurmd", "-D", "-N", name)
	c.Await("node "+name+" to register", func() bool {
		state, err := c.Command("sinfo", "--noheader", "--nodes="+name, "--format=%t").Output()
		return err == nil && slices.Contains([]string{"idle", "mix", "alloc"}, strings.TrimSpace(string(state)))
	})
}

// KillNode kills a node's daemon. As where a network fails, the jobs on the node go on, and
// when the controller gives the node up, it starts them again on another.
func (c *slurmCluster) KillNode(name string) {
	c.t.Helper()
	c.stop(name, syscall.SIGKILL)
}

// start starts a daemon.
func (c *slurmCluster) start(name, program string, args ...string) {
	c.t.Helper()
	if c.daemons[name] != nil {
		c.t.Fatalf("%s runs already", name)
	}
	log, err := os.OpenFile(c.path(name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		c.t.Fatal(err)
	}
	defer log.Close()
	d := c.Command(program, args...)
	if len(c.under) > 0 {
		d = c.Command(c.under[0], slices.Concat(c.under[1:], d.Args[:1], args)...)
	}
	d.Dir, d.Stdout, d.Stderr = c.dir, log, log
	d.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for the test
	if err := d.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.daemons[name] = d
}

// stop sends a daemon a signal and waits for its end.
func (c *slurmCluster) stop(name string, signal syscall.Signal) {
	c.t.Helper()
	d := c.daemons[name]
	if d == nil {
		c.t.Fatalf("%s does not run", name)
	}
	delete(c.daemons, name)
	if err := d.Process.Signal(signal); err != nil {
		c.t.Fatal(err)
	}
	_ = d.Wait() // it was killed, or says how a signal ended it
}

// configure writes the configuration and the key, and takes ports that are free.
func (c *slurmCluster) configure(host string, cpus int) {
	c.t.Helper()
	me, err := user.Current()
	if err != nil {
		c.t.Fatal(err)
	}
	ports, err := c.takePorts(1 + len(c.nodes))
	if err != nil {
		c.t.Fatal(err)
	}
	conf, err := os.ReadFile("testdata/slurm.conf")
	if err != nil {
		c.t.Fatal(err)
	}
	values := strings.NewReplacer("{dir}", c.dir, "{user}", me.Username, "{host}", host, "{port}", strconv.Itoa(ports[0]))
	conf = []byte(values.Replace(string(conf)))
	for i, name := range c.nodes {
		conf = fmt.Appendf(conf, "NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=%d\n", name, host, ports[1+i], cpus)
	}
	key := make([]byte, 1024)
	_, _ = rand.Read(key) // it never fails
	for _, err := range []error{
		os.Chmod(c.dir, 0o755), // munged insists that all may reach its socket
		os.Mkdir(c.path("state"), 0o700),
		os.WriteFile(c.path("munge.key"), key, 0o400),
		os.WriteFile(c.path("slurm.conf"), conf, 0o644),
	} {
		if err != nil {
			c.t.Fatal(err)
		}
	}
}

// takePorts returns ports of 127.0.0.1 on which nothing listens, below those that the
// kernel takes for connections, so that a daemon that was stopped finds its own free. Until
// the test ends, a listener on the same port of 127.0.0.2 keeps other clusters, also those
// of other processes, from taking it.
func (c *slurmCluster) takePorts(n int) ([]int, error) {
	var ports []int
	for range 1000 {
		port := 20000 + mathrand.IntN(10000)
		ours, err := net.Listen("tcp", fmt.Sprintf("127.0.0.2:%d", port))
		if err != nil {
			continue // another cluster's
		}
		c.t.Cleanup(func() { ours.Close() })
		daemons, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		daemons.Close()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, fmt.Errorf("fewer than %d ports of 127.0.0.1 are free between 20000 and 30000", n)
}

// reap waits for the end of its input, which comes with the end of the test process, kills
// all processes that have $1 in their environment, and removes the folder $0.
const reap = `cat >/dev/null
while pids=$(grep -lzxF "$1" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3); [ -n "$pids" ]; do
	kill -9 $pids 2>/dev/null
	sleep 0.02
done
rm -rf "$0"`

// endWithTest starts the process that ends the cluster.
func (c *slurmCluster) endWithTest() {
	c.t.Helper()
	reaper := exec.Command("sh", "-c", reap, c.dir, c.mark())
	reaper.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	alive, err := reaper.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if err := reaper.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		alive.Close()
		if err := reaper.Wait(); err != nil {
			c.t.Errorf("the cluster in %s was not removed: %v", c.dir, err)
		}
		if left := processes(c.mark()); len(left) > 0 {
			c.t.Errorf("processes %v are left", left)
		}
		for _, d := range c.daemons {
			_ = d.Process.Kill() // it was killed
			_ = d.Wait()
		}
	})
}

// processes returns the numbers of the processes with a line in their environment.
func processes(line string) []int {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	var found []int
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		if slices.Contains(strings.Split(string(raw), "\x00"), line) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			found = append(found, pid)
		}
	}
	return found
}

// dying is set where the test process is to be ended in mid-test, to a link that it makes to the folder of its
// cluster. Named panics, the process ends itself as the deadline of go test does.
const dying = "SLURMTEST_DYING"

func TestNothingIsLeftOfATestThatDies(t *testing.T) {
	if path := os.Getenv(dying); path != "" {
		c := startSlurm(t, 2, 1)
		c.Output("sbatch", "--output=/dev/null", "--wrap", "sleep 3600 & echo >"+c.path("begun")+"; wait")
		c.Await("the job to begin", func() bool { return sizeOf(c.path("begun")) > 0 })
		// munged, slurmctld, 2 slurmd, slurmstepd, the job's shell and its child.
		if running := processes(c.mark()); len(running) < 7 {
			t.Fatalf("only %d processes run", len(running))
		}
		if err := os.Symlink(c.dir, path); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(path) == "panics" {
			go panic("as if the test took too long")
		}
		select {}
	}
	startSlurm(t, 1, 1) // or skip
	for _, name := range []string{"killed", "panics"} {
		path := filepath.Join(t.TempDir(), name)
		test := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestNothingIsLeftOfATestThatDies$")
		test.Env = append(os.Environ(), dying+"="+path)
		if err := test.Start(); err != nil {
			t.Fatal(err)
		}
		var dir string
		for begin := time.Now(); dir == "" && time.Since(begin) < slurmPatience; time.Sleep(20 * time.Millisecond) {
			dir, _ = os.Readlink(path)
		}
		if name == "killed" || dir == "" {
			_ = test.Process.Kill() // or it has ended
		}
		if err := test.Wait(); err == nil || dir == "" {
			t.Fatalf("%s: the test process has the cluster %q and ends: %v", name, dir, err)
		}
		mark := (&slurmCluster{dir: dir}).mark()
		for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			left := processes(mark)
			if _, err := os.Stat(dir); len(left) == 0 && os.IsNotExist(err) {
				break
			}
			if time.Since(begin) > slurmPatience {
				t.Fatalf("%s: processes %v are left, or the folder %s", name, left, dir)
			}
		}
	}
}
