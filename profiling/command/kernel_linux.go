package command

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads the clock that all processes of the machine share.
func monotonic() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) // it cannot fail
	return time.Duration(t.Nano())
}
