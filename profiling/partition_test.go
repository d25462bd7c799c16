package profiling_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/profiling"
)

// at is an instance by NVIDIA's name of its profile.
func at(t testing.TB, g *mig.GPU, profile string, start mig.Slices) mig.Instance {
	t.Helper()
	p, err := g.ProfileByName(profile)
	if err != nil {
		t.Fatal(err)
	}
	return mig.Instance{Profile: p, Start: start}
}

// names lists the profiles of a partition.
func names(p mig.Partition) []string {
	var out []string
	for _, in := range p {
		out = append(out, in.Profile.String())
	}
	return out
}

// drawPartition draws some instances that can exist together, of all profiles.
func drawPartition(t *rapid.T) (*mig.GPU, mig.Partition) {
	g := rapid.SampledFrom(mig.GPUs()).Draw(t, "gpu")
	parts := g.PartitionsOf(func(*mig.Profile) bool { return true })
	p := mig.Partition{}
	for _, in := range rapid.SampledFrom(parts).Draw(t, "partition") {
		if rapid.Bool().Draw(t, "present") {
			p = append(p, in)
		}
	}
	return g, p
}

func TestParseProfiles(t *testing.T) {
	for _, c := range []struct{ gpu, list, want string }{
		{"A100", "3g.20gb,2g.10gb,1g.5gb", "3g.20gb@0 2g.10gb@4 1g.5gb@6"},
		{"A100", "1g.5gb, 2g.10gb, 1g.5gb, 3g.20gb", "2g.10gb@0 1g.5gb@2 1g.5gb@3 3g.20gb@4"},
		{"A100", "3g.20gb,4g.20gb", "4g.20gb@0 3g.20gb@4"},
		{"A100", "1g.5gb,1g.5gb+me", "1g.5gb+me@0 1g.5gb@1"},
		{"A100", "1g.10gb,1g.10gb,1g.10gb,1g.10gb", "1g.10gb@0 1g.10gb@2 1g.10gb@4 1g.10gb@6"},
		{"A100", "2g.10gb,2g.10gb,1g.10gb,2g.10gb", "2g.10gb@0 2g.10gb@2 2g.10gb@4 1g.10gb@6"},
		{"A100-80GB", "7g.80gb", "7g.80gb@0"},
		{"H200", "3g.71gb,3g.71gb", "3g.71gb@0 3g.71gb@4"},
		{"A30", "1g.6gb,2g.12gb,1g.6gb", "2g.12gb@0 1g.6gb@2 1g.6gb@3"},
	} {
		p, err := profiling.ParseProfiles(mig.MustLookup(c.gpu), c.list)
		if err != nil {
			t.Errorf("%s %s: %v", c.gpu, c.list, err)
			continue
		}
		var got []string
		for _, in := range p {
			got = append(got, in.Profile.String()+"@"+string('0'+rune(in.Start)))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s %s is %s, want %s", c.gpu, c.list, s, c.want)
		}
	}
}

func TestProfilesThatDoNotFit(t *testing.T) {
	for _, c := range []struct{ gpu, list, want string }{
		{"A100", "4g.20gb,4g.20gb", "4g.20gb,4g.20gb does not fit on A100: the GPU holds at most 1 of 4g.20gb"},
		{"A100", "1g.5gb+me,1g.5gb+me", "the GPU holds at most 1 of 1g.5gb+me"},
		{"A100", "3g.20gb,3g.20gb,1g.5gb", "it needs 9 memory slices of 8"},
		{"A100", "2g.10gb,2g.10gb,2g.10gb,1g.5gb,1g.5gb", "two instances overlap wherever they begin (2g.10gb at [0 2 4], 1g.5gb at [0 1 2 3 4 5 6])"},
		{"A100", "7g.40gb,", `unknown profile of A100 ""`},
		{"A100", "3g.40gb", `unknown profile of A100 "3g.40gb"; did you mean`},
		{"A30", "2g.12gb,2g.12gb,1g.6gb", "it needs 5 memory slices of 4"},
	} {
		p, err := profiling.ParseProfiles(mig.MustLookup(c.gpu), c.list)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, error %v; want %q", c.gpu, c.list, p, err, c.want)
		}
	}
}

