package launch_test

import (
	"fmt"
	"log"
	"strings"

	"miglab/profiling/launch"
)

func ExampleRead() {
	const text = `version: 1
suite: mine
parameters:
  folder:
  size: 2048
kernels:
  - name: solver
    argv: [./solver, --size, "${size}"]
    workdir: ${folder}/bin
    timeout: 90s
    expect: {regexp: converged}
    time: {source: regexp, pattern: 'solved in ([0-9.]+) ms', unit: ms}
`
	all, err := launch.Read(strings.NewReader(text), "mine.yaml", map[string]string{"folder": "/opt/mine"})
	if err != nil {
		log.Fatal(err)
	}
	k := all[0]
	fmt.Println(k.Name, "in", k.Dir, k.Argv, "within", k.Timeout)
	_, err = launch.Read(strings.NewReader(text), "mine.yaml", nil)
	fmt.Println(err)
	// Output:
	// solver in /opt/mine/bin [./solver --size 2048] within 1m30s
	// mine.yaml:4:3: the parameter "folder" has no value; set it with --set folder=VALUE
}
