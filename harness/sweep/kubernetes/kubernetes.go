package kubernetes

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path"
	"regexp"
	"strconv"
	"strings"
	"text/template"
	"unicode"
	"unicode/utf8"
)

// MaxTasks is how many tasks a manifest can have: the most indices for which Kubernetes
// counts failures without further limits (KEP-3850).
const MaxTasks = 100_000

// maxName is how long a Job's name can be so that the names of its pods' hosts, which end
// in up to "-99999", and of the merging Job, which ends in "-merge", are labels.
const maxName = 63 - len("-99999")

// Options say what a manifest is of. All of them are needed unless a zero value is
// explained.
type Options struct {
	// Name is the Job's, a DNS-1123 label of at most 57 characters. The Job that merges
	// is named Name-merge. A Job cannot be changed: each submission needs a name of its
	// own.
	Name string
	// Image is a container image whose entry point is the program.
	Image string
	// Claim names the claim of the volume that all pods share, and Mount is the absolute
	// path at which the submitting machine and the pods have it.
	Claim, Mount string
	// Dir is the working directory of the command and Sweep the folder of the sweep: both
	// absolute and within Mount.
	Dir, Sweep string
	// First is the number of the first task; it and those that follow are Tasks many, 1
	// to MaxTasks.
	First, Tasks int
	// Parallelism is how many tasks run at once, at most MaxTasks; 0 means all.
	Parallelism int
	// CPU is what a task gets in processors or thousandths of one, such as 4 or 500m, and
	// Memory what it gets in bytes with a unit, such as 2Gi.
	CPU, Memory string
	// User and Group own what the tasks write. The user is not root, which is 0.
	User, Group int
}

var (
	label = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	// subdomain is a DNS-1123 one: labels with dots between them.
	subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
	// image is a reference as in the OCI distribution specification: registry and port,
	// path, tag and digest, of which the path alone is needed.
	image = regexp.MustCompile(`^([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?(:[0-9]+)?/)?` +
		`[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*` +
		`(:[a-zA-Z0-9_][-a-zA-Z0-9._]{0,127})?(@sha256:[0-9a-f]{64})?$`)
	// Of the quantities that Kubernetes knows, those below take none for the other: 512m
	// of memory would be half a byte.
	cpu    = regexp.MustCompile(`^0*[1-9][0-9]{0,8}m?$`)
	memory = regexp.MustCompile(`^0*[1-9][0-9]{0,8}([KMGTPE]i|[kMGTPE])$`)
)

// check says which option is wrong, if any.
func (o *Options) check() error {
	switch {
	case len(o.Name) > maxName || !label.MatchString(o.Name):
		return fmt.Errorf("job name %q: want at most %d lower-case letters, digits and dashes, a letter or digit "+
			"first and last", o.Name, maxName)
	case !image.MatchString(o.Image):
		return fmt.Errorf("image %q: want the name of a container image, such as registry.example.org/miglab:1.0",
			o.Image)
	case len(o.Claim) > 253 || !subdomain.MatchString(o.Claim):
		return fmt.Errorf("claim %q: want the name of a PersistentVolumeClaim: lower-case letters, digits, dashes and "+
			"dots, a letter or digit first and last", o.Claim)
	case o.Mount == "/" || strings.Contains(o.Mount, ":"):
		return fmt.Errorf("mount %q: Kubernetes can mount a volume neither at / nor at a path with a colon", o.Mount)
	}
	for _, p := range []struct{ what, path string }{
		{"mount", o.Mount},
		{"working directory", o.Dir},
		{"folder of the sweep", o.Sweep},
	} {
		switch {
		case !utf8.ValidString(p.path) || strings.ContainsFunc(p.path, unicode.IsControl):
			return fmt.Errorf("%s %q: want a path in UTF-8 without control characters", p.what, p.path)
		case !path.IsAbs(p.path) || path.Clean(p.path) != p.path:
			return fmt.Errorf("%s %q: want an absolute path without . and .. and double slashes", p.what, p.path)
		case p.path != o.Mount && !strings.HasPrefix(p.path, o.Mount+"/"):
			return fmt.Errorf("%s %q: want a path within the shared volume, which is mounted at %q", p.what,
				p.path, o.Mount)
		}
	}
	switch {
	case o.First < 0:
		return fmt.Errorf("first task %d: want at least 0", o.First)
	case o.Tasks < 1 || o.Tasks > MaxTasks:
		return fmt.Errorf("%d tasks: want 1 to %d", o.Tasks, MaxTasks)
	case o.Parallelism < 0 || o.Parallelism > MaxTasks:
		return fmt.Errorf("%d tasks at once: want 1 to %d, or 0 for all", o.Parallelism, MaxTasks)
	case !cpu.MatchString(o.CPU):
		return fmt.Errorf("cpu %q: want processors or thousandths of one, such as 4 or 500m", o.CPU)
	case !memory.MatchString(o.Memory):
		return fmt.Errorf("memory %q: want a whole number with a unit, such as 512Mi or 2Gi", o.Memory)
	case o.User < 1:
		return fmt.Errorf("user %d: tasks do not run as root; want the number of the user who owns the folder "+
			"of the sweep",
			o.User)
	case o.Group < 0:
		return fmt.Errorf("group %d: want at least 0", o.Group)
	}
	return nil
}

//go:embed job.yaml.tmpl
var manifest string

var manifestTemplate = template.Must(template.New("job.yaml").Funcs(template.FuncMap{
	// quote makes a YAML string in double quotes: Go's escapes are among YAML's, and the
	// options are UTF-8.
	"quote": strconv.Quote,
	// argument keeps the kubelet from expanding $(VARIABLE).
	"argument": func(s string) string { return strconv.Quote(strings.ReplaceAll(s, "$", "$$")) },
}).Parse(manifest))

// Manifest returns, as YAML, a batch/v1 Job whose pods run the tasks of a sweep, and a
// second one, suspended, that merges once it is resumed. Its first lines say how to use
// it.
func Manifest(o Options) ([]byte, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("kubernetes: %w", err)
	}
	if o.Parallelism == 0 {
		o.Parallelism = o.Tasks
	}
	var b bytes.Buffer
	err := manifestTemplate.Execute(&b, o)
	return b.Bytes(), err
}

// RunName names this run of a task, as no other run of any task is named: by its pod,
// not by the host, whose name all pods of a task share. It is empty where this process
// is in no pod of a manifest of this package.
func RunName() string { return os.Getenv("MIGLAB_POD") }

//go:embed Dockerfile
var dockerfile string

// Dockerfile returns that of an image with nothing in it but the program, which must have
// been built without cgo. Its first lines say how to use it.
func Dockerfile() string { return dockerfile }
