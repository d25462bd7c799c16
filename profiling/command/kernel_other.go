//go:build !linux

package command

import "time"

var began = time.Now()

// monotonic reads a clock of this process; there is no CUDA here that could need another.
func monotonic() time.Duration { return time.Since(began) }