// Whatever exists has profiles for which a partition is found.
func TestEveryPartitionIsFoundByItsProfiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, p := drawPartition(t)
		if len(p) == 0 {
			return
		}
		want := rapid.Permutation(names(p)).Draw(t, "order")
		found, err := profiling.ParseProfiles(g, strings.Join(want, ","))
		if err != nil {
			t.Fatal(err)
		}
		got := names(found)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("found %q, want %q", got, want)
		}
		var taken mig.Mask
		for _, in := range found {
			if in.Mask()&taken != 0 || !slices.Contains(in.Profile.Starts, in.Start) {
				t.Fatalf("%v cannot be", found)
			}
			taken |= in.Mask()
		}
	})
}

func TestWriteMIGParted(t *testing.T) {
	a100 := mig.MustLookup("A100")
	for _, c := range []struct {
		devices []int
		p       mig.Partition
		want    string
	}{
		{nil, mig.Partition{at(t, a100, "1g.5gb", 0), at(t, a100, "1g.5gb", 2), at(t, a100, "3g.20gb", 4)}, `version: v1
mig-configs:
  far-0:
    - devices: all
      mig-enabled: true
      mig-devices:
        1g.5gb: 2
        3g.20gb: 1
`},
		{[]int{0, 2}, mig.Partition{at(t, a100, "1g.10gb", 0), at(t, a100, "1g.5gb+me", 2), at(t, a100, "2g.10gb", 4)}, `version: v1
mig-configs:
  far-0:
    - devices: [0, 2]
      mig-enabled: true
      mig-devices:
        1g.5gb+me: 1
        1g.10gb: 1
        2g.10gb: 1
`},
		{[]int{1}, nil, `version: v1
mig-configs:
  far-0:
    - devices: [1]
      mig-enabled: true
      mig-devices: {}
`},
	} {
		var b strings.Builder
		if err := profiling.WriteMIGParted(&b, "far-0", c.devices, c.p); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%v is\n%s\nwant\n%s", c.p, b.String(), c.want)
		}
	}
}

// A label stays a string whatever it looks like, and the numbers add up.
func TestMIGPartedReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		_, p := drawPartition(t)
		label := rapid.SampledFrom([]string{"all-1g", "true", "12", "null", "a: b", "#", "~", "é"}).Draw(t, "label")
		var b bytes.Buffer
		if err := profiling.WriteMIGParted(&b, label, nil, p); err != nil {
			t.Fatal(err)
		}
		var read struct {
			Version string `yaml:"version"`
			Configs map[string][]struct {
				Devices string         `yaml:"devices"`
				Enabled bool           `yaml:"mig-enabled"`
				MIG     map[string]int `yaml:"mig-devices"`
			} `yaml:"mig-configs"`
		}
		d := yaml.NewDecoder(&b)
		d.KnownFields(true)
		if err := d.Decode(&read); err != nil {
			t.Fatal(err)
		}
		c := read.Configs[label]
		if read.Version != "v1" || len(read.Configs) != 1 || len(c) != 1 || c[0].Devices != "all" || !c[0].Enabled {
			t.Fatalf("read %+v", read)
		}
		for _, name := range names(p) {
			c[0].MIG[name]--
		}
		for name, n := range c[0].MIG {
			if n != 0 {
				t.Errorf("%d too many of %s", n, name)
			}
		}
	})
}

