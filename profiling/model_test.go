package profiling_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"miglab/profiling"
)

func TestModel(t *testing.T) {
	for _, c := range []struct {
		name string
		mib  int
		want string
	}{
		{"NVIDIA A30", 24576, "A30"},
		{"NVIDIA A30", 24258, "A30"},
		{"A100-SXM4-40GB", 40537, "A100"},
		{"NVIDIA A100-SXM4-40GB", 40960, "A100"},
		{"NVIDIA A100-PCIE-40GB", 40536, "A100"},
		{"NVIDIA A100 80GB PCIe", 81920, "A100-80GB"},
		{"NVIDIA A100-SXM4-80GB", 81251, "A100-80GB"},
		{"NVIDIA A100-SXM-64GB", 65536, "A100-80GB"},
		{"NVIDIA H100 80GB HBM3", 81559, "H100"},
		{"NVIDIA H100 PCIe", 81559, "H100"},
		{"NVIDIA H100 NVL", 95830, "H100-NVL"},
		{"NVIDIA H200", 143771, "H200"},
		{"NVIDIA H200 NVL", 143771, "H200"},
		{"NVIDIA B200", 183359, "B200"},
		{"nvidia b200", 183359, "B200"},
		{"NVIDIA B300 SXM6 AC", 275040, "B300"},
		{"NVIDIA GH200 480GB", 97871, "GH200"},
		{"NVIDIA GH200 144G HBM3e", 147456, "GH200-144GB"},
		{"NVIDIA GB200", 189471, "GB200"},
		{"NVIDIA GB300", 284208, "GB300"},
		{"NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, "RTX-PRO-6000"},
		{"NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", 97887, "RTX-PRO-6000"},
		{"NVIDIA RTX PRO 5000 Blackwell", 48935, "RTX-PRO-5000"},
	} {
		got, err := profiling.Model(c.name, c.mib)
		if err != nil {
			t.Errorf("Model(%q, %d): %v", c.name, c.mib, err)
		} else if got.Name != c.want {
			t.Errorf("Model(%q, %d) = %s, want %s", c.name, c.mib, got, c.want)
		}
	}
}

func TestNoModel(t *testing.T) {
	for _, c := range []struct {
		name string
		mib  int
		want string
	}{
		{"", 0, "not a known MIG-capable model"},
		{"NVIDIA A10", 23028, "not a known MIG-capable model"},
		{"NVIDIA A10G", 23028, "A30, A100, A100-80GB, H100, H200, B200, H100-NVL, GH200, "},
		{"NVIDIA H20", 97871, "is not a known"},
		{"NVIDIA RTX 6000 Ada Generation", 49140, "is not a known"},
		{"NVIDIA RTX PRO 4500 Blackwell", 32623, "is not a known"},
		{"GRID A100X-40C", 40960, "is not a known"},
		{"Tesla V100-SXM2-32GB", 32768, "is not a known"},
		// Virtual GPUs backed by an instance.
		{"GRID A100-3-20C", 20480, "20480 MiB"},
		{"NVIDIA A100-1-5C", 5120, "A100 has 40 GB"},
		{"NVIDIA H100XM-1-10C", 10240, "is not a known"},
		{"NVIDIA A30-2-12C", 12288, "cannot be divided"},
	} {
		got, err := profiling.Model(c.name, c.mib)
		if err == nil {
			t.Errorf("Model(%q, %d) = %s, want an error", c.name, c.mib, got)
		} else if !strings.Contains(err.Error(), c.want) {
			t.Errorf("Model(%q, %d): error %q does not say %q", c.name, c.mib, err, c.want)
		}
	}
}

// Without MIG any GPU is measured, under the name of its board.
func TestBoard(t *testing.T) {
	for _, c := range []struct {
		name     string
		mib, sms int
		want     string
	}{
		{"NVIDIA H200", 143771, 132, "H200"},
		{"NVIDIA A100-SXM4-40GB", 40960, 108, "A100"},
		{"NVIDIA B200", 183359, 148, "B200"}, // nothing is published about its instances
		{"NVIDIA H100 PCIe", 81559, 114, "H100-PCIe-114SM"},
		{"NVIDIA GH200 480GB", 97871, 132, "GH200"},
		{"NVIDIA H20", 97871, 78, "H20-78SM"},
		{"NVIDIA A800-SXM4-80GB", 81920, 108, "A800-SXM4-80GB-108SM"},
		{"NVIDIA H800", 81559, 132, "H800-132SM"},
		{"NVIDIA B300 SXM6 AC", 275040, 148, "B300"}, // nothing is published about most of its instances
		{"NVIDIA RTX PRO 6000 Blackwell Server Edition", 97887, 188, "RTX-PRO-6000"},
		{"NVIDIA H100 NVL", 95830, 132, "H100-NVL"},
		{"NVIDIA A100-SXM-64GB", 65536, 124, "A100-SXM-64GB-124SM"},
	} {
		if got := profiling.Board(c.name, c.mib, c.sms); got != c.want {
			t.Errorf("Board(%q, %d, %d) = %s, want %s", c.name, c.mib, c.sms, got, c.want)
		}
	}
}

func TestChoose(t *testing.T) {
	one := []profiling.Identity{{UUID: "GPU-a1", Name: "A"}}
	three := append(slices.Clone(one), profiling.Identity{}, profiling.Identity{UUID: "GPU-A2", Name: "B"})
	for _, c := range []struct {
		selector string
		gpus     []profiling.Identity
		index    int
		says     string
	}{
		{selector: "", gpus: one},
		{selector: "", gpus: three, says: "there are several: 0: A, GPU-a1; 1: , ; 2: B, GPU-A2; name one by its index or UUID"},
		{selector: "", says: "the driver reports no GPU; see whether nvidia-smi -L lists one"},
		{selector: "0", says: "the driver reports no GPU; see whether nvidia-smi -L lists one"},
		{selector: "1", gpus: three, index: 1},
		{selector: "gpu-a2", gpus: three, index: 2},
		{selector: "GPU-A1", gpus: three},
		{selector: "GPU-a", gpus: three, says: `"GPU-a" names several: 0: A, GPU-a1; 2: B, GPU-A2;`},
		{selector: "GPU-a11", gpus: three, says: `there is no GPU "GPU-a11"; there are 0: A`},
	} {
		i, err := profiling.Choose(c.selector, c.gpus)
		if _, ok := errors.AsType[*profiling.DeviceError](err); ok != (c.says != "") || i != c.index || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q of %d GPUs: %d, %v; want %d, error with %q", c.selector, len(c.gpus), i, err, c.index, c.says)
		}
	}
}
