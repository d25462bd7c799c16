package datasets

import (
	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = Register(Family{
	Name: "requests:", File: "requests file", Source: "the file",
	Doc:    "the requests of a CSV file with the header arrival_slot,lifespan,profile; parameters at the end",
	Params: []spec.Param{{Name: "gpus", Default: "100", Type: spec.Whole(1, maxGPUs), Doc: "GPUs of the cluster"}},
	New: func(_ string, a spec.Args) (Dataset, error) {
		return requestsFile{aFile(a[FileKey]), a.Int("gpus")}, nil
	},
})

type requestsFile struct {
	aFile
	gpus int
}

func (s requestsFile) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	r, err := readFile(s.aFile, g, task.ReadRequests)
	if err != nil {
		return nil, err
	}
	return task.Requests{Requests: r, GPUs: s.gpus}, nil
}
