package datasets

import (
	"strings"

	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	"miglab/harness/task"
)

// programsPrefix marks the spec of a file of programs.
const programsPrefix = "corunfile:"

// programsFile is a window of a user's own programs. It is read anew for every instance.
type programsFile struct {
	path string
	corunSetting
}

// parseProgramsFile parses a path with the parameters of the setting at its end. Paths may
// hold any character, so that only the last "?cmax=" and the like begins them.
func parseProgramsFile(text string) (Spec, error) {
	s := programsFile{path: text, corunSetting: defaultSetting}
	if i := s.parametersAt(text); i >= 0 {
		s.path = text[:i]
		if err := setParameters(strings.Split(text[i+1:], "&"), s.parameters()); err != nil {
			return nil, err
		}
	}
	if s.path == "" {
		return nil, &ParameterError{Name: "corunfile", Want: "the path of a file of programs, as in corunfile:programs.csv"}
	}
	return s, nil
}

// parametersAt returns where the parameters begin; -1 if there are none.
func (s *programsFile) parametersAt(text string) int {
	at := -1
	for _, p := range s.parameters() {
		at = max(at, strings.LastIndex(text, "?"+p.name+"="))
	}
	return at
}

func (s programsFile) ID() string {
	p := s.differing()
	if len(p) == 0 && s.parametersAt(s.path) >= 0 {
		p = []string{"release=false"}
	}
	return canonical(programsPrefix+s.path, p)
}

func (s programsFile) Instances() int { return 1 }

func (s programsFile) Instance(g *mig.GPU, index int) (task.Payload, error) {
	if err := checkIndex(s, index); err != nil {
		return nil, err
	}
	f, err := strictcsv.Open(s.path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	jobs, err := task.ReadPrograms(f, s.path)
	if err != nil {
		return nil, err
	}
	return s.instance(jobs), nil
}
