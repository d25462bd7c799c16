//go:build unix

package external

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"miglab/harness/algo"
)

var raced bool

// TestMain lets the test binary be a scheduler with a fault: "external.test scheduler crash".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "scheduler" {
		scheduleBadly(os.Args[2:])
		os.Exit(0)
	}
	if fifo := os.Getenv("MIGLAB_TEST_FIFO"); fifo != "" {
		// The harness that is killed while a program runs.
		if _, err := algo.ParseFor(command("holds "+fifo), algo.TrackBatch); err != nil {
			panic(err)
		}
		hang()
	}
	code := m.Run()
	Close()
	os.Exit(code)
}

func hang() {
	time.Sleep(time.Minute) // against tests that leave something behind
	os.Exit(9)
}

// hold holds a fifo open as long as the process is there.
func hold(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString("x")
	}
	if err != nil {
		panic(err)
	}
	held = f
}

// held keeps the garbage collector from closing it.
var held *os.File

// command is the ID of the scheduler with a fault. The race detector needs more memory than
// the default.
func command(fault string) string {
	return fmt.Sprintf("exec:%s scheduler %s?memory=4194304GiB", os.Args[0], fault)
}

// scheduleBadly is a scheduler that runs all tasks one after the other on the whole of GPU 0.
// The fault is what it does wrong when it is asked for a schedule, unless it says hello.
func scheduleBadly(args []string) {
	fault, arg := args[0], ""
	if len(args) > 1 {
		arg = args[1]
	}
	if fault == "child" {
		hold(arg)
		fmt.Print("x")
		hang()
	}
	var out io.Writer = os.Stdout
	say := func(format string, args ...any) { fmt.Fprintf(out, format, args...) }
	in := bufio.NewReader(os.Stdin)
	var gpu gpu
	var model string
	now, asked := 0.0, 1
	answer := func(q instance) {
		create := 0.0
		if q.Type == "instance" {
			gpu, model, now = q.GPU, q.Reconfiguration, 0
			create = float64(gpu.Profiles[len(gpu.Profiles)-1].Create)
			now = create
		}
		whole := gpu.Profiles[len(gpu.Profiles)-1]
		var placements, operations []string
		end := 0.0
		for i, t := range q.Tasks {
			if fault == "overlaps" {
				now = create
			}
			end = max(end, now+float64(t.Seconds[whole.Size]))
			if fault == "forgets" && i == 0 {
				continue
			}
			name, finish := t.Name, fmt.Sprint(now+float64(t.Seconds[whole.Size]))
			switch fault {
			case "says-nan":
				finish = fmt.Sprint(math.NaN())
			case "says-1e999":
				finish = "1e999"
			case "invents-task":
				name += "?"
			}
			placements = append(placements, fmt.Sprintf(`{"task":%q,"gpu":0,"size":%d,"slice":0,"start_s":%v,"end_s":%s}`, name, whole.Size, now, finish))
			now += float64(t.Seconds[whole.Size])
		}
		if create > 0 {
			operations = append(operations, fmt.Sprintf(`{"op":"create","gpu":0,"size":%d,"slice":0,"start_s":0,"end_s":%v}`, whole.Size, create))
		}
		if fault == "lies" {
			end /= 2
		}
		id, more := q.ID, ""
		switch fault {
		case "hangs":
			hang()
		case "hangs-with-half":
			say(`{"type":"sch`)
			hang()
		case "hangs-with-child", "ends-with-child":
			child := exec.Command(os.Args[0], "scheduler", "child", arg)
			child.Stderr = os.Stderr // which stays open with it
			ready, err := child.StdoutPipe()
			if err == nil {
				err = child.Start()
			}
			if err == nil {
				_, err = ready.Read(make([]byte, 1))
			}
			if err != nil {
				panic(err)
			}
			if fault == "ends-with-child" {
				os.Exit(0)
			}
			hang()
		case "holds":
			hang()
		case "crashes":
			fmt.Fprintln(os.Stderr, "dividing\nby zero")
			os.Exit(3)
		case "crashes-on-even":
			if id%2 == 0 {
				os.Exit(3)
			}
		case "is-killed":
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
		case "says-garbage":
			say("Segmentation fault\n")
			return
		case "says-nothing":
			say("\n")
			return
		case "says-half":
			say(`{"type":"schedule","id":%d,"sched`, id)
			os.Exit(0)
		case "says-much":
			say("%s", strings.Repeat("x", maxLine+1<<20))
			return
		case "says-wrong-id":
			id++
		case "says-more":
			more = "{}\n"
		case "closes-output":
			os.Stdout.Close()
			hang()
		case "declines":
			say(`{"type":"error","id":%d,"message":"too many tasks"}`+"\n", id)
			return
		case "allocates":
			var kept [][]byte
			for range 1 << 10 {
				b := make([]byte, 1<<20)
				for i := range b {
					b[i] = 1
				}
				kept = append(kept, b)
			}
			fmt.Fprintln(os.Stderr, "allocated", len(kept))
		case "chats":
			for range 1 << 12 {
				fmt.Fprintln(os.Stderr, strings.Repeat("chat ", 20))
			}
		}
		say(`{"type":"schedule","id":%d,"schedule":{"gpu":%q,"algorithm":"bad","reconfiguration":%q,"makespan_s":%v,"placements":[%s],"reconfigurations":[%s],"counters":{"asked":%d}}}`+"\n%s",
			id, gpu.Name, model, end, strings.Join(placements, ","), strings.Join(operations, ","), asked, more)
		switch {
		case fault == "ends-after-answer":
			os.Exit(0)
		case fault == "says-more-later":
			time.Sleep(20 * time.Millisecond)
			say("{}\n")
		}
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			switch fault {
			case "hangs-at-exit", "holds", "closes-input":
				hang()
			}
			return
		}
		var q struct {
			instance
			Track     string     `json:"track"`
			Instances []instance `json:"instances"`
		}
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		if q.Type == "hello" {
			version := 3
			switch fault {
			case "hangs-at-hello":
				hang()
			case "crashes-at-hello":
				os.Exit(7)
			case "says-banner":
				say("my scheduler 3.0\n")
			case "declines-track":
				say(`{"type":"error","message":"no %s"}`+"\n", q.Track)
				continue
			case "speaks-protocol-2":
				say(`{"type":"hello","protocol":2,"name":"bad","version":3}` + "\n")
				continue
			case "changes-version":
				version = os.Getpid()
			case "floods":
				for {
					say("nobody asked for this\n")
				}
			case "closes-input":
				os.Stdin.Close()
			case "holds":
				hold(arg)
			}
			batch, _ := strconv.Atoi(strings.TrimPrefix(arg, "batch=")) // or none
			say(`{"type":"hello","protocol":1,"name":"bad","version":%d,"batch":%d}`+"\n", version, batch)
			continue
		}
		if q.Type != "instances" {
			answer(q.instance)
			continue
		}
		var b strings.Builder
		out, asked = &b, len(q.Instances)
		for _, one := range q.Instances {
			answer(one)
		}
		out, asked = os.Stdout, 1
		lines := strings.Split(strings.TrimSpace(b.String()), "\n")
		if fault == "miscounts" && len(lines) > 1 {
			lines = lines[1:]
		}
		say(`{"type":"answers","answers":[%s]}`+"\n", strings.Join(lines, ","))
	}
}
