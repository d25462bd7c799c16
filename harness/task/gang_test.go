package task_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"miglab/harness/mig"
	"miglab/harness/task"
)

const gangHeader = "arrival_slot,lifespan,profiles,gang\n"

func readGangs(t testing.TB, gpu, lines string) []task.Request {
	t.Helper()
	in, err := task.ReadRequests(strings.NewReader(gangHeader+lines), "t.csv", mig.MustLookup(gpu), task.Requests{})
	if err != nil {
		t.Fatal(err)
	}
	return in.Requests
}

func TestGangsAreSortedAndNamed(t *testing.T) {
	for _, c := range []struct{ gpu, profiles, gang, want, where string }{
		{"A100-80GB", "1g.10gb+3g.40gb", "gpu", "3g.40gb+1g.10gb", "gpu"},
		{"A100-80GB", "1g.10gb+1g.10gb+me+3g.40gb+1g.10gb", "any", "3g.40gb+1g.10gb+me+1g.10gb+1g.10gb", "any"},
		{"A100-80GB", "1g.20gb+2g.20gb", "any", "2g.20gb+1g.20gb", "any"},
		{"A100-80GB", "1g.10gb+me", "gpu", "1g.10gb+me", "any"}, // one instance is on one GPU anyway
		{"A30", "2g.12gb+2g.12gb+me", "gpu", "2g.12gb+me+2g.12gb", "gpu"},
		{"A100-80GB", "7g.80gb+7g.80gb", "any", "7g.80gb+7g.80gb", "any"},
	} {
		q := readGangs(t, c.gpu, "0,1,"+c.profiles+","+c.gang+"\n")[0]
		if q.Gang == nil || q.Gang.String() != c.want || q.Gang.Where() != c.where || q.Profile != q.Gang.Members[0].Profile {
			t.Errorf("%s, %s: %+v; want %s, %s", c.profiles, c.gang, q.Gang, c.want, c.where)
		}
	}
	if q := readGangs(t, "A100-80GB", "0,1,3g.40gb,gpu\n")[0]; q.Gang != nil || q.Profile.String() != "3g.40gb" {
		t.Errorf("a single profile is the gang %v", q.Gang)
	}
	q := readGangs(t, "A100-80GB", "0,1,3g.40gb+1g.10gb+me+1g.20gb,any\n")[0]
	if q.Instances() != 3 || q.Slices() != 7 || q.ComputeSlices() != 5 || q.Gang.Media() != 1 {
		t.Errorf("%d instances, %d and %d slices, %d with media extensions", q.Instances(), q.Slices(), q.ComputeSlices(), q.Gang.Media())
	}
}

