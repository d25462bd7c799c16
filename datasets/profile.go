package datasets

import (
	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = Register(Family{
	Name: "profile:", File: "tasks file", Source: "the file",
	Doc: "the tasks of a CSV file with the header task,t1,t2,t3,t4,t7 (A30: task,t1,t2,t4); a stream has a column batch, and arrival_s if its tasks arrive in time",
	New: func(_ string, a spec.Args) (Dataset, error) { return profile{aFile(a[FileKey])}, nil },
})

type profile struct{ aFile }

func (p profile) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	b, err := readFile(p.aFile, g, task.ReadStream)
	if err != nil {
		return nil, err
	}
	return b, nil
}
