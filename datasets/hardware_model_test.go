package datasets

import (
	"strings"
	"testing"
	"testing/fstest"
)

const boardModel = `{"gpu": "Board-20SM", "origin": "from a test", "compute_slices": 2, "memory_slices": 2, "cost_source": "assumed",
  "profiles": [
    {"id": 19, "size": 1, "length": 1, "starts": [0, 1], "max": 2, "memory_gb": 8, "sms": 10, "create_s": 0.1, "destroy_s": 0.2},
    {"id": 0, "size": 2, "length": 2, "starts": [0], "max": 1, "memory_gb": 16, "sms": 20, "create_s": 0.1, "destroy_s": 0.2}]}`

// A GPU that the program's table lacks has its model beside its files.
func TestHardwareOfAModelBesideIt(t *testing.T) {
	rows := "gpu,gpu_name,driver,source,date,suite,kernel,size,mean_seconds,std_seconds,runs\n" +
		"Board-20SM,NVIDIA Board,570.1,mig,2026-11-22,s,a,1,2,0.1,3\nBoard-20SM,NVIDIA Board,570.1,mig,2026-11-22,s,a,2,1,0.1,3\n"
	files := fstest.MapFS{"a.kernels.csv": {Data: []byte(rows)}}
	if _, err := ReadHardware(files); err == nil || !strings.Contains(err.Error(), "Board-20SM") {
		t.Errorf("without the model: %v", err)
	}
	files["z.gpu.json"] = &fstest.MapFile{Data: []byte(strings.Replace(boardModel, `"max": 2`, `"max": 0`, 1))}
	if _, err := ReadHardware(files); err == nil || !strings.Contains(err.Error(), "z.gpu.json") {
		t.Errorf("with a wrong model: %v", err)
	}
	files["z.gpu.json"] = &fstest.MapFile{Data: []byte(boardModel)}
	if h, err := ReadHardware(files); err != nil || len(h.Kernels) != 1 || len(h.Kernels[0].Rows) != 2 {
		t.Errorf("%+v, %v", h.Kernels, err)
	}
}
