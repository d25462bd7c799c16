package bounds_test

import (
	"flag"
	"strconv"

	"miglab/harness/deep"
)

// rapid checks each property on few values unless the tests are deep.
func init() { flag.Set("rapid.checks", strconv.Itoa(deep.N(20, 100))) }
