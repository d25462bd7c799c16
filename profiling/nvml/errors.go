//go:build cgo && linux

package nvml

import (
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"miglab/profiling"
)

const (
	withoutMIG = "measure it without MIG, with miglab profile corun"
	reset      = "dmesg has its error after the word Xid; reset it as root, with nvidia-smi --gpu-reset -i and its " +
		"number, or reboot"
)

// causes gives the error of package profiling for a return value of the driver, and the remedy. For other values the
// error quotes the driver.
var causes = map[nvml.Return]struct {
	err    error
	remedy string
}{
	nvml.ERROR_LIBRARY_NOT_FOUND: {
		profiling.ErrNoDriver,
		"install it: libnvidia-ml.so.1 was not found (in a container: start it with the NVIDIA container runtime)",
	},
	nvml.ERROR_DRIVER_NOT_LOADED: {
		profiling.ErrNoDriver,
		"its library is installed, but its kernel module is not loaded: modprobe nvidia",
	},
	nvml.ERROR_LIB_RM_VERSION_MISMATCH: {
		errors.New("the driver's library and its kernel module are of different versions"),
		"reboot, or reload the module",
	},
	nvml.ERROR_NO_PERMISSION: {
		profiling.ErrPermission, "run as root, or get read access to /proc/driver/nvidia/capabilities/mig/config; " +
			"start a container with NVIDIA_MIG_MONITOR_DEVICES=all to read, NVIDIA_MIG_CONFIG_DEVICES=all to change",
	},
	nvml.ERROR_OPERATING_SYSTEM: {
		profiling.ErrPermission, "the operating system denies this process the GPU's device file: allow it " +
			"in its cgroup",
	},
	nvml.ERROR_INSUFFICIENT_RESOURCES: {profiling.ErrInsufficient, ""},
	nvml.ERROR_IN_USE:                 {profiling.ErrBusy, ""},
	nvml.ERROR_NOT_FOUND:              {profiling.ErrUnknownInstance, ""},
	nvml.ERROR_NOT_SUPPORTED:          {profiling.ErrUnsupported, ""},
	nvml.ERROR_GPU_IS_LOST:            {profiling.ErrLost, reset},
	nvml.ERROR_RESET_REQUIRED:         {profiling.ErrLost, reset},
}

// failure returns the error for a return value of the driver; nil for a success.
func failure(op string, ret nvml.Return) error {
	if ret == nvml.SUCCESS {
		return nil
	}
	if c, ok := causes[ret]; ok {
		return &profiling.DeviceError{Op: op, Err: c.err, Remedy: c.remedy}
	}
	return &profiling.DeviceError{Op: op, Err: fmt.Errorf("NVML says %w (%d)", ret, int(ret))}
}
