package datasets

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
	"miglab/harness/wholefile"
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
	Name: "profile:", File: "tasks file", Source: "the file",
	Doc: "the tasks of a CSV file with the header task,t1,t2,t3,t4,t7 (A30: task,t1,t2,t4); a stream has a column " +
		"batch, and arrival_s if its tasks arrive in time; or of each *.csv of a folder, by name; or, with draw at the " +
		"end, batches of tasks drawn from a file",
	Params: []spec.Param{
		whole("draw", 0, 0, maxCount,
			"tasks of a batch, drawn from the file with replacement; 0 takes the file as it is"),
		whole("batches", 1, 1, maxCount, "batches of drawn tasks; several are a stream"),
		seedParam("seed", "of the draws"),
	},
	New: func(_ string, a spec.Args) (Dataset, error) {
		p := tasksFile{
			filePath: filePath(a[FileKey]), draw: a.Int("draw"), batches: a.Int("batches"), seed: a.Uint("seed"),
		}
		if p.draw == 0 && (p.batches != 1 || p.seed != 1) {
			return nil, refuse(a, "draw", "the number of tasks to draw, where batches or seed is given")
		}
		if p.draw*p.batches > maxCount {
			return nil, refuse(a, "batches", fmt.Sprintf("at most %d tasks in all batches", maxCount))
		}
		if p.draw > 0 && p.isFolder() {
			return nil, refuse(a, "draw", "0 for a folder; name one of its files to draw from")
		}
		return p, nil
	},
})

// tasksFile has the tasks of a file, or of each file of a folder, or batches that are drawn from a file.
type tasksFile struct {
	filePath
	// draw is the number of tasks in a drawn batch; 0 takes the file as it is.
	draw, batches int
	seed          uint64
}

func (p tasksFile) Instances() int {
	if p.draw > 0 {
		return 0
	}
	return max(1, len(p.files()))
}

func (p tasksFile) isFolder() bool {
	info, err := os.Stat(string(p.filePath))
	return err == nil && info.IsDir()
}

// files returns the files with an instance each: those named *.csv in a folder, in the order of their names, or the
// file itself.
func (p tasksFile) files() (out []filePath) {
	if !p.isFolder() {
		return []filePath{p.filePath}
	}
	entries, _ := os.ReadDir(string(p.filePath)) // Instance reports a folder that cannot be read as one without files
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".csv" {
			out = append(out, filePath(filepath.Join(string(p.filePath), e.Name())))
		}
	}
	return out
}

// AddTo implements [Varied]: the first instance has only some of the tasks that are drawn, or in the files of a folder.
func (p tasksFile) AddTo(d *task.Digest) {
	if p.draw == 0 && !p.isFolder() {
		return
	}
	for _, file := range p.files() {
		hash, err := wholefile.SHA256(string(file))
		if err != nil {
			hash = err.Error() // Instance reports it
		}
		d.Text(hash)
	}
}

func (p tasksFile) Instance(g *mig.GPU, index int) (task.Payload, error) {
	paths := p.files()
	if p.draw == 0 && index >= len(paths) {
		return nil, fmt.Errorf("%s has %d files *.csv, an instance each; there is none for instance %d", p.filePath,
			len(paths), index)
	}
	if p.draw == 0 {
		return readFile(paths[index], g, task.ReadStream)
	}
	b, err := readFile(p.filePath, g, task.ReadStream)
	if err != nil {
		return nil, err
	}
	if len(b.Tasks) == 0 {
		return nil, errors.New(string(p.filePath) + " has no tasks to draw from")
	}
	rng := rand.New(pcg("workload=profile", p.seed, g, index))
	var out task.Batches
	for range p.batches {
		for range p.draw {
			t := b.Tasks[rng.IntN(len(b.Tasks))]
			t.Name = fmt.Sprintf("%s-%d", t.Name, len(out.Tasks)+1)
			out.Tasks = append(out.Tasks, t)
		}
		out.Lengths = append(out.Lengths, p.draw)
	}
	return out, nil
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
