package external

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"miglab/harness/mig"
	"miglab/harness/schedule"
	"miglab/harness/sim/corun"
	"miglab/harness/task"
)

// a30 has a task of each kind, and an instance that exists.
func a30(model mig.Reconfiguration) schedule.Problem {
	g := mig.MustLookup("A30")
	half, err := g.Instance(2, 2)
	if err != nil {
		panic(err)
	}
	return schedule.Problem{
		GPU: g, Count: 2, Model: model, Release: []mig.Seconds{0, 1.5},
		Start: []schedule.Existing{{GPU: 1, Instance: half, BusyUntil: 3}},
		Tasks: task.Batch{
			task.New("a <b>", map[mig.Slices]mig.Seconds{1: 9.5, 2: 5, 4: 2}),
			task.New("whole", map[mig.Slices]mig.Seconds{4: 7}),
		},
	}
}

func TestInstanceIsAsDocumented(t *testing.T) {
	p := a30(mig.Sequential)
	const want = `{"type":"instance","id":ID,"gpu":{"name":"A30","compute_slices":4,"memory_slices":4,"profiles":[` +
		`{"size":1,"length":1,"starts":[0,1,2,3],"create_s":0.11,"destroy_s":0.1},` +
		`{"size":2,"length":2,"starts":[0,2],"create_s":0.12,"destroy_s":0.1},` +
		`{"size":4,"length":4,"starts":[0],"create_s":0.13,"destroy_s":0.1}]},` +
		`"gpus":2,"reconfiguration":"sequential","start":[{"gpu":1,"size":2,"slice":2,"busy_until_s":3}],` +
		`"tasks":[{"name":"a <b>","release_s":0,"seconds":{"1":9.5,"2":5,"4":2}},{"name":"whole","release_s":1.5,"seconds":{"4":7}}]}` + "\n"
	q := newInstance(&p, 2)
	id, err := json.Marshal(q.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(encodeMessage(q)); got != strings.Replace(want, "ID", string(id), 1) {
		t.Errorf("%s", got)
	}
	free := a30(mig.Free)
	other := newInstance(&free, 2)
	for _, pr := range other.GPU.Profiles {
		if pr.Create != 0 || pr.Destroy != 0 {
			t.Errorf("size %d costs %v and %v s though reconfiguring is free", pr.Size, pr.Create, pr.Destroy)
		}
	}
	if other.ID == q.ID || newInstance(&p, 1).ID == q.ID || newInstance(&p, 2).ID != q.ID || q.ID < 0 || q.ID >= 1<<48 {
		t.Errorf("IDs %d, %d", q.ID, other.ID)
	}
}

// twoJobs is a window.
func twoJobs() corun.Window {
	w := corun.Window{Concurrency: 2, Model: corun.Model{Kappa: 0.25, Delta: 0.5}}
	for i := range 2 {
		w.Jobs = append(w.Jobs, task.Program{
			Name: fmt.Sprint("job ", i), Class: task.Unscalable, Solo: 10, Serial: 0.5, Compute: 0.5, Parallelism: 1,
		})
	}
	return w
}

// Every line of a program is an error or an answer that the referee can judge.
func FuzzReply(f *testing.F) {
	const id = 17
	f.Add([]byte(`{"type":"hello","protocol":1,"name":"my-scheduler","version":3}`))
	f.Add([]byte(`{"type":"error","id":17,"message":"no"}`))
	f.Add([]byte(`{"type":"schedule","id":17,"schedule":{"gpu":"A30","algorithm":"mine","reconfiguration":"sequential","makespan_s":6.11,` +
		`"placements":[{"task":"whole","gpu":0,"size":4,"slice":0,"start_s":0.13,"end_s":6.11}],` +
		`"reconfigurations":[{"op":"create","gpu":0,"size":4,"slice":0,"start_s":0,"end_s":0.13}],"counters":{"moves":3}}}`))
	f.Add([]byte(`{"type":"schedule","id":17,"schedule":null}`))
	f.Add([]byte(`{"type":"plan","id":17,"plan":[{"gpu":1,"size":4,"slice":0,"tasks":["whole","a <b>"],"not_before_s":2}]}`))
	f.Add([]byte(`{"type":"schedule","id":null} {}`))
	f.Add([]byte(`null`))
	f.Add([]byte(strings.Repeat("[", 20000)))
	f.Add([]byte(`{"type":"place","id":17,"gpu":0,"slice":4}`))
	f.Add([]byte(`{"type":"reject","id":17}`))
	f.Add([]byte(`{"type":"dispatch","id":17,"slice":2}`))
	f.Add([]byte(`{"type":"plan","id":17,"groups":[{"jobs":[1,0],"partition":"[(0.5)+(0.5),1m]"}]}`))
	p, window := a30(mig.Sequential), twoJobs()
	f.Fuzz(func(t *testing.T, line []byte) {
		var h hello
		if decodeMessage(line, &h) == nil && h.check(id) == nil && (h.Type != "hello" || h.Protocol < 1 || h.Protocol > 2 || h.Version < 1) {
			t.Errorf("%s is no hello", line)
		}
		valid := func(a answer, h *head) bool {
			if decodeMessage(line, a) != nil || a.check(id) != nil {
				return false
			}
			if *h.ID != id {
				t.Errorf("%s is no answer to %d", line, id)
			}
			return a.refusal() == nil
		}
		var where place
		if valid(&where, &where.head) && where.Type == "place" && (where.GPU == nil || where.Slice == nil) {
			t.Errorf("%s is no place", line)
		}
		var slice choice
		if valid(&slice, &slice.head) && slice.Slice == nil {
			t.Errorf("%s is no choice", line)
		}
		var groups planAnswer
		if valid(&groups, &groups.head) {
			if p, err := groups.read(); err == nil {
				corun.Check(window, p)
			}
		}
		r, all := solution{protocol: 2}, newTimetable(p, "fuzz")
		if !valid(&r, &r.head) || all.add(&r, len(p.Tasks)) != nil {
			return
		}
		s := all.schedule()
		for _, pl := range s.Placements {
			if pl.Task < 0 || pl.Task >= len(p.Tasks) {
				t.Errorf("%s places task %d", line, pl.Task)
			}
		}
		schedule.Check(p, s)
	})
}

func TestTailKeepsTheEnd(t *testing.T) {
	var end tail
	for _, text := range []string{"one\ntwo\n", "three\nfour\nfive\n", "si", "x\n\n"} {
		if _, err := end.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if got := end.String(); got != "one\ntwo\nthree\nfour\nfive\nsix" {
		t.Errorf("%q", got)
	}
	end.Write([]byte(strings.Repeat("ä", tailBytes) + "\xff"))
	if got := end.String(); len(got) > tailBytes+4 || !strings.HasSuffix(got, "ä\ufffd") {
		t.Errorf("%q", got)
	}
	if end.reset(); end.String() != "" {
		t.Errorf("%q after reset", end.String())
	}
}

// TestAnswersToGangs: an answer has all of its places or none.
func TestAnswersToGangs(t *testing.T) {
	for line, want := range map[string]string{
		`{"type":"places","id":1,"places":[{"gpu":0,"slice":4},{"gpu":1,"slice":0}]}`: "",
		`{"type":"reject","id":1}`:                                  "",
		`{"type":"error","id":1,"message":"none"}`:                  "",
		`{"type":"places","id":1}`:                                  "places is missing",
		`{"type":"places","id":1,"places":null}`:                    "places: null is not a list",
		`{"type":"places","id":1,"places":[{"gpu":0}]}`:             "gpu or slice is missing in places",
		`{"type":"places","id":1,"places":[{"gpu":0,"slice":"a"}]}`: "is not a whole number",
		`{"type":"places","id":1,"places":[{"gpu":0,"size":1}]}`:    `unknown field "size"`,
		`{"type":"reject","id":1,"places":[]}`:                      "",
		`{"type":"places","id":2,"places":[]}`:                      "id 2 is not the 1",
		`{"type":"place","id":1,"gpu":0,"slice":0}`:                 "unknown field",
	} {
		var a places
		err := decodeMessage([]byte(line), &a)
		if err == nil {
			err = a.check(1)
		}
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
