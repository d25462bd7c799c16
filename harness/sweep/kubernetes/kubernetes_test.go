package kubernetes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// options are valid ones.
func options() Options {
	return Options{
		Name: "miglab-0123456789ab", Image: "registry.example.org:5000/lab/miglab:1.0", Claim: "studies",
		Mount: "/nfs", Dir: "/nfs/ann/study", Sweep: "/nfs/ann/study/results/sweeps/0123456789ab",
		Tasks: 8, Parallelism: 4, CPU: "4", Memory: "2Gi", User: 1000, Group: 1000,
	}
}

// objects returns the documents of the options' manifest.
func objects(t rapid.TB, o Options) []any {
	t.Helper()
	text, err := Manifest(o)
	if err != nil {
		t.Fatal(err)
	}
	var all []any
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var object any
		err := d.Decode(&object)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all = append(all, object)
	}
}

// at follows a path of keys and indices into an object; nil where there is nothing.
func at(object any, keys ...any) any {
	for _, key := range keys {
		switch key := key.(type) {
		case string:
			m, _ := object.(map[string]any)
			object = m[key]
		case int:
			list, _ := object.([]any)
			if key >= len(list) {
				return nil
			}
			object = list[key]
		}
	}
	return object
}

// put sets what at would return.
func put(object, value any, keys ...any) {
	switch last := keys[len(keys)-1].(type) {
	case string:
		at(object, keys[:len(keys)-1]...).(map[string]any)[last] = value
	case int:
		at(object, keys[:len(keys)-1]...).([]any)[last] = value
	}
}

var (
	pod       = []any{"spec", "template", "spec"}
	container = []any{"spec", "template", "spec", "containers", 0}
)

func within(base []any, keys ...any) []any { return slices.Concat(base, keys) }

func TestManifestGolden(t *testing.T) {
	got, err := Manifest(options())
	if err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "job.yaml")
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		if err := os.WriteFile(golden+".got", got, 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("the manifest differs from %s; it is in %[1]s.got", golden)
	}
}

func TestAllTasksAtOnce(t *testing.T) {
	o := options()
	o.Tasks, o.Parallelism, o.First = MaxTasks, 0, 7
	job := objects(t, o)[0]
	if got := at(job, "spec", "parallelism"); got != MaxTasks {
		t.Errorf("without a limit %v tasks run at once, want all %d", got, MaxTasks)
	}
	want := []any{"task", o.Sweep, "--index", "$(JOB_COMPLETION_INDEX)", "--offset", "7"}
	if got := at(job, within(container, "args")...); !reflect.DeepEqual(got, want) {
		t.Errorf("the arguments are %q, want %q", got, want)
	}
}

func TestRunName(t *testing.T) {
	for _, job := range objects(t, options()) {
		variable := at(job, within(container, "env", 0)...)
		if field := at(variable, "valueFrom", "fieldRef", "fieldPath"); field != "metadata.name" {
			t.Errorf("the variable is %v, want the pod's name", field)
		}
		t.Setenv(at(variable, "name").(string), "miglab-0123456789ab-3-x7k2p")
		if got := RunName(); got != "miglab-0123456789ab-3-x7k2p" {
			t.Errorf("in that pod the run is named %q", got)
		}
	}
	t.Setenv("MIGLAB_POD", "")
	if got := RunName(); got != "" {
		t.Errorf("outside a pod the run is named %q", got)
	}
}

// A schema is what the published one says about a value.
type schema struct {
	Ref                  string `json:"$ref"`
	AllOf, OneOf         []*schema
	Type, Format         string
	Properties           map[string]*schema
	AdditionalProperties *schema
	Required             []string
	Items                *schema
}

// published are the schemas in testdata, by name.
func published(t rapid.TB) map[string]*schema {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "job-schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Source  string
		Schemas map[string]*schema
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // a keyword that this test does not know
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	return file.Schemas
}

