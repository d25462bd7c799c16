//go:build unix

package external

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"miglab/harness/algo"
)

var raced bool

// pythonFolder has the Python package and its examples.
const pythonFolder = "../../algorithms/rl/python"

// TestMain lets the test binary be a program with a fault: "external.test scheduler crashes".
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
	folder, err := filepath.Abs(pythonFolder)
	if err == nil {
		err = os.Setenv("PYTHONPATH", folder)
	}
	if err != nil {
		panic(err)
	}
	os.Setenv("PYTHONDONTWRITEBYTECODE", "1")
	code := m.Run()
	Close()
	os.Exit(code)
}

func hang() {
	time.Sleep(time.Minute) // in case a test leaves the process behind
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

// command returns the ID of the program with a fault. The race detector needs more memory than
// the default.
func command(fault string) string {
	return fmt.Sprintf("exec:%s scheduler %s?memory=4194304GiB", os.Args[0], fault)
}

// A bad is a program with a fault: a scheduler that runs all tasks one after the other on the
// whole of GPU 0, a placer that rejects everything but the first request, a dispatcher that
// takes the first free slice, a planner that runs each job alone. The fault is what it does
// wrong when it is asked for its first schedule or plan, or for its third decision, unless
// the fault says hello.
type bad struct {
	fault, arg string
	decisions  int  // about the instance
	answers    int  // with the fault
	later      bool // it says more when it is asked again

	// What is known of a batch instance.
	gpu   gpu[profile]
	model string
	now   float64
}

func scheduleBadly(args []string) {
	b := &bad{fault: args[0]}
	if len(args) > 1 {
		b.arg = args[1]
	}
	switch b.fault {
	case "replay":
		replay(b.arg)
		return
	case "child":
		hold(b.arg)
		fmt.Print("x")
		hang()
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			switch b.fault {
			case "hangs-at-exit", "holds", "closes-input":
				hang()
			}
			return
		}
		var q struct {
			instance
			Track string `json:"track"`
			// Of the other tracks:
			Slices []fleetSlice `json:"slices"`
			Free   []int        `json:"free"`
			Jobs   []any        `json:"jobs"`
		}
		if err := json.Unmarshal(line, &q); err != nil {
			panic(err)
		}
		if b.later {
			b.later = false
			b.say("{}\n")
		}
		switch q.Type {
		case "hello":
			b.hello(q.Track)
		case "instance", "tasks":
			b.answer(q.ID, "schedule", b.schedule(q.instance))
		case "cluster", "fleet":
			b.decisions = 0
			b.say(`{"type":"ready","id":%d}`+"\n", q.ID)
		case "request":
			b.decide(q.ID, "place", b.place())
		case "job":
			b.decide(q.ID, "dispatch", b.dispatch(q.Free))
		case "window":
			b.answer(q.ID, "plan", b.plan(len(q.Jobs)))
		default:
			panic(q.Type)
		}
	}
}

func (b *bad) say(format string, args ...any) { fmt.Printf(format, args...) }

// hellos are what programs say that do not say hello as they should, in place of it.
var hellos = map[string]string{
	"declines-track":    `{"type":"error","message":"no %s"}`,
	"speaks-protocol-4": `{"type":"hello","protocol":4,"name":"bad","version":3}`,
	"has-long-name":     `{"type":"hello","protocol":1,"name":"` + strings.Repeat("x", maxName+1) + `","version":3}`,
	"has-odd-name":      `{"type":"hello","protocol":1,"name":"a\u001b[2J","version":3}`,
}

func (b *bad) hello(track string) {
	version := 3
	switch b.fault {
	case "hangs-at-hello":
		hang()
	case "crashes-at-hello":
		os.Exit(7)
	case "says-banner":
		b.say("my scheduler 3.0\n")
	case "changes-version":
		version = os.Getpid()
	case "floods":
		for {
			b.say("nobody asked for this\n")
		}
	case "closes-input":
		os.Stdin.Close()
	case "holds":
		hold(b.arg)
	}
	if instead, ok := hellos[b.fault]; ok {
		b.say("%s\n", strings.ReplaceAll(instead, "%s", track))
		return
	}
	b.say(`{"type":"hello","protocol":1,"name":"bad","version":%d}`+"\n", version)
}

