package agents

import (
	"fmt"
	"strings"
	"sync"

	"miglab/algorithms/rl/nn"
	"miglab/harness/algo"
	"miglab/harness/spec"
	"miglab/harness/wholefile"
)

// fileKey is the parameter with the path of a user's weights. The path takes the place of the name of built-in weights;
// unlike a name, it ends with [Extension].
const fileKey = "weights"

// fileParam declares the parameter that lets an agent decide with weights of the user's own training. Its value is
// checked when an algorithm is named: the file must hold weights of a recipe of the agent, which is named after it.
func fileParam(agent string) algo.Param {
	read := func(path string) (string, error) {
		if !strings.HasSuffix(path, Extension) {
			return "", spec.ErrValue
		}
		meta, err := readMeta(path)
		switch {
		case err != nil:
			return "", err
		case !strings.HasPrefix(meta.Agent+"-", agent+"-"):
			return "", fmt.Errorf("%s: %w: it holds agent %q, want %s", path, nn.ErrNetwork, meta.Agent, agent)
		case meta.Environment != "" || meta.Tasks > 0 && (meta.Tasks != PaperTasks || meta.Levels != PaperLevels):
			environment := strings.TrimSpace(fmt.Sprintf("N=%d M=%d %s", meta.Tasks, meta.Levels, meta.Environment))
			return "", fmt.Errorf("%s: %w: %s learned with %s, and %s decides with N=%d M=%d", path, nn.ErrNetwork,
				meta.Agent, environment, agent, PaperTasks, PaperLevels)
		}
		return path, nil
	}
	return algo.Param{
		Name: fileKey, Doc: "a file that miglab train wrote for this agent, in place of built-in weights",
		Type:    spec.Type{Want: "a file of miglab train, which ends with " + Extension, Read: read},
		Without: []string{"workload", "seed", "recipe", "training"}, // they choose built-in weights
	}
}

// readMeta returns the description in a user's weights.
func readMeta(path string) (nn.Meta, error) {
	text, _, err := readWeights(path)
	if err != nil {
		return nn.Meta{}, err
	}
	meta, _, err := nn.ReadWeights(text, path)
	return meta, err
}

// files keeps the content of weights by name or path, so that a result's identity and its decisions are of one content.
var files sync.Map // name to func() ([]byte, error)

// readWeights returns the content and the file of weights: embedded ones by name, or the user's by path.
func readWeights(name string) (text []byte, file string, err error) {
	const limit = 64 << 20 // built-in weights have less than a megabyte
	embedded := !strings.HasSuffix(name, Extension)
	file, read := name, func() ([]byte, error) { return wholefile.Read(name, limit) }
	if embedded {
		file = "weights/" + name + Extension
		read = func() ([]byte, error) { return readFile(file) }
	}
	once, _ := files.LoadOrStore(name, sync.OnceValues(read))
	if text, err = once.(func() ([]byte, error))(); err != nil && embedded {
		err = &NotTrainedError{name}
	}
	return text, file, err
}
