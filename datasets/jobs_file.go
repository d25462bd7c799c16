package datasets

import (
	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

var _ = Register(Family{
	Name: "jobs:", File: "jobs file", Source: "the file",
	Doc: "the jobs of a CSV file with the header arrival_min,deadline_min,t1,t2,t3,t4,t7 (A30: t1,t2,t4); " +
		"parameters at the end",
	Params: fleetParams,
	New: func(id string, a spec.Args) (Dataset, error) {
		return jobsFile{aFile(a[FileKey]), newFleet(id, a)}, nil
	},
})

type jobsFile struct {
	aFile
	fleet
}

func (s jobsFile) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	fleet, err := s.fleet.on(g)
	if err != nil {
		return nil, err
	}
	jobs, err := readFile(s.aFile, g, task.ReadJobs)
	if err != nil {
		return nil, err
	}
	return task.Queue{Jobs: jobs, Fleet: fleet}, nil
}
