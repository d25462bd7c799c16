package datasets

import (
	"fmt"
	"io"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// aFile is the path of a file with the one instance of a dataset. The file is read again for
// every instance.
type aFile string

func (aFile) Instances() int { return 1 }

func readFile[T any](path aFile, g *mig.GPU, read func(f io.Reader, name string, g *mig.GPU) (T, error)) (T, error) {
	f, err := strictcsv.Open(string(path))
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return read(f, string(path), g)
}

var _ = Register(Family{
	Name: "requests:", File: "requests file", Source: "the file",
	Doc:    "the requests of a CSV file with the header arrival_slot,lifespan,profile; parameters at the end",
	Params: []spec.Param{whole("gpus", 100, 1, maxGPUs, "GPUs of the cluster"), queueParam},
	New: func(_ string, a spec.Args) (Dataset, error) {
		w, err := newWaiting(a)
		return requestsFile{aFile(a[FileKey]), a.Int("gpus"), w}, err
	},
})

type requestsFile struct {
	aFile
	gpus    int
	waiting task.Waiting
}

// canEnd returns an error for a request that would wait or stay forever where requests wait.
func (s requestsFile) canEnd(q *task.Request) (column string, err error) {
	switch {
	case s.waiting == task.Reject:
	case q.Lifespan == task.Forever:
		return "lifespan", fmt.Errorf("forever lets others wait forever with queue=%s; write a number of slots", s.waiting)
	case q.Instances() > s.gpus:
		return "gpus", fmt.Errorf("%d of a cluster with gpus=%d would wait forever with queue=%s", q.Instances(), s.gpus,
			s.waiting)
	}
	return "", nil
}

func (s requestsFile) regime() task.Regime { return regimeOf(s.waiting, task.Whole) }

func (s requestsFile) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	r, err := readFile(s.aFile, g, func(f io.Reader, name string, g *mig.GPU) (task.Requests, error) {
		return task.ReadRequests(f, name, g, s.canEnd)
	})
	r.GPUs, r.Waiting = s.gpus, s.waiting
	return r, err
}

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
	return task.Queue{Jobs: jobs, Fleet: fleet}, err
}

var _ = Register(Family{
	Name: "corunfile:", File: "file of programs", Source: "the file",
	Doc: "the programs of a CSV file with the header name,class,solo_s,serial,compute,memory,parallelism; " +
		"parameters at the end",
	Params: corunParams,
	New: func(_ string, a spec.Args) (Dataset, error) {
		return programsFile{aFile(a[FileKey]), newCorunSetting(a)}, nil
	},
})

type programsFile struct {
	aFile
	corunSetting
}

func (s programsFile) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	jobs, err := readFile(s.aFile, g, func(f io.Reader, name string, _ *mig.GPU) ([]task.Program, error) {
		return task.ReadPrograms(f, name)
	})
	return s.instance(jobs), err
}