func TestWriteNVIDIASMI(t *testing.T) {
	a100, a30 := mig.MustLookup("A100"), mig.MustLookup("A30")
	for _, c := range []struct {
		devices []int
		p       mig.Partition
		want    string
	}{
		{nil, mig.Partition{at(t, a100, "2g.10gb", 0), at(t, a100, "1g.5gb", 3), at(t, a100, "3g.20gb", 4)}, "nvidia-smi mig -cgi 9,14,19 -C\n"},
		{[]int{0}, mig.Partition{at(t, a100, "4g.20gb", 0), at(t, a100, "3g.20gb", 4)}, "nvidia-smi mig -i 0 -cgi 5,9 -C\n"},
		{
			[]int{1, 3},
			mig.Partition{at(t, a100, "1g.5gb", 0), at(t, a100, "1g.5gb+me", 1), at(t, a100, "2g.10gb", 2), at(t, a100, "1g.10gb", 4)},
			"nvidia-smi mig -i 1,3 -cgi 14,15,20,19 -C\n",
		},
		{nil, mig.Partition{at(t, a30, "1g.6gb", 0), at(t, a30, "1g.6gb", 1), at(t, a30, "2g.12gb", 2)}, "nvidia-smi mig -cgi 5,14,14 -C\n"},
		{nil, nil, ""},
	} {
		var b strings.Builder
		if err := profiling.WriteNVIDIASMI(&b, c.devices, c.p); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%v is %q, want %q", c.p, b.String(), c.want)
		}
	}
}

