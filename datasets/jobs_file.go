package datasets

import (
	"strings"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// jobsPrefix marks the spec of a jobs file.
const jobsPrefix = "jobs:"

// jobsFile is a file of jobs. It is read anew for every instance.
type jobsFile struct {
	path string
	fleet
}

// parseJobsFile parses a path with the parameters of the fleet at its end. Paths may
// hold any character, so that only the last "?gpus=" or "?watts=" begins them.
func parseJobsFile(text string) (Spec, error) {
	s := jobsFile{path: text, fleet: reportFleet}
	if i := parametersAt(text); i >= 0 {
		s.path = text[:i]
		if err := setParameters(strings.Split(text[i+1:], "&"), s.fleet.parameters()); err != nil {
			return nil, err
		}
	}
	if s.path == "" {
		return nil, &ParameterError{Name: "jobs", Want: "the path of a jobs file, as in jobs:queue.csv"}
	}
	return s, nil
}

// parametersAt returns where the parameters begin; -1 if there are none.
func parametersAt(text string) int {
	return max(strings.LastIndex(text, "?gpus="), strings.LastIndex(text, "?watts="))
}

func (s jobsFile) ID() string {
	p := s.fleet.differing()
	if len(p) == 0 && parametersAt(s.path) >= 0 {
		p = []string{"gpus=" + s.gpus}
	}
	return canonical(jobsPrefix+s.path, p)
}

func (s jobsFile) Instances() int { return 1 }

func (s jobsFile) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(s, index); err != nil {
		return nil, err
	}
	fleet, err := s.fleet.on(g)
	if err != nil {
		return nil, &SpecError{s.ID(), err}
	}
	f, err := strictcsv.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	jobs, err := task.ReadJobs(f, s.path, g)
	if err != nil {
		return nil, err
	}
	return task.Queue{Jobs: jobs, Fleet: fleet}, nil
}
