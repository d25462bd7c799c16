//go:build unix

package external_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"miglab/harness/algo"
	"miglab/harness/external"
	"miglab/harness/mig"
	"miglab/harness/task"
)

// program answers each question for a schedule of one task on an A30: the task runs on the
// whole GPU once it is created.
const program = `#!/bin/sh
read hello
echo '{"type":"hello","protocol":1,"name":"whole","version":1}'
read question
id=$(expr "$question" : '.*"id":\([0-9]*\)')
echo '{"type":"schedule","id":'$id',"schedule":{"gpu":"A30","algorithm":"whole","reconfiguration":"free","makespan_s":2,
"placements":[{"task":"lud","gpu":0,"size":4,"slice":0,"start_s":0,"end_s":2}],
"reconfigurations":[{"op":"create","gpu":0,"size":4,"slice":0,"start_s":0,"end_s":0}]}}' | tr -d '\n'
echo
`

// A program in any language is an algorithm.
func Example() {
	dir, err := os.MkdirTemp("", "miglab")
	check(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "whole")
	check(os.WriteFile(path, []byte(program), 0o755))
	defer external.Close()

	a, err := algo.ParseFor("exec:"+path, algo.TrackBatch)
	check(err)
	s, err := a.Schedule(context.Background(), algo.Problem{
		GPU: mig.MustLookup("A30"), Model: mig.Free,
		Tasks: task.Batch{task.New("lud", map[mig.Slices]mig.Seconds{1: 7, 2: 4, 4: 2})},
	})
	check(err)
	fmt.Println(a.Spec.Version, s.Placements[0].Instance, s.Makespan())
	// Output:
	// 1 4@0 2
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
