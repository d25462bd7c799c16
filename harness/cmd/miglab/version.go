package main

import "miglab/harness/cli"

// release is the version that a release build sets, with -ldflags "-X main.release=v1.2.3".
var release string

func version() string { return cli.Version(release) }
