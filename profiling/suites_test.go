//go:build linux

package profiling_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dataSHA256 is the hash of Rodinia's data in its README.
const dataSHA256 = "b90994d5208ec5a0a133dfb9ab7928a1e8a16741503a91d212884b9e4fce8cd8"

// nvcc is a compiler that only looks at its arguments. It refuses what CUDA 12 refuses, code without optimisation, and any
// number of architectures but one, and writes a file for -o.
const nvcc = `#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 12.8, V12.8.61"; exit; fi
n=0
for a in "$@" $NVCC_APPEND_FLAGS; do case $a in
*sm_13*|*sm_2?*|*sm_35*|*compute_20*) echo "nvcc fatal: Unsupported gpu architecture" >&2; exit 1;;
-G) echo "unoptimised device code" >&2; exit 1;;
-arch=*) n=$((n + 1));; esac; done
[ $n = 1 ] || { echo "$n architectures: $*" >&2; exit 1; }
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then echo built >"$2"; fi; shift; done
`

// gcc14 makes errors of what GCC does since version 14.
const gcc14 = `#!/bin/sh
exec %s -Werror=implicit-int -Werror=implicit-function-declaration -Werror=int-conversion -Werror=incompatible-pointer-types "$@"
`

// script returns what the build script of a suite prints, and its exit status.
func script(t *testing.T, suite, path string, args ...string) (stdout, stderr string, ok bool) {
	t.Helper()
	for _, tool := range []string{"bash", "make", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	c := exec.Command("bash", append([]string{filepath.Join("suites", suite, "build.sh")}, args...)...)
	c.Env = append(os.Environ(), "PATH="+path+string(os.PathListSeparator)+os.Getenv("PATH"))
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	return out.String(), errs.String(), err == nil
}

// files writes files below a folder.
func files(t *testing.T, dir string, all map[string]string) {
	t.Helper()
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

// snapshot returns the content of every file below a folder, except logs.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".log") {
			return err
		}
		text, err := os.ReadFile(path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rodinia writes sources like Rodinia's, with their faults, and returns them and the folder of nvcc.
func rodinia(t *testing.T) (sources, path string) {
	t.Helper()
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip(err)
	}
	sources, path = t.TempDir(), filepath.Join(t.TempDir(), "bin")
	files(t, path, map[string]string{"nvcc": nvcc, "gcc": fmt.Sprintf(gcc14, gcc)})
	files(t, sources, map[string]string{
		"data/.sha256":                 dataSHA256 + "\n",
		"cuda/lavaMD/makefile":         "CUDA_FLAG = -arch sm_13\nlavaMD: main.cu\n\tnvcc main.cu -o lavaMD -lcuda -lcudart $(CUDA_FLAG)\n",
		"cuda/lavaMD/main.cu":          "cudaThreadSynchronize();\n",
		"cuda/cfd/Makefile":            "all: euler3d other\neuler3d: euler3d.cu\n\tnvcc --gpu-architecture=compute_20 --gpu-code=compute_20 euler3d.cu -o euler3d\nother:\n\tfalse\n",
		"cuda/cfd/euler3d.cu":          "",
		"cuda/srad/srad_v1/makefile":   "srad: main.cu\n\tnvcc main.cu -O3 -arch sm_35 -o srad\n",
		"cuda/srad/srad_v1/main.cu":    "",
		"cuda/kmeans/Makefile":         "kmeans:\n\tnvcc -o kmeans\n",
		"cuda/hotspot3D/Makefile":      "include ~/rodinia_3.0/common/make.config\nFLAGS = -g -G\nrelease:\n\tnvcc $(FLAGS) 3D.cu -o 3D\n",
		"cuda/hotspot3D/3D.cu":         "",
		"cuda/heartwall/Makefile":      "heartwall:\n\tnvcc -o heartwall.$(OUTPUT)\n",
		"cuda/hybridsort/Makefile":     "hybridsort:\n\tnvcc -o hybridsort.$(VERIFY)\n",
		"cuda/backprop/Makefile":       "CC = gcc\nbackprop: backprop.o\n\tcp backprop.o backprop\nbackprop.o: backprop.c\n\t$(CC) backprop.c -c\n",
		"cuda/backprop/backprop.c":     "layers = 2;\nrun() { load(&layers); }\n",
		"cuda/b+tree/Makefile":         "C_C = gcc\nb+tree.out: main.c\n\t$(C_C) main.c -c -o b+tree.out\n",
		"cuda/b+tree/main.c":           "#include <stdio.h>\nmain() { fputs(\"\", \"\"); }\n",
		"common/make.config":           "",
		"cuda/kmeans/kmeans_cuda.cu":   "texture<float, 1, cudaReadModeElementType> t;\ncudaSetDevice(1);\n",
		"samples/Common/helper_cuda.h": "",
	})
	return sources, path
}

func rodiniaArgs(sources string, more ...string) []string {
	return append([]string{"--sources", sources, "--samples", sources + "/samples", "--arch", "sm_90", "--only", "lavaMD cfd srad/srad_v1 kmeans hotspot3D heartwall hybridsort backprop b+tree"}, more...)
}

func TestRodinia(t *testing.T) {
	sources, path := rodinia(t)
	before := snapshot(t, sources)
	dry, stderr, ok := script(t, "rodinia", path, rodiniaArgs(sources, "--dry-run")...)
	if !ok || stderr != "" || !maps.Equal(before, snapshot(t, sources)) {
		t.Fatalf("a dry run changes files or fails: %s%s", dry, stderr)
	}
	for _, want := range []string{"srad_v1/makefile", "make -C " + sources + "/cuda/cfd", " euler3d -B\n", " OUTPUT=1 ", " VERIFY=1 "} {
		if !strings.Contains(dry, want) {
			t.Errorf("the dry run does not say %s:\n%s", want, dry)
		}
	}
	stdout, stderr, ok := script(t, "rodinia", path, rodiniaArgs(sources)...)
	if !ok || stderr != "" {
		t.Fatalf("%s%s", stdout, stderr)
	}
	built := snapshot(t, sources)
	for _, program := range []string{"lavaMD/lavaMD", "cfd/euler3d", "srad/srad_v1/srad", "hotspot3D/3D", "heartwall/heartwall.1", "hybridsort/hybridsort.1"} {
		if built[filepath.Join(sources, "cuda", program)] != "built\n" {
			t.Errorf("%s was not built", program)
		}
	}
	if built[sources+"/cuda/backprop/backprop"] == "" || built[sources+"/cuda/b+tree/b+tree.out"] == "" {
		t.Errorf("C of before 1999 was not built:\n%s", stdout)
	}
	if built[sources+"/cuda/kmeans/kmeans"] != "" || !strings.Contains(stdout, "which these need: kmeans; build them in the container") {
		t.Errorf("kmeans has texture references, and CUDA 12 has not:\n%s", stdout)
	}
	if got := built[sources+"/cuda/lavaMD/main.cu"] + built[sources+"/cuda/kmeans/kmeans_cuda.cu"]; strings.Contains(got, "Thread") || strings.Contains(got, "(1)") {
		t.Errorf("not fixed:\n%s", got)
	}
	if got := built[sources+"/cuda/lavaMD/makefile"]; !strings.Contains(got, "-lcudart_static -ldl") {
		t.Errorf("the runtime is not linked statically:\n%s", got)
	}
	if stdout, stderr, ok := script(t, "rodinia", path, rodiniaArgs(sources)...); !ok || !maps.Equal(built, snapshot(t, sources)) {
		t.Errorf("a second run changes something: %s%s", stdout, stderr)
	}
}

// Each fix of the sources is made where it is needed, and says so in a dry run.
func TestRodiniaFixes(t *testing.T) {
	fixes := []struct{ file, before, after string }{
		{"lavaMD/makefile", "A=-arch sm_13 -arch=sm_13", "A= "},
		{"lud/cuda/Makefile", "nvcc -arch=compute_20 x.cu", "nvcc  x.cu"},
		{"cfd/Makefile", "A=--gpu-architecture=compute_20 --gpu-code=sm_20", "A="},
		{"huffman/Makefile", "NVCC_OPTS=-O3 -arch=sm_35 -Xcompiler -m64 -g -G", "NVCC_OPTS=-O3 "},
		{"hotspot3D/Makefile", "include ~/rodinia_3.0/common/make.config", "include ../../common/make.config"},
		{"gaussian/gaussian.cu", "deviceProp.clockRate, deviceProp. deviceOverlap?1:2, deviceProp.name", "0, 0?1:2, deviceProp.name"},
		{"hybridsort/bucketsort.cu", "#include <GL/glew.h>\n#include <cuda_gl_interop.h>\nint a;", "int a;"},
		{"pathfinder/pathfinder.cu", "    cudaMemcpy(result, gpuResult[final_ret], 4);", "    cudaMemcpy(result, gpuResult[final_ret], 4);\n" +
			`{ unsigned sum = 0; for (int i = 0; i < cols; i++) sum = 31 * sum + result[i]; printf("result: %u\n", sum); }`},
		{"bfs/Makefile", "-lcudart -lm -lcudart", "-lcudart_static -ldl -lrt -lpthread -lm -lcudart_static -ldl -lrt -lpthread"},
		{"nw/needle.cu", "cudaThreadSynchronize();", "cudaDeviceSynchronize();"},
		{"nn/nn.h", "cudaThreadExit();", "cudaDeviceReset();"},
		{"kmeans/kmeans_cuda.cu", `cudaSetDevice(1); cudaMemcpyToSymbol("c_clusters",clusters[0]);`, "cudaSetDevice(0); cudaMemcpyToSymbol(c_clusters,clusters[0]);"},
	}
	path, sources := filepath.Join(t.TempDir(), "bin"), t.TempDir()
	files(t, path, map[string]string{"nvcc": nvcc})
	tree := map[string]string{"data/.sha256": dataSHA256 + "\n", "cuda/pathfinder/Makefile": "all:\n\ttrue\n"}
	for _, f := range fixes {
		tree["cuda/"+f.file] = f.before + "\n"
	}
	files(t, sources, tree)
	args := []string{"--sources", sources, "--arch", "sm_90", "--only", "pathfinder"}
	dry, stderr, ok := script(t, "rodinia", path, append(args, "--dry-run")...)
	if !ok {
		t.Fatal(stderr)
	}
	if stdout, stderr, ok := script(t, "rodinia", path, args...); !ok {
		t.Fatalf("%s%s", stdout, stderr)
	}
	after := snapshot(t, sources)
	for _, f := range fixes {
		file := filepath.Join(sources, "cuda", f.file)
		if after[file] != f.after+"\n" {
			t.Errorf("%s: %q has become %q, want %q", f.file, f.before, after[file], f.after)
		}
		if !strings.Contains(dry, " "+file+"\n") {
			t.Errorf("the dry run does not say that it changes %s:\n%s", f.file, dry)
		}
	}
}

func TestRodiniaFails(t *testing.T) {
	for name, c := range map[string]struct {
		change map[string]string
		args   []string
		says   string
	}{
		"data":    {map[string]string{"data/.sha256": "", "rodinia-3.1-data.tar.gz": "cut off"}, nil, "rodinia-3.1-data.tar.gz has the SHA-256 "},
		"program": {map[string]string{"cuda/cfd/Makefile": "euler3d:\n\tfalse\n"}, nil, "not built: cfd; see "},
		"folder":  {nil, []string{"--only", "cdf"}, "/cuda/cdf is missing; --sources has to be gpu-rodinia"},
		"arch":    {nil, []string{"--arch", "9.0"}, "--arch 9.0: write it as in sm_90"},
		"flag":    {nil, []string{"--source"}, "unknown argument --source"},
	} {
		sources, path := rodinia(t)
		files(t, sources, c.change)
		stdout, stderr, ok := script(t, "rodinia", path, rodiniaArgs(sources, c.args...)...)
		if ok || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "rodinia/build.sh: ") || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: %v, %q, want one line with %q\n%s", name, ok, stderr, c.says, stdout)
		}
	}
	_, path := rodinia(t)
	if _, stderr, ok := script(t, "rodinia", path); ok || stderr != "rodinia/build.sh: give the folder of the sources with --sources DIR\n" {
		t.Errorf("without sources: %v, %q", ok, stderr)
	}
}

