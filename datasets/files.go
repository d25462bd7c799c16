package datasets

import (
	"io"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// A filePath is the path of a file with the only instance of a dataset. The file is read again each time that the
// instance is used.
type filePath string

func (filePath) Instances() int { return 1 }

// readFile opens a file and passes it to read, with its name for errors.
func readFile[T any](path filePath, g *mig.GPU, read func(f io.Reader, name string, g *mig.GPU) (T, error)) (T, error) {
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
	Doc: "the requests of a CSV file with the header arrival_slot,lifespan,profile or arrival_ms,work_ms,memory_mb; " +
		"parameters at the end",
	Params: clusterParams(100),
	New: func(_ string, a spec.Args) (Dataset, error) {
		c, err := newCluster(a, secondsDowntime)
		return requestsFile{filePath(a[FileKey]), c}, err
	},
})

type requestsFile struct {
	filePath
	cluster
}

func (s requestsFile) regime() task.Regime { return s.cluster.regime(task.Whole) }

func (s requestsFile) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	empty := task.Requests{GPUs: s.gpus, PerNode: s.perNode, Waiting: s.queue}
	return readFile(s.filePath, g, func(f io.Reader, name string, g *mig.GPU) (task.Requests, error) {
		in, err := task.ReadRequests(f, name, g, empty)
		if err == nil {
			err = s.apply(g, &in, in.Seconds())
		}
		return in, err
	})
}

var _ = Register(Family{
	Name: "jobs:", File: "jobs file", Source: "the file",
	Doc: "the jobs of a CSV file with the header arrival_min,deadline_min,t1,t2,t3,t4,t7 (A30: t1,t2,t4); " +
		"parameters at the end",
	Params: fleetParams,
	New: func(id string, a spec.Args) (Dataset, error) {
		return jobsFile{filePath(a[FileKey]), newFleet(id, a)}, nil
	},
})

type jobsFile struct {
	filePath
	fleet
}

func (s jobsFile) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	fleet, err := s.fleet.resolve(g)
	if err != nil {
		return nil, err
	}
	jobs, err := readFile(s.filePath, g, task.ReadJobs)
	return task.Queue{Jobs: jobs, Fleet: fleet}, err
}

var _ = Register(Family{
	Name: "corunfile:", File: "file of programs", Source: "the file",
	Doc: "the programs of a CSV file with the header name,class,solo_s,serial,compute,memory,parallelism; " +
		"parameters at the end",
	Params: corunParams,
	New: func(_ string, a spec.Args) (Dataset, error) {
		return programsFile{filePath(a[FileKey]), newCorunSetting(a)}, nil
	},
})

type programsFile struct {
	filePath
	corunSetting
}

func (s programsFile) Instance(g *mig.GPU, _ int) (task.Payload, error) {
	jobs, err := readFile(s.filePath, g, func(f io.Reader, name string, _ *mig.GPU) ([]task.Program, error) {
		return task.ReadPrograms(f, name)
	})
	return s.instance(jobs), err
}
