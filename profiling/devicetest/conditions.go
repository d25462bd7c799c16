package devicetest

import (
	"errors"
	"time"

	"miglab/profiling"
)

// FailSamples lets the next samples of a watch fail.
func (g *GPU) FailSamples(n int) { g.failSamples.Store(int32(n)) }

// Watch implements [profiling.Device]. While processes use the GPU, its clocks are high; otherwise they are low.
func (g *GPU) Watch() (*profiling.Watch, error) {
	return profiling.Every(func() (profiling.Sample, error) {
		if g.failSamples.Add(-1) >= 0 {
			return profiling.Sample{}, errors.New("the driver does not answer")
		}
		s := profiling.Sample{At: time.Now(), SMClock: 345, Power: 50, Temperature: 40, Throttle: 0x1}
		processes, err := g.Processes()
		if len(processes) > 0 {
			s.SMClock, s.Power, s.Temperature, s.Throttle = 1410, 250, 60, 0x4
		}
		return s, err
	}), nil
}
