package site

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"miglab/harness/mig"
	"miglab/harness/task"
	"miglab/reports"
)

// A Program is harness/cmd/miglab-wasm, built for browsers.
type Program struct {
	Wasm []byte
	// Start is the script wasm_exec.js of the toolchain that built it.
	Start []byte
}

// ReadProgram reads a program and the script wasm_exec.js beside it, as make site leaves them.
func ReadProgram(path string) (*Program, error) {
	wasm, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	start, err := os.ReadFile(filepath.Join(filepath.Dir(path), "wasm_exec.js"))
	return &Program{Wasm: wasm, Start: start}, err
}

// script returns the program as a script, because a page on disk cannot fetch files.
func (p *Program) script() ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "miglab.program = { start: () => {\n%s\n}, packed: \"", p.Start)
	text := base64.NewEncoder(base64.StdEncoding, &b)
	packed := gzip.NewWriter(text)
	_, err := packed.Write(p.Wasm)
	for _, w := range []io.Closer{packed, text} {
		if err == nil {
			err = w.Close()
		}
	}
	b.WriteString("\" };\n")
	return b.Bytes(), err
}

type tryView struct {
	Examples []example
	// Counts are the numbers of GPUs that the page offers, and Models the models of reconfiguration.
	Counts []int
	Models []mig.Reconfiguration
	// Colours has the colours of Gantt charts, as JSON.
	Colours string
}

// An example is a problem that the page offers. Tasks is the text of a tasks file.
type example struct {
	Name, GPU, Model, Tasks string
	GPUs                    int
}

// viewTry returns the page try.html, with the first instance of each dataset and GPU as an example, and the script that
// it alone loads.
func viewTry(d *Data) (page, file, error) {
	colours, err := json.Marshal(reports.NewGanttColours())
	if err != nil {
		return page{}, file{}, err
	}
	v := tryView{
		Counts:  []int{1, 2, 3, 4},
		Models:  []mig.Reconfiguration{mig.Sequential, mig.Parallel, mig.Free},
		Colours: string(colours),
	}
	seen := map[string]bool{}
	for _, in := range d.Instances {
		name := fmt.Sprintf("%s on %s", in.Dataset, in.Problem.GPU)
		if seen[name] {
			continue
		}
		seen[name] = true
		var tasks bytes.Buffer
		stream := task.Batches{Tasks: in.Problem.Tasks, Lengths: []int{len(in.Problem.Tasks)}}
		if err := task.WriteStream(&tasks, in.Problem.GPU, stream); err != nil {
			return page{}, file{}, refuse(name, "%w", err)
		}
		v.Examples = append(v.Examples, example{
			Name: name, GPU: in.Problem.GPU.Name, Model: in.Problem.Model.String(), Tasks: tasks.String(),
			GPUs: in.Problem.GPUs(),
		})
	}
	script, err := d.Try.script()
	return page{
		File: "try.html", Title: "Try it", Body: v, Scripts: []string{"gantt.js", "try-program.js", "try.js"},
	}, file{"try-program.js", script}, err
}