func TestBadGangFiles(t *testing.T) {
	many := strings.Repeat("1g.10gb+", 1024) + "1g.10gb"
	for text, message := range map[string]string{
		"0,1,3g.40gb+9g.10gb,gpu\n":                           `t.csv:2: profiles: unknown profile of A100-80GB "9g.10gb"`,
		"0,1,3g.40gb+1g.10gb,gpu\n0,1,+me,any\n":              `t.csv:3: profiles: unknown profile of A100-80GB "+me"`,
		"0,1,3g.40gb+me,any\n":                                `t.csv:2: profiles: unknown profile of A100-80GB "3g.40gb+me"`,
		"0,1,3g.40gb+,any\n":                                  `t.csv:2: profiles: unknown profile of A100-80GB "3g.40gb+"`,
		"0,1,3g.40gb++1g.10gb,any\n":                          `unknown profile of A100-80GB "3g.40gb+"`,
		"0,1,,any\n":                                          `t.csv:2: profiles: unknown profile of A100-80GB ""`,
		"0,1,3g.40gb+1g.10gb,\n":                              `t.csv:2: gang: "" is neither gpu (all on one GPU) nor any`,
		"0,1,3g.40gb+1g.10gb,GPU\n":                           `t.csv:2: gang: "GPU" is neither gpu`,
		"0,1,4g.40gb+4g.40gb,gpu\n":                           `t.csv:2: profiles: the request asks for 4g.40gb+4g.40gb on one GPU; they do not fit beside each other`,
		"0,1,3g.40gb+3g.40gb+1g.10gb,gpu\n":                   `they do not fit beside each other`,
		"0,1,1g.10gb+me+1g.10gb+me,gpu\n":                     `t.csv:2: profiles: the request asks for 1g.10gb+me+1g.10gb+me on one GPU, which has the media extensions once`,
		"0,0,3g.40gb+1g.10gb,gpu\n":                           `t.csv:2: lifespan: "0" is not a lifespan`,
		"5,1,3g.40gb+1g.10gb,gpu\n4,1,1g.10gb,any\n":          `t.csv:3: arrival_slot: 4 comes after 5 on line 2`,
		"0,1," + many + ",any\n":                              `t.csv:2: profiles: the request asks for 1025 instances; ask for 1 to 1024`,
		"0,1,1g.10gb+1g.10gb+1g.10gb+" + many[:70] + ",gpu\n": "unknown profile",
	} {
		_, err := task.ReadRequests(strings.NewReader(gangHeader+text), "t.csv", mig.MustLookup("A100-80GB"), task.Requests{})
		if bad, ok := errors.AsType[*task.ParseError](err); !ok || bad.File != "t.csv" || !strings.Contains(err.Error(), message) {
			t.Errorf("%.80q: %.300v\nwant a ParseError with %q", text, err, message)
		}
	}
	for text, message := range map[string]string{
		"arrival_slot,lifespan,profiles\n0,1,1g.10gb\n":                         "t.csv:1: gang: the column is missing; the header of a requests file is arrival_slot,lifespan,profiles,gang",
		"arrival_slot,lifespan,profile,profiles,gang\n0,1,a,b,c\n":              "t.csv:1: profile: unknown column",
		"arrival_ms,work_ms,memory_mb,gang\n0,5,10,gpu\n":                       "t.csv:1: gang: unknown column",
		"arrival_slot,lifespan,profiles,gang,gpus\n0,5,7g.80gb+7g.80gb,any,2\n": "t.csv:2: gpus: the request asks for 7g.80gb+7g.80gb on 2 GPUs; a request for several GPUs has a single profile",
		"arrival_slot,lifespan,profiles,gang,gpus\n0,5,3g.40gb,any,2\n":         "a request for several GPUs needs the profile of a whole one",
	} {
		_, err := task.ReadRequests(strings.NewReader(text), "t.csv", mig.MustLookup("A100-80GB"), task.Requests{})
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%q: %v, want %q", text, err, message)
		}
	}
}

// drawGang draws a gang that some cluster can hold.
func drawGang(rng *rand.Rand, g *mig.GPU) task.Request {
	for {
		var members []task.Member
		profiles := task.RequestProfiles(g)
		for range 1 + rng.IntN(4) {
			m := task.Member{Profile: profiles[rng.IntN(len(profiles))]}
			m.Media = m.Profile == profiles[0] && rng.IntN(3) == 0
			members = append(members, m)
		}
		var q task.Request
		q.SetGang(members, rng.IntN(2) == 0)
		if q.CheckGPUs(g) == nil {
			return q
		}
	}
}

func TestGangsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := mig.MustLookup(rapid.SampledFrom([]string{"A30", "A100-80GB", "H200"}).Draw(t, "gpu"))
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		var want []task.Request
		for range rapid.IntRange(1, 20).Draw(t, "requests") {
			q := drawGang(rng, g)
			q.Lifespan = 1 + rng.IntN(9)
			if q.Gang == nil && q.Profile.Length == g.MemorySlices {
				q.GPUs = rng.IntN(4)
			}
			want = append(want, q)
		}
		var text bytes.Buffer
		if err := task.WriteRequests(&text, want); err != nil {
			t.Fatal(err)
		}
		got, err := task.ReadRequests(bytes.NewReader(text.Bytes()), "t.csv", g, task.Requests{})
		if err != nil || !reflect.DeepEqual(got.Requests, want) {
			t.Fatalf("%v, %v; want %v, written as %s", got, err, want, &text)
		}
	})
}