// violations are those of a value against a schema. A field that the schema does not
// name is one.
func violations(all map[string]*schema, s *schema, where string, value any) []string {
	var found []string
	bad := func(format string, args ...any) {
		found = append(found, where+": "+fmt.Sprintf(format, args...))
	}
	switch {
	case s.Ref != "":
		name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
		if all[name] == nil {
			bad("the schema %s is not in testdata", name)
			return found
		}
		return violations(all, all[name], where, value)
	case s.AllOf != nil:
		for _, part := range s.AllOf {
			found = append(found, violations(all, part, where, value)...)
		}
		return found
	case s.OneOf != nil:
		fits := 0
		for _, part := range s.OneOf {
			if len(violations(all, part, where, value)) == 0 {
				fits++
			}
		}
		if fits != 1 {
			bad("%v is of %d kinds, not of one", value, fits)
		}
		return found
	}
	switch value := value.(type) {
	case map[string]any:
		if s.Type != "object" {
			bad("an object, not a %s", s.Type)
		}
		for _, key := range slices.Sorted(maps.Keys(value)) {
			of := s.Properties[key]
			if of == nil {
				of = s.AdditionalProperties
			}
			if of == nil {
				bad("unknown field %q", key)
				continue
			}
			found = append(found, violations(all, of, where+"."+key, value[key])...)
		}
		for _, key := range s.Required {
			if _, ok := value[key]; !ok {
				bad("no field %q", key)
			}
		}
	case []any:
		if s.Type != "array" {
			bad("a list, not a %s", s.Type)
			break
		}
		for i, item := range value {
			found = append(found, violations(all, s.Items, fmt.Sprintf("%s[%d]", where, i), item)...)
		}
	case string:
		if s.Type != "string" {
			bad("the string %q, not a %s", value, s.Type)
		}
	case int:
		if s.Type != "integer" && s.Type != "number" || s.Format == "int32" && value > math.MaxInt32 {
			bad("the integer %d, not a %s %s", value, s.Type, s.Format)
		}
	case bool:
		if s.Type != "boolean" {
			bad("the truth value %t, not a %s", value, s.Type)
		}
	default:
		bad("%v, not a %s", value, s.Type)
	}
	return found
}

// TestManifestIsAdmitted compares the manifest, which is that of TestManifestGolden, with the published schema. What
// the options are changes nothing but their own values, says TestOptionsStayData.
func TestManifestIsAdmitted(t *testing.T) {
	all := published(t)
	jobs := objects(t, options())
	if len(jobs) != 2 {
		t.Fatalf("the manifest has %d objects, want 2", len(jobs))
	}
	for _, job := range jobs {
		for _, v := range violations(all, &schema{Ref: jobSchema}, "Job", job) {
			t.Errorf("%v: %s", at(job, "metadata", "name"), v)
		}
	}
	if at(jobs[0], "spec", "suspend") != nil || at(jobs[1], "spec", "suspend") != true {
		t.Error("the tasks are to begin at once and the merge is to wait")
	}
}

const jobSchema = "io.k8s.api.batch.v1.Job"

// TestOthersAreNotAdmitted says that the judge of TestManifestIsAdmitted sees mistakes.
func TestOthersAreNotAdmitted(t *testing.T) {
	all := published(t)
	for _, c := range []struct {
		keys  []any
		value any
		want  string
	}{
		{[]any{"spec", "completion"}, 8, `Job.spec: unknown field "completion"`},
		{[]any{"spec", "completions"}, "8", `Job.spec.completions: the string "8", not a integer`},
		{[]any{"spec", "completions"}, math.MaxInt32 + 1, "Job.spec.completions: the integer 2147483648, not a integer int32"},
		{[]any{"spec", "template"}, nil, "Job.spec.template: <nil>, not a object"},
		{[]any{"spec", "podFailurePolicy", "rules", 0, "onPodConditions", 0}, map[string]any{"type": "DisruptionTarget"}, `Job.spec.podFailurePolicy.rules[0].onPodConditions[0]: no field "status"`},
		{within(pod, "affinity"), map[string]any{}, "Job.spec.template.spec.affinity: the schema io.k8s.api.core.v1.Affinity is not in testdata"},
		{within(container, "args"), "task", `Job.spec.template.spec.containers[0].args: the string "task", not a array`},
		{within(container, "resources", "limits", "cpu"), true, "Job.spec.template.spec.containers[0].resources.limits.cpu: true is of 0 kinds, not of one"},
	} {
		job := objects(t, options())[0]
		put(job, c.value, c.keys...)
		if got := violations(all, &schema{Ref: jobSchema}, "Job", job); !slices.Contains(got, c.want) {
			t.Errorf("with %v = %v the violations are %q, want among them %q", c.keys, c.value, got, c.want)
		}
	}
}

// expanded is what the kubelet makes of an argument where the index is 5: $(NAME) becomes
// the variable if there is one, and $$ a dollar that begins no variable.
func expanded(argument string) string {
	const index = "$(JOB_COMPLETION_INDEX)"
	var b strings.Builder
	for s := argument; s != ""; {
		switch {
		case strings.HasPrefix(s, "$$"):
			b.WriteByte('$')
			s = s[2:]
		case strings.HasPrefix(s, index):
			b.WriteByte('5')
			s = s[len(index):]
		default:
			b.WriteByte(s[0])
			s = s[1:]
		}
	}
	return b.String()
}

