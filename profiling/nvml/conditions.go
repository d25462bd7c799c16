//go:build cgo && linux

package nvml

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/profiling"
)

var _ profiling.Watcher = (*device)(nil)

// Watch samples the GPU about ten times a second.
func (d *device) Watch() (*profiling.Watch, error) {
	if _, err := sample(d.lib, d.gpu); err != nil {
		return nil, err
	}
	return profiling.Every(func() (profiling.Sample, error) { return sample(d.lib, d.gpu) }), nil
}

// sample reads clock, power, temperature and the reasons for lower clocks. Drivers may lack
// the functions for power and reasons, and GPUs the values.
func sample(lib nvml.Interface, gpu nvml.Device) (profiling.Sample, error) {
	const op = "sample the GPU's clocks"
	s := profiling.Sample{At: time.Now(), Throttle: profiling.ThrottleUnknown}
	clock, ret := gpu.GetClockInfo(nvml.CLOCK_SM)
	if ret != nvml.SUCCESS && ret != nvml.ERROR_NOT_SUPPORTED {
		return s, failure(op, ret)
	}
	s.SMClock = int(clock)
	if t, ret := gpu.GetTemperature(nvml.TEMPERATURE_GPU); ret == nvml.SUCCESS {
		s.Temperature = int(t)
	}
	if hasFunction(lib, "nvmlDeviceGetPowerUsage") {
		if mw, ret := gpu.GetPowerUsage(); ret == nvml.SUCCESS {
			s.Power = float64(mw) / 1000
		}
	}
	switch {
	case hasFunction(lib, "nvmlDeviceGetCurrentClocksEventReasons"):
		if set, ret := gpu.GetCurrentClocksEventReasons(); ret == nvml.SUCCESS {
			s.Throttle = set
		}
	case hasFunction(lib, "nvmlDeviceGetCurrentClocksThrottleReasons"): // before driver 535
		if set, ret := gpu.GetCurrentClocksThrottleReasons(); ret == nvml.SUCCESS {
			s.Throttle = set
		}
	}
	return s, nil
}

// WatchGPU watches a GPU by its UUID, without the prefix GPU-, and returns the driver's
// version and how many processes use the GPU. It needs no MIG.
func WatchGPU(uuid string) (w *profiling.Watch, driver string, processes int, err error) {
	lib, err := load()
	if err != nil {
		return nil, "", 0, err
	}
	driver, _ = lib.SystemGetDriverVersion()
	gpu, ret := lib.DeviceGetHandleByUUID("GPU-" + uuid)
	if ret != nvml.SUCCESS {
		lib.Shutdown()
		return nil, driver, 0, failure("find the GPU with the UUID "+uuid, ret)
	}
	if running, ret := gpu.GetComputeRunningProcesses(); ret == nvml.SUCCESS {
		processes = len(running)
	}
	if _, err := sample(lib, gpu); err != nil {
		lib.Shutdown()
		return nil, driver, processes, err
	}
	polling := profiling.Every(func() (profiling.Sample, error) { return sample(lib, gpu) })
	return polling.Then(func() { lib.Shutdown() }), driver, processes, nil
}
