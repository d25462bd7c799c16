// Command miglabgym is the environments of package env as a shared library, for the
// Python package miglab_gym and whoever else calls C:
//
//	CGO_ENABLED=1 go build -buildmode=c-shared -o libmiglabgym.so ./harness/cmd/miglabgym
//
// It holds vectors of environments that are stepped together. An environment whose
// episode is done waits for a reset, as Gymnasium's vector environments do under
// AutoresetMode.DISABLED; the Python package adds the other modes.
//
// Whatever cgo is not needed for is in files that build without it.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr,
		"miglabgym is a library, not a program; build it with CGO_ENABLED=1 go build -buildmode=c-shared")
	os.Exit(2)
}
