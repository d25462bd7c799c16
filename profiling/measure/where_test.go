package measure

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/launch"
)

// A run that says that it ran elsewhere than asked is wrong, whatever time it prints.
func TestRunElsewhereIsWrong(t *testing.T) {
	const uuid = "1b2c0000-aaaa-bbbb-cccc-0123456789ab"
	dir := t.TempDir()
	script := "#!/bin/sh\necho \"sms: $SMS\"\necho \"uuid: $SEEN\"\necho time_s: 1.5\necho ok\n"
	if err := os.WriteFile(filepath.Join(dir, "k"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	all, err := launch.Read(strings.NewReader(`
version: 1
suite: s
defaults: {expect: {regexp: '(?m)^ok$', device: true}, time: {source: regexp, pattern: 'time_s: ([0-9.]+)', unit: s}}
kernels: [{name: k, argv: [./k], workdir: `+dir+`}]
`), "k.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	small := mig.MustLookup("A100").Profile(1)
	onMIG := profiling.Instance{Instance: mig.Instance{Profile: small}, UUID: "MIG-" + uuid}
	const other = "1b2c0000-aaaa-bbbb-cccc-0123456789ac"
	for _, tt := range []struct {
		on        profiling.Instance
		sms, seen string
		want      string // the detail; empty for a run that counts
	}{
		{onMIG, "14", uuid, ""},
		{onMIG, "14", other, "it ran on the device " + other + ", not on MIG-" + uuid},
		{onMIG, "108", uuid, "it ran on 108 multiprocessors, not on 14"},
		{onMIG, "15", uuid, "it ran on 15 multiprocessors, not on 14"},
		{onMIG, "14", "elsewhere", "the output does not say where it ran"},
		{onMIG, "", uuid, "the output does not say where it ran"},
	} {
		tt.on.Env = []string{"SMS=" + tt.sms, "SEEN=" + tt.seen}
		out, err := Real{}.Launch(t.Context(), &all[0], tt.on)
		if err != nil {
			t.Fatal(err)
		}
		if tt.want == "" && (out.Status != launch.OK || out.Seconds != 1.5) ||
			tt.want != "" && (out.Status != launch.Wrong || !strings.HasPrefix(out.Detail, tt.want) || out.Seconds < 1e300) {
			t.Errorf("%s with %s multiprocessors on %s: %+v, want %q", tt.on.UUID, tt.sms, tt.seen, out, tt.want)
		}
	}
}
