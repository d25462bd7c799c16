package datasets

import (
	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// profile is a tasks file. It is read anew for every instance.
type profile struct{ path string }

func (p profile) ID() string { return profilePrefix + p.path }

func (p profile) Instances() int { return 1 }

func (p profile) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(p, index); err != nil {
		return nil, err
	}
	f, err := strictcsv.Open(p.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := task.ReadCSV(f, p.path, g)
	if err != nil {
		return nil, err
	}
	return task.OneBatch(b), nil
}
