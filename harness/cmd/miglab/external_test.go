//go:build unix

package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// sleepy never answers; it and its child hold a fifo open.
const sleepy = `#!/bin/sh
read hello
echo '{"type":"hello","protocol":1,"name":"sleepy","version":1}'
read question
exec 3>fifo
echo asleep >&3
sleep 60 &
wait
`

func TestInterruptLeavesNoProgramBehind(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "sleepy"), sleepy)
	path := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close()
	asleep := func() bool {
		n, _ := fifo.Read(make([]byte, 100))
		return n > 0
	}
	o := interrupt(t, dir, os.Interrupt, asleep, "run", "--algorithms", "exec:./sleepy?timeout=1m", "--datasets", "WIDETIMES", "--instances", "1")
	if !o.interrupted || o.code != exitInterrupted {
		t.Errorf("%+v", o)
	}
	// The program sleeps for 60 seconds.
	if err := fifo.SetReadDeadline(time.Now().Add(50 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if n, err := fifo.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("a process is left: %d bytes, %v", n, err)
	}
}
