package mps

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"miglab/profiling"
	"miglab/profiling/internal/childgroup"
)

var _ profiling.Watcher = (*Device)(nil)

// SMs is the number of multiprocessors of the whole GPU.
func (d *Device) SMs() int { return d.sms }

// sampled are the fields of a sample. Drivers from 535 on know the last one as clocks_event_reasons.active, too.
const sampled = "timestamp,clocks.sm,power.draw,temperature.gpu,clocks_throttle_reasons.active"

// Watch lets nvidia-smi sample the GPU until the watch is closed. If nvidia-smi ends before,
// there are no more samples.
func (d *Device) Watch() (*profiling.Watch, error) {
	ctx, cancel := context.WithCancel(context.Background())
	c := exec.CommandContext(ctx, smi, "--query-gpu="+sampled, "--format=csv,noheader,nounits", "--id="+d.daemon.gpu,
		"--loop-ms="+strconv.FormatInt(profiling.SampleInterval.Milliseconds(), 10))
	c.WaitDelay = time.Second
	childgroup.Lead(c, false)
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		cancel()
		return nil, &profiling.DeviceError{Op: "sample the GPU's clocks", Err: err}
	}
	done := make(chan struct{})
	w := profiling.NewWatch(func() { cancel(); <-done })
	go func() {
		defer close(done)
		readSamples(out, w)
		if ctx.Err() == nil { // it ended by itself: there are no more samples
			w.Fail()
		}
		_ = c.Wait() // it was killed, or says with no samples that it failed
	}()
	return w, nil
}

// readSamples adds the samples that nvidia-smi prints, each at the time that it says.
func readSamples(out io.Reader, w *profiling.Watch) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if s, ok := parseSample(lines.Text()); ok {
			w.Add(s)
		} else {
			w.Fail()
		}
	}
}

// parseSample reads a line such as 2026/11/22 21:00:00.123, 1980, 412.53, 51, 0x0000000000000004.
// A value that the GPU does not report is 0.
func parseSample(line string) (profiling.Sample, bool) {
	fields := strings.Split(line, ", ")
	if len(fields) != strings.Count(sampled, ",")+1 {
		return profiling.Sample{}, false
	}
	at, err := time.ParseInLocation("2006/01/02 15:04:05.000", fields[0], time.Local)
	if err != nil {
		return profiling.Sample{}, false
	}
	clock, _ := strconv.Atoi(fields[1])
	power, _ := strconv.ParseFloat(fields[2], 64)
	temperature, _ := strconv.Atoi(fields[3])
	throttle, err := strconv.ParseUint(strings.TrimPrefix(fields[4], "0x"), 16, 64)
	if err != nil {
		throttle = profiling.ThrottleUnknown
	}
	return profiling.Sample{At: at, SMClock: clock, Power: power, Temperature: temperature, Throttle: throttle}, true
}