// schedule returns the end of the answer to a batch.
func (b *bad) schedule(q instance) string {
	create := 0.0
	if q.Type == "instance" {
		b.gpu, b.model = q.GPU, q.Reconfiguration
		create = float64(b.gpu.Profiles[len(b.gpu.Profiles)-1].Create)
		b.now = create
	}
	whole := b.gpu.Profiles[len(b.gpu.Profiles)-1]
	var placements, operations []string
	end := 0.0
	for i, t := range q.Tasks {
		if b.fault == "overlaps" {
			b.now = create
		}
		end = max(end, b.now+float64(t.Seconds[whole.Size]))
		if b.fault == "forgets" && i == 0 {
			continue
		}
		name, finish := t.Name, fmt.Sprint(b.now+float64(t.Seconds[whole.Size]))
		switch b.fault {
		case "says-nan":
			finish = fmt.Sprint(math.NaN())
		case "says-1e999":
			finish = "1e999"
		case "invents-task":
			name += "?"
		}
		placements = append(placements, fmt.Sprintf(`{"task":%q,"gpu":0,"size":%d,"slice":0,"start_s":%v,"end_s":%s}`, name, whole.Size, b.now, finish))
		b.now += float64(t.Seconds[whole.Size])
	}
	if create > 0 {
		operations = append(operations, fmt.Sprintf(`{"op":"create","gpu":0,"size":%d,"slice":0,"start_s":0,"end_s":%v}`, whole.Size, create))
	}
	switch b.fault {
	case "lies":
		end /= 2
	case "adds-60000":
		extra := fmt.Sprintf(`{"task":"task 0","gpu":0,"size":%d,"slice":0,"start_s":1,"end_s":2}`, whole.Size)
		placements = append(placements, slices.Repeat([]string{extra}, 60000)...)
	}
	return fmt.Sprintf(`"schedule":{"gpu":%q,"algorithm":"bad","reconfiguration":%q,"makespan_s":%v,"placements":[%s],"reconfigurations":[%s],"counters":{"asked":1}}`,
		b.gpu.Name, b.model, end, strings.Join(placements, ","), strings.Join(operations, ","))
}

// wrongPlaces are the ends of answers to a request of the placement track, by their fault.
var wrongPlaces = map[string]string{
	"invents-gpu": `"gpu":1000000000,"slice":0`, "invents-slice": `"gpu":0,"slice":-1`, "overlaps": `"gpu":0,"slice":0`,
	"forgets": `"gpu":0`, "says-null": `"gpu":0,"slice":null`, "says-fraction": `"gpu":0.5,"slice":0`, "says-1e999": `"gpu":1e999,"slice":0`, "says-nan": `"gpu":NaN,"slice":0`,
}

// place returns the end of the answer to a request of the placement track: the first is
// placed, all others are rejected.
func (b *bad) place() string {
	switch b.decisions {
	case 0:
		return `"gpu":0,"slice":0`
	case 1:
		return ""
	}
	return wrongPlaces[b.fault]
}

// wrongSlices are slices in answers to a job, by their fault.
var wrongSlices = map[string]string{
	"invents-slice": "-1", "says-null": "null", "says-fraction": "0.5", "says-1e999": "1e999", "says-nan": "NaN",
}

// dispatch returns the end of the answer to a job.
func (b *bad) dispatch(free []int) string {
	slice := fmt.Sprint(free[0])
	if b.decisions >= 2 {
		if b.fault == "forgets" {
			return `"message":""`
		}
		slice = cmp.Or(wrongSlices[b.fault], slice)
		for busy := 0; b.fault == "overlaps"; busy++ {
			if !slices.Contains(free, busy) {
				slice = fmt.Sprint(busy)
				break
			}
		}
	}
	return `"slice":` + slice
}