// FuzzReadGangs finds files that are read in another way once they are written.
func FuzzReadGangs(f *testing.F) {
	f.Add("0,3,3g.40gb+1g.10gb,gpu\n2,forever,1g.10gb+me,any\n")
	f.Add("0,3,1g.10gb+me+1g.10gb+me,any\n")
	f.Add("0,3,7g.80gb+,gpu\n")
	f.Add("0,3,+me+1g.10gb,\"gpu\"\n")
	f.Fuzz(func(t *testing.T, lines string) {
		g := mig.MustLookup("A100-80GB")
		first, err := task.ReadRequests(strings.NewReader(gangHeader+lines), "t.csv", g, task.Requests{})
		if err != nil {
			if _, ok := errors.AsType[*task.ParseError](err); !ok {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		var written bytes.Buffer
		if err := task.WriteRequests(&written, first.Requests); err != nil {
			t.Fatal(err)
		}
		again, err := task.ReadRequests(&written, "t.csv", g, task.Requests{})
		if err != nil || !reflect.DeepEqual(first, again) {
			t.Fatalf("%v, %v; want %v", again, err, first)
		}
	})
}

// TestGangsOfAGeometry: each member gets the smallest existing instance.
func TestGangsOfAGeometry(t *testing.T) {
	g := mig.MustLookup("A100-80GB")
	for _, c := range []struct{ line, geometry, want, err string }{
		{"2g.20gb+1g.10gb,gpu", "4-2-1", "2g.20gb+1g.10gb", ""},
		{"3g.40gb+1g.20gb,gpu", "4-2-1", "4g.40gb+2g.20gb", ""},
		{"1g.10gb+1g.10gb,any", "3-3", "3g.40gb+3g.40gb", ""},
		{"7g.80gb+1g.10gb,any", "4-2-1", "", "request 0 asks for 7g.80gb; all instances of [4-2-1] are smaller"},
		{"1g.10gb+me,any", "4-2-1", "", "request 0 asks for 1g.10gb+me; the instances of a geometry have no media extensions"},
	} {
		in := task.Requests{Requests: readGangs(t, "A100-80GB", "0,1,"+c.line+"\n"), GPUs: 2, Waiting: task.Retry}
		err := in.UseGeometry(g, []string{c.geometry})
		if err == nil {
			err = in.CheckEnd()
		}
		if c.err == "" && (err != nil || in.Requests[0].Gang.String() != c.want) || c.err != "" && (err == nil || err.Error() != c.err) {
			t.Errorf("%s on %s: %v, %v; want %s%s", c.line, c.geometry, in.Requests[0].Gang, err, c.want, c.err)
		}
	}
}

// TestGangsHaveADigest: a request for other instances, or elsewhere, is another stream.
func TestGangsHaveADigest(t *testing.T) {
	seen := map[string]string{}
	for _, line := range []string{"3g.40gb+1g.10gb,gpu", "3g.40gb+1g.10gb,any", "3g.40gb,any", "3g.40gb+1g.10gb+me,gpu", "3g.40gb+1g.10gb+1g.10gb,gpu"} {
		d := task.NewDigest()
		task.Requests{Requests: readGangs(t, "A100-80GB", "0,1,"+line+"\n")}.AddTo(d)
		if other, known := seen[d.String()]; known {
			t.Errorf("%s has the digest of %s", line, other)
		}
		seen[d.String()] = line
	}
}

// TestGangsOfAnotherModelAreRefused: members have profiles of the model, without +me.
func TestGangsOfAnotherModelAreRefused(t *testing.T) {
	a30, a100 := mig.MustLookup("A30"), mig.MustLookup("A100-80GB")
	me, err := a100.ProfileByName("1g.10gb+me")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*mig.Profile{task.RequestProfiles(a30)[0], me} {
		var q task.Request
		q.SetGang([]task.Member{{Profile: task.RequestProfiles(a100)[0]}, {Profile: p}}, false)
		if err := q.CheckGPUs(a100); err == nil || !strings.Contains(err.Error(), "A100-80GB does not have all of them") {
			t.Errorf("%v: %v", q.Gang, err)
		}
	}
}

// TestGangsThatWaitForever: a file of requests that wait is refused if a gang needs more than the cluster has.
func TestGangsThatWaitForever(t *testing.T) {
	file := "arrival_slot,lifespan,profiles,gang\n0,1,7g.80gb+7g.80gb+7g.80gb,any\n"
	for gpus, want := range map[int]string{2: `r.csv:2: profiles: 7g.80gb+7g.80gb+7g.80gb would wait forever; the cluster has 2 GPUs`, 3: "", math.MaxInt: ""} {
		_, err := task.ReadRequests(strings.NewReader(file), "r.csv", mig.MustLookup("A100-80GB"), task.Requests{GPUs: gpus, Waiting: task.Retry})
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && got != want {
			t.Errorf("%d GPUs: %s; want %s", gpus, got, want)
		}
	}
}