// The data may be anywhere in their archive. What is missing is said.
func TestRodiniaData(t *testing.T) {
	const folders = "b+tree bfs cfd dwt2d heartwall hotspot hotspot3D huffman kmeans myocyte nn srad"
	for name, c := range map[string]struct{ top, has, says string }{
		"deep":    {"a/b/c/data", folders, ""},
		"top":     {".", folders, ""},
		"lacking": {"a/data", strings.Replace(folders, "kmeans myocyte ", "", 1), "has no folders kmeans myocyte beside a/data/; copy these into "},
		"none":    {"a", "x y", "has none of the folders b+tree bfs"},
	} {
		sources, path := rodinia(t)
		pack := t.TempDir()
		for folder := range strings.FieldsSeq(c.has) {
			files(t, pack, map[string]string{filepath.Join(c.top, folder, "file"): folder})
		}
		archive := filepath.Join(t.TempDir(), "data.tar.gz")
		if out, err := exec.Command("tar", "-czf", archive, "-C", pack, ".").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		files(t, path, map[string]string{"sha256sum": "#!/bin/sh\necho " + dataSHA256 + " $1\n"})
		files(t, sources, map[string]string{"data/.sha256": ""})
		stdout, stderr, ok := script(t, "rodinia", path, rodiniaArgs(sources, "--only", "lavaMD", "--data", archive)...)
		if ok != (c.says == "") || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: %v, %s\n%s", name, ok, stderr, stdout)
		}
		for folder := range strings.FieldsSeq(folders) {
			if text, err := os.ReadFile(filepath.Join(sources, "data", folder, "file")); ok && string(text) != folder {
				t.Errorf("%s: %s: %q, %v", name, folder, text, err)
			}
		}
	}
}

