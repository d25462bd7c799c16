package layout

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"miglab/harness/mig"
)

func profiles(t *testing.T, g *mig.GPU, text string) []*mig.Profile {
	t.Helper()
	out, err := Parse(g, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestMigPartedFile: what is written is read back, and files after NVIDIA's default one are read.
func TestMigPartedFile(t *testing.T) {
	g := mig.MustLookup("H100")
	in := []Named{
		{Label: "pool", Devices: []int{0, 1}, Profiles: profiles(t, g, "1g.10gb:2,3g.40gb"), Line: 6},
		{Label: "pool", Devices: []int{2}, Profiles: profiles(t, g, "7g"), Line: 11},
		{Label: "pool", Devices: []int{3}, Line: 16}, // MIG is off
		{Label: "rest", Profiles: profiles(t, g, "1g.10gb+me"), Line: 16},
	}
	var b bytes.Buffer
	if err := WriteMigParted(&b, "made by\nmiglab", in); err != nil {
		t.Fatal(err)
	}
	const want = `# made by
# miglab
version: v1
mig-configs:
  pool:
    - devices:
        - 0
        - 1
      mig-enabled: true
      mig-devices:
        1g.10gb: 2
        3g.40gb: 1
`
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("%s", b.String())
	}
	out, others, err := ReadMigParted(&b, "f", g)
	for i := range out {
		out[i].Line, in[i].Line = 0, 0
	}
	if err != nil || others.Entries != 0 || !reflect.DeepEqual(out, in) {
		t.Errorf("%+v, %+v, %v; want %+v", out, others, err, in)
	}
	const theirs = `version: v1
mig-configs:
  all-disabled:
    - devices: all
      mig-enabled: false
  # A30
  all-1g.6gb:
    - devices: all
      mig-enabled: true
      mig-devices:
        "1g.6gb": 4
  all-balanced:
    # H100
    - device-filter: ["0x233010DE", "0x233110DE"]
      devices: all
      mig-enabled: true
      mig-devices:
        "1g.10gb": 2
        "2g.20gb": 1
        "3g.40gb": 1
    - device-filter: "0x20B710DE"
      devices: all
      mig-enabled: true
      mig-devices: {"1g.6gb": 2}
    - device-filter: ["0x294110DE"]
      devices: all
      mig-enabled: true
      mig-devices: {"3g.95gb": 1}
`
	out, others, err = ReadMigParted(strings.NewReader(theirs), "f", g)
	if err != nil || others.Entries != 3 || len(others.Unknown) != 1 || others.Unknown[0] != "3g.95gb (line 25)" || len(out) != 2 || out[0].Profiles != nil || len(out[1].Profiles) != 4 || out[1].Line != 14 {
		t.Errorf("%+v, %+v, %v", out, others, err)
	}
	// 1g.10gb has a slice on one A100 and two on the other.
	const alternatives = `version: v1
mig-configs:
  all-1g.10gb:
    - {device-filter: ["0x233010DE"], devices: all, mig-enabled: true, mig-devices: {"1g.10gb": 7}}
    - {device-filter: ["0x20B010DE"], devices: all, mig-enabled: true, mig-devices: {"1g.10gb": 4}}
  wrong:
    - {devices: all, mig-enabled: true, mig-devices: {"1g.10gb": 7}}
`
	out, others, err = ReadMigParted(strings.NewReader(alternatives), "f", mig.MustLookup("A100"))
	if err != nil || others.Entries != 1 || len(out) != 2 || out[0].Line != 5 || out[1].Label != "wrong" {
		t.Errorf("%+v, %+v, %v", out, others, err)
	}
	for text, want := range map[string]string{
		"version: v2\n":                                                                                                 `f:1: the version is "v2"; it must be v1`,
		"version: v1\nmig-configs: [1]\n":                                                                               "f:2: mig-configs must be a map",
		"version: v1\nmig-configs:\n  a:\n    devices: all\n":                                                           "f:4: a must be a list",
		"version: v1\nmig-configs:\n  a:\n    - devices: some\n":                                                        `f:4: a: devices is "some"; write all or a list`,
		"version: v1\nmig-configs:\n  a:\n    - devices: [x]\n":                                                         "f:4: a: device x is not a whole number",
		"version: v1\nmig-configs:\n  a:\n    - devices: all\n      mig-device: {}\n":                                   `f:4: a: unknown field "mig-device"; did you mean "mig-devices"`,
		"version: v1\nmig-configs:\n  a:\n    - devices: all\n      mig-devices: {1g.10gb: 1}\n":                        "mig-enabled is false",
		"version: v1\nmig-configs:\n  a:\n    - devices: all\n      mig-enabled: true\n      mig-devices: {1g.10gb: 0}": "1g.10gb: 0; write how many",
		"version: v1\nmig-configs:\n  a:\n    - devices: [1, 0, 1]\n":                                                   "f:4: a: device 1 is there twice",
		"version: v1\nmig-configs:\n  a:\n    - devices: [0, 1]\n    - devices: [2]\n    - devices: [3, 1]\n":           "f:6: a: the entry on line 4 has some of these devices, too",
		"version: v1\nmig-configs:\n  a:\n    - devices: all\n    - devices: [2]\n":                                     "f:5: a: the entry on line 4 has",
		"version: v1\nmig-configs:\n  a:\n    - devices: [2]\n    - devices: all\n":                                     "f:5: a: the entry on line 4 has",
		"\tx": "f: yaml: ",
	} {
		if _, _, err := ReadMigParted(strings.NewReader(text), "f", g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestGresFile(t *testing.T) {
	g := mig.MustLookup("A100")
	const text = "AutoDetect=off # here\nNodeName=n[1-2] Name=gpu Type=a100_1g.5gb Count=2\nName=gpu Type=whole Count=4\nNodeName=n[1-2] Name=gpu Count=3\nnodename=n[1-2] name=gpu type=3g.20gb\nName=mps Count=9\nName=gpu File=/dev/nvidia0\n"
	isModel := func(name string) bool { return strings.Contains(name, "a100") }
	out, others, err := ReadGres(strings.NewReader(text), "f", g, isModel)
	if err != nil || len(out) != 2 || others.Entries != 0 || out[1].Whole != 5 || out[0].Label != "n[1-2]" || out[0].Whole != 3 || !reflect.DeepEqual(out[0].Profiles, profiles(t, g, "1g:2,3g")) {
		t.Errorf("%+v, %v", out, err)
	}
	for text, want := range map[string]string{
		"\nName=gpu Type=2g.11gb\n":    `f:2: Type: unknown profile of A100 "2g.11gb"`,
		"Name=gpu Type=1g.5gb Count=x": `f:1: Count is "x"`,
		"Name=gpu Type=1g.5gb Count 2": `f:1: "Count" is not of the form Key=Value`,
	} {
		if _, _, err := ReadGres(strings.NewReader(text), "f", g, isModel); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// TestCountOfDeviceFiles: ranges and commas of a list of files count; the numbers in a path do not.
func TestCountOfDeviceFiles(t *testing.T) {
	for list, want := range map[string]int{"": 0, "/dev/nvidia0": 1, "/dev/nvidia[0-3]": 4, "/dev/nvidia[0-2,7]": 4, "/dev/nvidia[1,4-5],/dev/a-1-9": 4} {
		if got := countFiles(list); got != want {
			t.Errorf("%s: %d, want %d", list, got, want)
		}
	}
}

// TestTypesOfSlurm: gres.conf spells types as the jobs do, and names the way to the device files.
func TestTypesOfSlurm(t *testing.T) {
	g := mig.MustLookup("A100")
	var b bytes.Buffer
	node := Named{Label: "n", Profiles: profiles(t, g, "3g,7g"), Whole: 2}
	if err := WriteGres(&b, "by a test", []Named{node}, Types{Prefix: "a100_", Whole: "a100"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# NodeName=n Gres=gpu:a100_7g.40gb:1,gpu:a100_3g.20gb:1,gpu:a100:2\n", "\nAutoDetect=nvml\n",
		"\nNodeName=n Name=gpu Type=a100_3g.20gb Count=1\n", "\nNodeName=n Name=gpu Type=a100 Count=2\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%s\nwant %s", &b, want)
		}
	}
	out, _, err := ReadGres(&b, "f", g, func(name string) bool { return name == "a100" })
	if err != nil || len(out) != 1 || len(out[0].Profiles) != 2 {
		t.Errorf("%+v, %v", out, err)
	}
}

// TestSlurmReadsOurs: slurmd reads gres.conf beside the node line, and warns about nothing. It may have no NVML.
func TestSlurmReadsOurs(t *testing.T) {
	slurmd, err := exec.LookPath("slurmd")
	if err != nil {
		t.Skip("no slurmd")
	}
	g, dir := mig.MustLookup("H100"), t.TempDir()
	layouts := []Named{{Label: "n1", Profiles: profiles(t, g, "1g:3,4g,1g.10gb+me"), Whole: 2}, {Label: "n2", Profiles: profiles(t, g, "7g:2")}}
	var b bytes.Buffer
	if err := WriteGres(&b, "by a test", layouts, Types{Whole: "whole"}); err != nil {
		t.Fatal(err)
	}
	conf := "ClusterName=t\nSlurmctldHost=localhost\nGresTypes=gpu\nSlurmdDebug=info\nSlurmdLogFile=" + filepath.Join(dir, "log") + "\n"
	for _, l := range layouts {
		conf += NodeLine(l, Types{Whole: "whole"}) + "\n"
	}
	run := func(gres string) string {
		for name, text := range map[string]string{"gres.conf": gres, "slurm.conf": conf + "PartitionName=p Nodes=n1,n2\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := exec.Command(slurmd, "-f", filepath.Join(dir, "slurm.conf"), "-N", "n1", "-G").CombinedOutput()
		if err != nil {
			return string(out) + err.Error()
		}
		return string(out)
	}
	for _, wrong := range []string{"NodeName=n1 Name=gpu Type=1g.10gb Cout=3\n", "NodeName=n1 Name=gpu Type=2g.20gb Count=1\n"} {
		if out := run(wrong); !strings.Contains(out, "WARNING") && !strings.Contains(out, "fatal") {
			t.Skipf("this slurmd does not say what is wrong with %q: %s", wrong, out)
		}
	}
	if out := run(strings.Replace(b.String(), "AutoDetect=nvml\n", "", 1)); strings.Contains(out, "WARNING") || strings.Contains(out, "fatal") || strings.Contains(out, "exit status") {
		t.Errorf("%s\n%s", b.String(), out)
	}
}
