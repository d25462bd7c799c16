//go:build cgo && linux

package nvml

import (
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/profiling"
)

// Watch samples the GPU about ten times a second.
func (d *device) Watch() (*profiling.Watch, error) { return watchHandle(d.gpu, func() {}) }

func watchHandle(gpu nvml.Device, last func()) (*profiling.Watch, error) {
	if _, err := sample(gpu); err != nil {
		return nil, err
	}
	return profiling.NewWatch(func() (profiling.Sample, error) { return sample(gpu) }, last), nil
}

// sample reads clock, power, temperature and the reasons for lower clocks. GPUs may lack any of them.
func sample(gpu nvml.Device) (profiling.Sample, error) {
	s := profiling.Sample{At: time.Now(), Throttle: profiling.ThrottleUnknown}
	clock, ret := gpu.GetClockInfo(nvml.CLOCK_SM)
	if ret != nvml.SUCCESS && ret != nvml.ERROR_NOT_SUPPORTED {
		return s, failure("sample the GPU's clocks", ret)
	}
	s.SMClock = int(clock)
	if t, ret := gpu.GetTemperature(nvml.TEMPERATURE_GPU); ret == nvml.SUCCESS {
		s.Temperature = int(t)
	}
	if mw, ret := gpu.GetPowerUsage(); ret == nvml.SUCCESS {
		s.Power = float64(mw) / 1000
	}
	if set, ret := gpu.GetCurrentClocksEventReasons(); ret == nvml.SUCCESS {
		s.Throttle = set
	}
	return s, nil
}

// WatchGPU watches a GPU by the UUID that CUDA gives for it, which has no prefix, and returns the driver's version and
// how many processes use the GPU; -1 if the driver does not tell. The UUID may name a MIG device: then the
// processes are counted on it, and its GPU is sampled.
func WatchGPU(uuid string) (w *profiling.Watch, driver string, processes int, err error) {
	lib, err := loadLibrary()
	if err != nil {
		return nil, "", -1, err
	}
	defer func() {
		if err != nil {
			lib.Shutdown()
		}
	}()
	driver, _ = lib.SystemGetDriverVersion()
	device, ret := lib.DeviceGetHandleByUUID("GPU-" + uuid)
	gpu := device
	if ret != nvml.SUCCESS {
		if slice, isSlice := lib.DeviceGetHandleByUUID("MIG-" + uuid); isSlice == nvml.SUCCESS {
			device = slice
			gpu, ret = slice.GetDeviceHandleFromMigDeviceHandle()
		}
	}
	if ret != nvml.SUCCESS {
		return nil, driver, -1, failure("find the GPU with the UUID "+uuid, ret)
	}
	running, ret := device.GetComputeRunningProcesses()
	processes = len(running)
	if ret != nvml.SUCCESS {
		processes = -1
	}
	w, err = watchHandle(gpu, func() { lib.Shutdown() })
	return w, driver, processes, err
}