// What the container of the Dockerfile builds, it can build: the programs bring the headers that they include.
func TestRodiniaContainer(t *testing.T) {
	raw, err := os.ReadFile(filepath.FromSlash("suites/rodinia/Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), `--only "`)
	only, _, _ := strings.Cut(rest, `"`)
	sources, path := rodinia(t)
	files(t, sources, map[string]string{"cuda/hybridsort/helper_cuda.h": "", "cuda/hybridsort/main.cu": "#include \"helper_cuda.h\"\n", "cuda/cfd/euler3d.cu": "#include <helper_cuda.h>\n"})
	for want, programs := range map[bool]string{false: only, true: only + " cfd"} {
		stdout, stderr, ok := script(t, "rodinia", path, "--sources", sources, "--arch", "sm_80", "--only", programs, "--dry-run")
		if !ok || programs == "" || strings.Contains(stdout, "cuda-samples") != want {
			t.Errorf("%q: %s%s", programs, stdout, stderr)
		}
	}
}

// git runs git in a folder, and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// A checkout must be at the commit of the script.
func TestCommitIsVerified(t *testing.T) {
	for _, suite := range []string{"rodinia", "altis"} {
		sources, path := rodinia(t)
		files(t, path, map[string]string{"cmake": "#!/bin/sh\n", "nvidia-smi": "#!/bin/sh\necho 9.0\n"})
		files(t, sources, map[string]string{"src/cuda/level2/CMakeLists.txt": ""})
		args := []string{"--sources", sources, "--arch", "sm_90", "--dry-run"}
		if stdout, stderr, ok := script(t, suite, path, args...); !ok || !strings.Contains(stdout, "is not a git checkout; that it is commit "+pins[suite]+" is not verified") {
			t.Errorf("%s without git: %s%s", suite, stdout, stderr)
		}
		git(t, sources, "init", "-q")
		if _, stderr, ok := script(t, suite, path, args...); ok || !strings.Contains(stderr, "git does not know the commit of "+sources) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s without a commit: %v, %q", suite, ok, stderr)
		}
		git(t, sources, "commit", "-q", "--allow-empty", "-m", "x")
		head := git(t, sources, "rev-parse", "HEAD")
		want := suite + "/build.sh: " + sources + " is at commit " + head + ", not at " + pins[suite] + "; run: git -C " + sources + " checkout " + pins[suite] + "\n"
		if _, stderr, ok := script(t, suite, path, args...); ok || stderr != want {
			t.Errorf("%s at another commit: %v, %q, want %q", suite, ok, stderr, want)
		}
		// The right one, as git would say it.
		files(t, path, map[string]string{"git": "#!/bin/sh\nif [ \"$3\" = rev-parse ]; then echo " + pins[suite] + "; fi\n"})
		if stdout, stderr, ok := script(t, suite, path, args...); !ok || !strings.Contains(stdout, sources+" is at commit "+pins[suite]+"\n") {
			t.Errorf("%s at its commit: %s%s", suite, stdout, stderr)
		}
	}
}

// pins are the commits that the scripts build, by suite.
var pins = map[string]string{"rodinia": "9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4", "altis": "042e2926d1fe9a5ea5b3e2d659b75bf925b152cc"}

// Script, README and manifest name the same commit of the same repository.
func TestCommitsAgree(t *testing.T) {
	for suite, repository := range map[string]string{"rodinia": "yuhc/gpu-rodinia", "altis": "utcs-scea/altis"} {
		for file, want := range map[string]string{
			"suites/" + suite + "/build.sh": "\ncommit=" + pins[suite] + "\nurl=https://github.com/" + repository + "\n",
			"README.md":                     pins[suite][:7] + " of `github.com/" + repository + "`",
			"launch/" + suite + ".yaml":     "commit " + pins[suite][:7] + " of " + repository,
		} {
			raw, err := os.ReadFile(filepath.FromSlash(file))
			if err != nil {
				t.Fatal(err)
			}
			text := string(raw)
			if strings.HasSuffix(file, ".yaml") { // the lines of a comment
				text = strings.ReplaceAll(text, "\n# ", " ")
			} else if file == "README.md" {
				text = strings.ReplaceAll(text, "\n", " ")
			}
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", file, want)
			}
		}
	}
}