func TestWritePartition(t *testing.T) {
	g := mig.MustLookup("A100")
	var b strings.Builder
	if err := profiling.WritePartition(&b, g, mig.Partition{at(t, g, "1g.5gb+me", 1), at(t, g, "3g.20gb", 4)}); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "gpu": "A100",
  "instances": [
    {
      "profile": "1g.5gb+me",
      "start": 1,
      "length": 1
    },
    {
      "profile": "3g.20gb",
      "start": 4,
      "length": 4
    }
  ]
}
`
	if b.String() != want {
		t.Errorf("it is\n%s\nwant\n%s", b.String(), want)
	}
}

func TestPartitionsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, p := drawPartition(t)
		var b bytes.Buffer
		if err := profiling.WritePartition(&b, g, p); err != nil {
			t.Fatal(err)
		}
		readGPU, read, err := profiling.ReadPartition(&b, "p.json")
		if err != nil {
			t.Fatal(err)
		}
		if readGPU != g || !slices.Equal(read, p) {
			t.Fatalf("read %v of %v, want %v of %v", read, readGPU, p, g)
		}
	})
}

func TestReadPartitionInAnyOrder(t *testing.T) {
	const text = `{"instances": [
		{"length": 4, "start": 4, "profile": "3g.20gb"},
		{"profile": "1g.10gb", "start": 2, "length": 2}], "gpu": "a100-40gb"}`
	g, p, err := profiling.ReadPartition(strings.NewReader(text), "p.json")
	if err != nil {
		t.Fatal(err)
	}
	want := mig.Partition{at(t, g, "1g.10gb", 2), at(t, g, "3g.20gb", 4)}
	if g.Name != "A100" || !slices.Equal(p, want) {
		t.Errorf("read %v of %v, want %v of A100", p, g, want)
	}
}

// broken are texts that are no partition, and what is wrong with them.
var broken = []struct{ text, want string }{
	{``, "p.json:1: the text is incomplete"},
	{"{\n\"gpu\":", "p.json:2: the text is incomplete"},
	{`nonsense`, "p.json:1: this is not JSON"},
	{`null`, "p.json:1: null is not an object"},
	{`[]`, "p.json:1: a list is not an object"},
	{`{"gpu":"A100"}`, `p.json:1: instances: the field is missing`},
	{`{"instances":[]}`, `gpu: the field is missing`},
	{"{\"gpu\":\"A100\",\n\"instances\":[],\n\"gpu\":\"A100\"}", `p.json:3: gpu: the field is there twice`},
	{"{\"gpu\":\"A100\",\n\"GPU\":1}", `p.json:2: unknown field "GPU"; did you mean "gpu"?`},
	{"{\n\"gpu\":7,\"instances\":[]}", "p.json:2: gpu: 7 is not a string"},
	{"{\n\"gpu\":\"A101\",\n\"instances\":[]}", `p.json:2: gpu: unknown GPU "A101"; did you mean "A100"?`},
	{`{"gpu":"A100","instances":{}}`, "instances: an object is not a list"},
	{`{"gpu":"A100","instances":null}`, "instances: null is not a list"},
	{`{"gpu":"A100","instances":[1]}`, "1 is not an object"},
	{`{"gpu":"A100","instances":[{"profile":"1g.5gb","start":0}]}`, `instances[0].length: the field is missing`},
	{`{"gpu":"A100","instances":[{"profile":"1g.5gb","start":"0","length":1}]}`, `instances[0].start: "0" is not a whole number`},
	{`{"gpu":"A100","instances":[{"profile":"1g.5gb","start":0.5,"length":1}]}`, "0.5 is not a whole number"},
	{`{"gpu":"A100","instances":[{"profile":"1g.5gb","start":99999999999999999999,"length":1}]}`, "is not a whole number"},
	{"{\"gpu\":\"A100\",\"instances\":[\n{\"profile\":\"1g.6gb\",\"start\":0,\"length\":1}]}", `p.json:2: instances[0]: unknown profile of A100 "1g.6gb"`},
	{`{"gpu":"A100","instances":[{"profile":"2g.10gb","start":1,"length":2}]}`, "2g.10gb cannot start at 1; it may start at [0 2 4]"},
	{`{"gpu":"A100","instances":[{"profile":"3g.20gb","start":4,"length":3}]}`, "3g.20gb has the length 4, not 3"},
	{"{\"gpu\":\"A100\",\"instances\":[{\"profile\":\"3g.20gb\",\"start\":0,\"length\":4},\n{\"profile\":\"1g.5gb\",\"start\":3,\"length\":1}]}", "p.json:2: instances[1]: 1g.5gb at 3 overlaps 3g.20gb at 0"},
	{`{"gpu":"A100","instances":[{"profile":"1g.5gb+me","start":0,"length":1},{"profile":"1g.5gb+me","start":1,"length":1}]}`, "the GPU holds at most 1 of 1g.5gb+me"},
	{"{\"gpu\":\"A100\",\"instances\":[]}\n\n{}", "p.json:3: there is more text after the end"},
	{`{"gpu":"A100","instances":[]}x`, "there is more text"},
}

func TestReadPartitionRefuses(t *testing.T) {
	for _, c := range broken {
		g, p, err := profiling.ReadPartition(strings.NewReader(c.text), "p.json")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v of %v, error %v; want %q", c.text, p, g, err, c.want)
		}
	}
	var unknown *nearest.UnknownError
	_, _, err := profiling.ReadPartition(strings.NewReader(`{"gpu":"A101","instances":[]}`), "p.json")
	if !errors.As(err, &unknown) {
		t.Errorf("error %#v is no *nearest.UnknownError", err)
	}
}

// What is read is a partition, and written and read again it is the same.
func FuzzReadPartition(f *testing.F) {
	for _, c := range broken {
		f.Add([]byte(c.text))
	}
	f.Add([]byte(`{"gpu":"A100","instances":[{"profile":"1g.5gb+me","start":1,"length":1},{"profile":"3g.20gb","start":4,"length":4}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		g, p, err := profiling.ReadPartition(bytes.NewReader(text), "p.json")
		if err != nil {
			return
		}
		for i, in := range p {
			if !slices.Contains(g.Profiles, in.Profile) || i > 0 && p[i-1].Start+p[i-1].Profile.Length > in.Start {
				t.Fatalf("%s gave %v", text, p)
			}
		}
		var b bytes.Buffer
		if err := profiling.WritePartition(&b, g, p); err != nil {
			t.Fatal(err)
		}
		again, q, err := profiling.ReadPartition(&b, "again.json")
		if err != nil || again != g || !slices.Equal(p, q) {
			t.Fatalf("%v of %v became %v of %v, error %v", p, g, q, again, err)
		}
	})
}