// TestOptionsStayData says that whatever the options are, they stand where they belong
// and change nothing else.
func TestOptionsStayData(t *testing.T) {
	plain := objects(t, options())
	folder := rapid.OneOf(
		rapid.SampledFrom([]string{
			" ", ": ", "- a", "a b", "#", " #", "'", `"`, `\`, `\n`, "{{.Name}}", "{a: b}", "[a]", "&a", "*a", "!!int 1", "|", ">", "%YAML", "---", "...",
			"$", "$$", "$(JOB_COMPLETION_INDEX)", "$$(JOB_COMPLETION_INDEX)", "${POD_NAME}", "~", "null", "true", "1e3", "é", "日本", "\u00a0", "\u2028", "\ufeff", "\uffff", "😀", ",", "`id`", "--index",
		}),
		rapid.StringOfN(rapid.Rune().Filter(func(r rune) bool { return r > ' ' && r != '/' && (r < 0x7f || r > 0x9f) }), 1, 8, -1).Filter(func(s string) bool { return s != "." && s != ".." }),
	)
	folders := rapid.Custom(func(t *rapid.T) string {
		return "/" + strings.Join(rapid.SliceOfN(folder, 1, 3).Draw(t, "folders"), "/")
	})
	names := rapid.SampledFrom([]string{"true", "null", "y", "no", "1e3", "0x1f", "0o7", "007", "12", "1", "a-b", "0b1"})
	rapid.Check(t, func(t *rapid.T) {
		o := options()
		o.Name, o.Claim, o.Image = names.Draw(t, "name"), names.Draw(t, "claim"), names.Draw(t, "image")
		o.Mount = strings.ReplaceAll(folders.Draw(t, "mount"), ":", ";")
		o.Dir, o.Sweep = o.Mount+folders.Draw(t, "dir"), o.Mount+folders.Draw(t, "sweep")
		o.CPU, o.Memory = rapid.SampledFrom([]string{"1", "007", "500m"}).Draw(t, "cpu"), rapid.SampledFrom([]string{"1E", "2Gi"}).Draw(t, "memory")
		jobs := objects(t, o)
		if len(jobs) != len(plain) {
			t.Fatalf("%d objects, want %d", len(jobs), len(plain))
		}
		p := options()
		for i, job := range jobs {
			args := at(job, within(container, "args")...).([]any)
			if got := expanded(args[1].(string)); got != o.Sweep {
				t.Errorf("the container is told the folder %q, want %q", got, o.Sweep)
			}
			if i == 0 && expanded(args[3].(string)) != "5" {
				t.Errorf("the index is %q", args[3])
			}
			args[1] = p.Sweep
			suffix := []string{"", "-merge"}[i]
			for _, c := range []struct {
				keys       []any
				got, plain string
			}{
				{[]any{"metadata", "name"}, o.Name + suffix, p.Name + suffix},
				{[]any{"metadata", "labels", "app.kubernetes.io/instance"}, o.Name, p.Name},
				{[]any{"spec", "template", "metadata", "labels", "app.kubernetes.io/instance"}, o.Name, p.Name},
				{within(pod, "volumes", 0, "persistentVolumeClaim", "claimName"), o.Claim, p.Claim},
				{within(container, "image"), o.Image, p.Image},
				{within(container, "workingDir"), o.Dir, p.Dir},
				{within(container, "volumeMounts", 0, "mountPath"), o.Mount, p.Mount},
				{within(container, "resources", "requests", "cpu"), o.CPU, p.CPU},
				{within(container, "resources", "limits", "cpu"), o.CPU, p.CPU},
				{within(container, "resources", "requests", "memory"), o.Memory, p.Memory},
				{within(container, "resources", "limits", "memory"), o.Memory, p.Memory},
			} {
				if got := at(job, c.keys...); got != c.got {
					t.Errorf("%v is %#v, want %q", c.keys, got, c.got)
				}
				put(job, c.plain, c.keys...)
			}
			if !reflect.DeepEqual(job, plain[i]) {
				t.Errorf("apart from the options the object is %v, want %v", job, plain[i])
			}
		}
	})
}

func TestWrongOptions(t *testing.T) {
	for _, c := range []struct {
		change func(*Options)
		want   string
	}{
		{func(o *Options) { o.Name = "" }, `job name "": want at most 57 lower-case letters`},
		{func(o *Options) { o.Name = "My_Sweep" }, `job name "My_Sweep": want`},
		{func(o *Options) { o.Name = "a.b" }, `job name "a.b": want`},
		{func(o *Options) { o.Name = "-a" }, `job name "-a": want`},
		{func(o *Options) { o.Name = "a\n" }, `job name "a\n": want`},
		{func(o *Options) { o.Name = strings.Repeat("a", 58) }, `a": want at most 57`},
		{func(o *Options) { o.Image = "" }, `image "": want`},
		{func(o *Options) { o.Image = "miglab image" }, `image "miglab image": want`},
		{func(o *Options) { o.Image = "example.org/Miglab" }, `image "example.org/Miglab": want`},
		{func(o *Options) { o.Image = "https://example.org/miglab" }, `image "https://example.org/miglab": want`},
		{func(o *Options) { o.Image = "miglab:" }, `image "miglab:": want`},
		{func(o *Options) { o.Image = "miglab@sha256:12" }, `image "miglab@sha256:12": want`},
		{func(o *Options) { o.Claim = "My Claim" }, `claim "My Claim": want the name of a PersistentVolumeClaim`},
		{func(o *Options) { o.Claim = "a..b" }, `claim "a..b": want`},
		{func(o *Options) { o.Claim = strings.Repeat("a", 254) }, `a": want the name of a PersistentVolumeClaim`},
		{func(o *Options) { o.Mount = "" }, `mount "": want an absolute path`},
		{func(o *Options) { o.Mount = "/" }, `mount "/": Kubernetes can mount a volume neither at /`},
		{func(o *Options) { o.Mount = "/a:b" }, `mount "/a:b": Kubernetes can mount a volume neither at /`},
		{func(o *Options) { o.Mount = "/nfs/" }, `mount "/nfs/": want an absolute path without . and ..`},
		{func(o *Options) { o.Dir = "study" }, `working directory "study": want an absolute path`},
		{func(o *Options) { o.Dir = "/nfs2/study" }, `working directory "/nfs2/study": want a path within the shared volume, which is mounted at "/nfs"`},
		{func(o *Options) { o.Sweep = "/nfs/../etc" }, `folder of the sweep "/nfs/../etc": want an absolute path`},
		{func(o *Options) { o.Sweep = "/nfs/a\nb" }, `folder of the sweep "/nfs/a\nb": want a path in UTF-8`},
		{func(o *Options) { o.Sweep = "/nfs/\xff" }, `folder of the sweep "/nfs/\xff": want a path in UTF-8`},
		{func(o *Options) { o.First = -1 }, "first task -1: want at least 0"},
		{func(o *Options) { o.Tasks = 0 }, "0 tasks: want 1 to 100000"},
		{func(o *Options) { o.Tasks = 100_001 }, "100001 tasks: want 1 to 100000"},
		{func(o *Options) { o.Parallelism = -1 }, "-1 tasks at once: want 1 to 100000, or 0 for all"},
		{func(o *Options) { o.Parallelism = 100_001 }, "100001 tasks at once: want"},
		{func(o *Options) { o.CPU = "" }, `cpu "": want`},
		{func(o *Options) { o.CPU = "0" }, `cpu "0": want`},
		{func(o *Options) { o.CPU = "2Gi" }, `cpu "2Gi": want`},
		{func(o *Options) { o.Memory = "512m" }, `memory "512m": want a whole number with a unit`},
		{func(o *Options) { o.Memory = "2 Gi" }, `memory "2 Gi": want`},
		{func(o *Options) { o.Memory = "0Gi" }, `memory "0Gi": want`},
		{func(o *Options) { o.User = 0 }, "user 0: tasks do not run as root"},
		{func(o *Options) { o.Group = -1 }, "group -1: want at least 0"},
	} {
		o := options()
		c.change(&o)
		text, err := Manifest(o)
		if err == nil || text != nil {
			t.Errorf("%+v: a manifest, want the error %q", o, c.want)
		} else if got := err.Error(); !strings.HasPrefix(got, "kubernetes: ") || !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("the error is %q, want one line with %q", got, c.want)
		}
	}
}

func TestImages(t *testing.T) {
	for _, name := range []string{
		"miglab", "lab/miglab", "localhost/miglab:latest", "registry.example.org:5000/lab/mig_lab__x.y--z:v1.0_a-b",
		"ghcr.io/lab/miglab@sha256:" + strings.Repeat("0a", 32), "lab/miglab:1@sha256:" + strings.Repeat("0a", 32),
	} {
		o := options()
		o.Image = name
		if _, err := Manifest(o); err != nil {
			t.Error(err)
		}
	}
}