func TestAltis(t *testing.T) {
	path, sources := filepath.Join(t.TempDir(), "bin"), t.TempDir()
	// cmake writes what it was asked for.
	files(t, path, map[string]string{
		"nvcc": nvcc, "nvidia-smi": "#!/bin/sh\necho 9.0\n",
		"cmake": "#!/bin/sh\nif [ \"$1\" = --build ]; then echo \"$@\" >\"$2/built\"; else mkdir -p \"$4\"; echo \"$@\" >\"$4/configured\"; fi\n",
	})
	files(t, sources, map[string]string{
		"CMakeLists.txt":                              "set(CMAKE_CXX_STANDARD 11)\n",
		"src/cuda/common/main.cu":                     "cout << deviceProp.clockRate << endl;\n",
		"src/cuda/common/cuda_device_attr.h":          "#define CUDA_DEVICE_NAME    \"GeForce GTX 1080\"\n",
		"src/cuda/level2/fdtd2d/fdtd2d.cu":            "cudaThreadSynchronize();\n",
		"src/cuda/level2/CMakeLists.txt":              "add_subdirectory(where)\nadd_subdirectory(yolo)\n",
		"config/cuda_device_attr_gen/deviceQuery.cpp": "printf(\"%f\", deviceProp.memoryClockRate * 1e-3f);\n",
		"config/cuda_device_attr_gen/Makefile":        "all:\n\t[ $(SMS) = 90 ] && [ -x $(CUDA_PATH)/bin/nvcc ]\n\tprintf '#!/bin/sh\\n: >$$1/cuda_device_attr.h\\nnvidia-smi >/dev/null || exit 1\\necho facts >$$1/cuda_device_attr.h\\n' >deviceQuery\n\tchmod +x deviceQuery\n",
	})
	before := snapshot(t, sources)
	if stdout, stderr, ok := script(t, "altis", path, "--sources", sources, "--dry-run"); !ok || !maps.Equal(before, snapshot(t, sources)) || !strings.Contains(stdout, "-DCMAKE_CUDA_ARCHITECTURES=90") {
		t.Fatalf("dry run: %s%s", stdout, stderr)
	}
	stdout, stderr, ok := script(t, "altis", path, "--sources", sources)
	if !ok || stderr != "" {
		t.Fatalf("%s%s", stdout, stderr)
	}
	after := snapshot(t, sources)
	for file, want := range map[string]string{
		"src/cuda/common/main.cu":                     "cout << 0 << endl;\n",
		"config/cuda_device_attr_gen/deviceQuery.cpp": "printf(\"%f\", 0 * 1e-3f);\n",
		"src/cuda/level2/CMakeLists.txt":              "add_subdirectory(where)\n",
		"src/cuda/common/cuda_device_attr.h":          "facts\n",
		"src/cuda/level2/fdtd2d/fdtd2d.cu":            "cudaDeviceSynchronize();\n",
	} {
		if got := after[filepath.Join(sources, file)]; got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if !strings.Contains(after[sources+"/build/built"], "--target bfs gemm") || !strings.Contains(after[sources+"/build/configured"], "ARCHITECTURES=90 -DCMAKE_CUDA_FLAGS=-include=") {
		t.Errorf("cmake got %s%s", after[sources+"/build/configured"], after[sources+"/build/built"])
	}
	if _, stderr, ok := script(t, "altis", path, "--sources", sources); !ok || !maps.Equal(after, snapshot(t, sources)) {
		t.Errorf("a second run changes something: %s", stderr)
	}
	// Without a GPU, those that were made before are taken, and no others.
	files(t, path, map[string]string{"nvidia-smi": "#!/bin/sh\nexit 9\n"})
	if _, stderr, ok := script(t, "altis", path, "--sources", sources, "--arch", "sm_90"); !ok {
		t.Errorf("without a GPU, with its facts: %s", stderr)
	}
	files(t, sources, map[string]string{"src/cuda/common/cuda_device_attr.h": before[sources+"/src/cuda/common/cuda_device_attr.h"]})
	if _, stderr, ok := script(t, "altis", path, "--sources", sources, "--arch", "sm_90"); ok || !strings.Contains(stderr, "there is no GPU to make ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("without a GPU: %v %q", ok, stderr)
	}
}

// Altis's calls compile against the signatures of CUDA 12 and of CUDA 13.
func TestAltisOnCUDA13(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	files(t, dir, map[string]string{"cuda_runtime_api.h": `
#include <stddef.h>
enum cudaError_t { cudaSuccess }; enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost };
struct cudaMemLocation { cudaMemLocationType type; int id; }; struct cudaGraphEdgeData;
typedef struct S *cudaStream_t; typedef struct G *cudaGraph_t; typedef struct N *cudaGraphNode_t; typedef struct E *cudaGraphExec_t;
#define cudaCpuDeviceId (-1)
#if CUDART_VERSION >= 13000
extern "C" cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t = 0);
extern "C" cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation);
extern "C" cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, const cudaGraphEdgeData *, size_t);
#else
extern "C" cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t = 0);
extern "C" cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int);
extern "C" cudaError_t cudaGraphAddDependencies(cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, size_t);
#endif
#ifdef OLD_INSTANTIATE
static inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, cudaGraphNode_t *, char *, size_t) { return cudaSuccess; }
#endif
extern "C" cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, unsigned long long = 0);
`, "calls.cc": `
void calls(double *p, void *v, int device, cudaStream_t s, cudaGraph_t graph, cudaGraphNode_t a, cudaGraphNode_t b) {
  cudaMemPrefetchAsync(p, 8, device); cudaMemPrefetchAsync(v, 8, cudaCpuDeviceId, (cudaStream_t)1); cudaMemPrefetchAsync(p, 8, device, s);
  cudaMemAdvise(p, 8, cudaMemAdviseSetReadMostly, device); cudaMemAdvise(v, 8, cudaMemAdviseSetReadMostly, cudaCpuDeviceId);
  cudaGraphExec_t e;
  cudaGraphAddDependencies(graph, &a, &b, 1); cudaGraphInstantiate(&e, graph, NULL, NULL, 0);
}
`})
	header, err := filepath.Abs("suites/altis/cuda13.h")
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{{"-DCUDART_VERSION=12080", "-DOLD_INSTANTIATE"}, {"-DCUDART_VERSION=13000", "-DOLD_INSTANTIATE"}, {"-DCUDART_VERSION=13000"}} {
		args := append(flags, "-std=c++17", "-fsyntax-only", "-I", dir, "-include", header, filepath.Join(dir, "calls.cc"))
		if out, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
			t.Errorf("%q: %v\n%s", flags, err, out)
		}
	}
}
