package datasets

import (
	"strconv"
	"strings"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// trace is a file of requests. It is read anew for every instance.
type trace struct {
	path string
	gpus int
}

// gpusSuffix begins the one parameter of a trace, which stands at the end: paths may
// hold any character.
const gpusSuffix = "?gpus="

func parseTrace(text string) (Spec, error) {
	s := trace{path: text, gpus: defaultRequests.gpus}
	if i := strings.LastIndex(text, gpusSuffix); i >= 0 {
		s.path = text[:i]
		if err := setParameters([]string{text[i+1:]}, []parameter{count("gpus", &s.gpus, 1, maxGPUs)}); err != nil {
			return nil, err
		}
	}
	if s.path == "" {
		return nil, &ParameterError{Name: "requests", Want: "the path of a requests file, as in requests:trace.csv"}
	}
	return s, nil
}

func (s trace) ID() string {
	id := requestsPrefix + s.path
	if s.gpus != defaultRequests.gpus || strings.Contains(s.path, gpusSuffix) {
		id += gpusSuffix + strconv.Itoa(s.gpus)
	}
	return id
}

func (s trace) Instances() int { return 1 }

func (s trace) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(s, index); err != nil {
		return nil, err
	}
	f, err := strictcsv.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := task.ReadRequests(f, s.path, g)
	if err != nil {
		return nil, err
	}
	return task.Requests{Requests: r, GPUs: s.gpus}, nil
}
