//go:build cgo && linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// fakeCUDA puts a libcuda.so.1 beside the stub of NVML. Its functions do nothing; cuInit returns
// FAKE_CUDA_INIT, and the device has the UUID of FAKE_CUDA_UUID, or the one that is visible.
func fakeCUDA(t *testing.T, b *bench) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("..", "..", "..", "profiling", "cuda", "driver.h"))
	if err != nil {
		t.Fatal(err)
	}
	code := `#include <stdlib.h>
#include <string.h>
int cuInit(unsigned f) { const char *e = getenv("FAKE_CUDA_INIT"); (void)f; return e ? atoi(e) : 0; }
int cuDeviceGetUuid_v2(unsigned char *uuid, int d) {
    const char *v = getenv("FAKE_CUDA_UUID");
    (void)d;
    if (v == NULL) v = getenv("CUDA_VISIBLE_DEVICES");
    if (v == NULL || strncmp(v, "MIG-", 4) != 0) return 101;
    v += 4;
    for (int i = 0; i < 16; i++) {
        char hex[3] = "";
        for (int k = 0; k < 2; k++) {
            if (*v == '-') v++;
            hex[k] = *v++;
        }
        uuid[i] = strtol(hex, NULL, 16);
    }
    return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int d) { (void)attribute; (void)d; *value = 9; return 0; }
int cuGetErrorString(int e, const char **text) { (void)e; *text = "no CUDA-capable device is detected"; return 0; }
`
	for _, m := range regexp.MustCompile(`F\((cu\w+), \(([^)]*)\)`).FindAllStringSubmatch(string(source), -1) {
		if name := m[1]; !slices.Contains([]string{"cuInit", "cuDeviceGetUuid_v2", "cuDeviceGetAttribute", "cuGetErrorString"}, name) {
			code += "int " + name + "() { return 0; }\n"
		}
	}
	var dir string
	for _, v := range b.env {
		if value, is := strings.CutPrefix(v, "LD_LIBRARY_PATH="); is {
			dir = value
		}
	}
	file := filepath.Join(b.dir, "cuda.c")
	b.write("cuda.c", code)
	out, err := exec.Command("cc", "-std=gnu11", "-shared", "-fPIC", "-w", "-o", filepath.Join(dir, "libcuda.so.1"), file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { os.Remove(filepath.Join(dir, "libcuda.so.1")) })
}

// TestGPUProbe: where CUDA cannot use a new instance, as in a container without its files in
// /dev/nvidia-caps, the run stops before its first kernel, with one line and no instance left.
func TestGPUProbe(t *testing.T) {
	b := newFastBench(t)
	fakeCUDA(t, b)
	args := append(slices.Clone(profileArgs), "--only", "stops", "--repetitions", "1")
	env := b.env
	for name, c := range map[string]struct{ env, says string }{
		"no device files":        {"FAKE_CUDA_INIT=100", "no CUDA-capable device"},
		"another device is used": {"FAKE_CUDA_UUID=MIG-00000000-1111-2222-3333-444444444444", "CUDA used the device 00000000-1111-2222-3333-444444444444"},
	} {
		b.env = append(slices.Clone(env), c.env)
		code, _, stderr := b.run(args...)
		if code == 0 || !strings.Contains(stderr, c.says) || !strings.Contains(stderr, "/dev/nvidia-caps") || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q; want one line with %q", name, code, stderr, c.says)
		}
		if sizeOf(filepath.Join(b.dir, "profile", "runs.csv")) > 0 {
			t.Errorf("%s: there are runs", name)
		}
		b.nothingLeft()
		if left, err := filepath.Glob(filepath.Join(b.stateDir(), "*.journal")); err != nil || len(left) > 0 {
			t.Errorf("%s: journals %q, %v", name, left, err)
		}
	}
	b.env = env
	b.must(args...)
	if n := len(b.rows("profile/runs.csv")); n != 5 {
		t.Errorf("%d runs, want 5", n)
	}
	b.nothingLeft()
}
