package datasets

import (
	"io"

	"miglab/harness/mig"
	"miglab/harness/spec"
	"miglab/harness/task"
)

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
	if err != nil {
		return nil, err
	}
	return s.instance(jobs), nil
}