// wrongPartitions are partitions of each job in answers to a window, by their fault.
var wrongPartitions = map[string]string{
	"says-fraction":     "[(0.5)+(0.5),1m]", // for two
	"invents-partition": "[(0.5)+(0.6),1m]", "says-nonsense": "all of it",
}

// plan returns the end of the answer to a window.
func (b *bad) plan(jobs int) string {
	var groups []string
	for j := range jobs {
		switch {
		case b.fault == "invents-job":
			j += 100
		case b.fault == "overlaps":
			j = 0
		case b.fault == "forgets" && j == 0:
			continue
		}
		groups = append(groups, fmt.Sprintf(`{"jobs":[%d],"partition":%q}`, j, cmp.Or(wrongPartitions[b.fault], "[(1),1m]")))
	}
	return fmt.Sprintf(`"groups":[%s]`, strings.Join(groups, ","))
}

// decide answers in a dialogue, well until the third decision.
func (b *bad) decide(id int64, kind, rest string) {
	if rest == "" {
		kind = "reject"
	}
	if b.decisions++; b.decisions == 3 {
		b.answer(id, kind, rest)
		return
	}
	b.say(`{"type":%q,"id":%d%s}`+"\n", kind, id, comma(rest))
}

func comma(rest string) string {
	if rest == "" {
		return ""
	}
	return "," + rest
}

// answer answers with the fault.
func (b *bad) answer(id int64, kind, rest string) {
	more, typeName := "", "type"
	switch b.fault {
	case "hangs":
		hang()
	case "hangs-with-half":
		b.say(`{"type":"sch`)
		hang()
	case "hangs-with-child", "ends-with-child":
		child := exec.Command(os.Args[0], "scheduler", "child", b.arg)
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
		if strings.HasPrefix(b.fault, "ends") {
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
	case "tires":
		if b.answers++; b.answers > 1 {
			os.Exit(3)
		}
	case "is-killed":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "says-garbage", "says-nothing":
		b.say("%s\n", map[string]string{"says-garbage": "Segmentation fault"}[b.fault])
		return
	case "says-half":
		b.say(`{"type":%q,"id":%d,"sched`, kind, id)
		os.Exit(0)
	case "says-much":
		b.say("%s", strings.Repeat("x", answerLongest+1<<20))
		return
	case "says-wrong-id":
		id++
	case "says-more":
		more = "{}\n"
	case "shouts":
		typeName = "TYPE"
	case "says-twice":
		rest = strings.TrimSuffix(fmt.Sprintf(`"id":%d,%s`, id, rest), ",")
	case "says-unknown":
		rest = strings.TrimSuffix(`"confidence":1,`+rest, ",")
	case "closes-output":
		os.Stdout.Close()
		hang()
	case "rejects-gpu":
		kind, rest = "reject", `"gpu":0`
	case "reports-crash", "reports-long-crash":
		message := "division by zero"
		if b.fault == "reports-long-crash" {
			message = strings.Repeat("ä", 20000)
		}
		fmt.Fprintln(os.Stderr, "in line 7")
		b.say(`{"type":"crashed","id":%d,"message":%q}`+"\n", id, message)
		return
	case "declines", "declines-twice", "complains", "complains-much":
		message := "too many tasks"
		switch b.fault {
		case "complains":
			message = strings.Repeat("ä", 20000)
		case "complains-much":
			message = strings.Repeat("ä", 15<<19)
		}
		b.say(`{"type":"error","id":%d,"message":%q}`+"\n", id, message)
		if b.fault == "declines-twice" { // much later than the first time
			time.Sleep(50 * time.Millisecond)
			b.say(`{"type":"error","id":%d,"message":%q}`+"\n", id, message)
		}
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
	b.say(`{%q:%q,"id":%d%s}`+"\n%s", typeName, kind, id, comma(rest), more)
	switch b.fault {
	case "ends-after-answer":
		os.Exit(0)
	case "says-more-later":
		b.later = true
	}
}
