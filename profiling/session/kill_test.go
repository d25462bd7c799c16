//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package session_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"miglab/harness/deep"
	"miglab/harness/mig"
	"miglab/profiling/devicetest"
	"miglab/profiling/session"
)

// childEnv makes the test binary another program; its value is the program's name.
const childEnv = "MIGLAB_SESSION_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "run":
		run(os.Args[1], os.Args[2], os.Args[3])
	case "fill":
		fill(os.Args[1])
	}
}

// points are where a run can be killed, in order: the stages of the instances that it
// creates and destroys, and what lies between calls. The last destroy is that of Close.
var points = func() (ps []string) {
	stages := func(i string, all ...devicetest.Stage) {
		for _, s := range all {
			ps = append(ps, fmt.Sprintf("%s %s", s, i))
		}
	}
	ps = append(ps, "open")
	stages("3@4", devicetest.BeforeCreate, devicetest.GPUInstance, devicetest.Created)
	ps = append(ps, "have 3@4")
	stages("1@0", devicetest.BeforeCreate, devicetest.GPUInstance, devicetest.Created)
	ps = append(ps, "have 1@0")
	stages("1@0", devicetest.BeforeDestroy, devicetest.ComputeGone, devicetest.Destroyed)
	ps = append(ps, "gone 1@0")
	stages("3@4", devicetest.BeforeDestroy, devicetest.ComputeGone, devicetest.Destroyed)
	return ps
}()

// run opens a session on the GPU of a file, uses it, and stops at a point until it is
// killed, or until its standard input ends with the test.
func run(dir, gpu, point string) {
	reached := func(p string) {
		if p == point {
			fmt.Println(p)
			io.Copy(io.Discard, os.Stdin)
			os.Exit(3)
		}
	}
	check := func(err error) {
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	d, err := devicetest.Open(gpu, a100, devicetest.Scale(0), devicetest.MIGOff(), devicetest.Watch(func(s devicetest.Stage, in mig.Instance) {
		reached(fmt.Sprintf("%s %s", s, in))
	}))
	check(err)
	ctx := context.Background()
	s, err := session.Open(ctx, d, session.Options{Dir: dir, AllowMIGMode: true})
	check(err)
	reached("open")
	_, _, err = s.Create(ctx, at("3g.20gb", 4))
	check(err)
	reached("have 3@4")
	i, _, err := s.Create(ctx, at("1g.5gb", 0))
	check(err)
	reached("have 1@0")
	_, err = s.Destroy(ctx, i)
	check(err)
	reached("gone 1@0")
	check(s.Close())
	fmt.Println("never reached", point)
}

// kill starts a run and kills it at a point.
func (b *bench) kill(gpu, point string) {
	b.Helper()
	c := exec.Command(os.Args[0], b.dir, gpu, point)
	c.Env = append(os.Environ(), childEnv+"=run")
	c.Stderr = os.Stderr
	stdin, err := c.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := c.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if kill := c.Process.Kill(); kill != nil {
		b.Error(kill)
	}
	c.Wait() // says that it was killed
	if err != nil || line != point+"\n" {
		b.Fatalf("the run said %q, %v; want %q", line, err, point)
	}
	if status := c.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		b.Fatalf("the run ended with %v", c.ProcessState)
	}
}

func TestKill9(t *testing.T) {
	// With an instance of others, with MIG off at first, and killed again while cleaning up.
	for v, variant := range []string{"others", "MIG off", "twice"} {
		for n, point := range points {
			if !deep.On() && n%3 != v {
				continue // each point in one variant
			}
			if variant == "twice" && (n < slices.Index(points, "have 3@4") || n > slices.Index(points, "gone 1@0")) {
				continue // There is nothing to clean up, or half of it.
			}
			t.Run(variant+"/"+point, func(t *testing.T) {
				t.Parallel()
				b := &bench{T: t, dir: t.TempDir()}
				gpu := filepath.Join(b.dir, "gpu.json")
				d, err := devicetest.Open(gpu, a100, devicetest.Scale(0), devicetest.MIGOff())
				if err != nil {
					b.Fatal(err)
				}
				var others []string
				if variant == "others" {
					if err := d.SetMIG(true); err != nil {
						b.Fatal(err)
					}
					if _, err := d.Create(at("2g.10gb", 2)); err != nil {
						b.Fatal(err)
					}
					others = append(others, "2@2")
				}
				b.kill(gpu, point)
				if b.journal() == "" {
					b.Error("the killed run left no journal")
				}
				if variant == "twice" {
					b.kill(gpu, "compute gone 3@4")
				}
				s := b.openWith(d, b.allowed())
				b.exist(d, others...)
				b.mode(d, true, true)
				b.close(s)
				b.exist(d, others...)
				b.mode(d, variant == "others", variant == "others")
			})
		}
	}
}

// TestDiskFull has the writes of journals fail, in a process that may not make larger files.
func TestDiskFull(t *testing.T) {
	c := exec.Command(os.Args[0], t.TempDir())
	c.Env = append(os.Environ(), childEnv+"=fill")
	if out, err := c.CombinedOutput(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v\n%s", err, out)
	}
}
