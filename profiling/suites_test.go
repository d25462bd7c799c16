//go:build linux

package profiling_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// dataSHA256 is the hash of Rodinia's data in its README.
const dataSHA256 = "b90994d5208ec5a0a133dfb9ab7928a1e8a16741503a91d212884b9e4fce8cd8"

// nvcc is a compiler that only looks at its arguments. It refuses what CUDA 12 refuses, and writes a file for -o.
const nvcc = `#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 12.8, V12.8.61"; exit; fi
for a in "$@"; do case $a in *sm_13*|*sm_2?*|*sm_35*|*compute_20*) echo "nvcc fatal: Unsupported gpu architecture" >&2; exit 1;; esac; done
while [ $# -gt 0 ]; do if [ "$1" = -o ]; then echo built >"$2"; fi; shift; done
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
	sources, path = t.TempDir(), filepath.Join(t.TempDir(), "bin")
	files(t, path, map[string]string{"nvcc": nvcc})
	files(t, sources, map[string]string{
		"data/.sha256":                 dataSHA256 + "\n",
		"cuda/lavaMD/makefile":         "CUDA_FLAG = -arch sm_13\nlavaMD: main.cu\n\tnvcc main.cu -o lavaMD -lcuda -lcudart $(CUDA_FLAG)\n",
		"cuda/lavaMD/main.cu":          "cudaThreadSynchronize();\n",
		"cuda/cfd/Makefile":            "all: euler3d other\neuler3d: euler3d.cu\n\tnvcc --gpu-architecture=compute_20 --gpu-code=compute_20 euler3d.cu -o euler3d\nother:\n\tfalse\n",
		"cuda/cfd/euler3d.cu":          "",
		"cuda/srad/srad_v1/makefile":   "srad: main.cu\n\tnvcc main.cu -O3 -arch sm_35 -o srad\n",
		"cuda/srad/srad_v1/main.cu":    "",
		"cuda/kmeans/Makefile":         "kmeans:\n\tnvcc -o kmeans\n",
		"cuda/kmeans/kmeans_cuda.cu":   "texture<float, 1, cudaReadModeElementType> t;\ncudaSetDevice(1);\n",
		"samples/Common/helper_cuda.h": "",
	})
	return sources, path
}

func rodiniaArgs(sources string, more ...string) []string {
	return append([]string{"--sources", sources, "--samples", sources + "/samples", "--arch", "sm_90", "--only", "lavaMD cfd srad/srad_v1 kmeans"}, more...)
}

func TestRodinia(t *testing.T) {
	sources, path := rodinia(t)
	before := snapshot(t, sources)
	dry, stderr, ok := script(t, "rodinia", path, rodiniaArgs(sources, "--dry-run")...)
	if !ok || stderr != "" || !maps.Equal(before, snapshot(t, sources)) {
		t.Fatalf("a dry run changes files or fails: %s%s", dry, stderr)
	}
	for _, want := range []string{"-arch=sm_90", "srad_v1/makefile", "make -C " + sources + "/cuda/cfd", "euler3d\n"} {
		if !strings.Contains(dry, want) {
			t.Errorf("the dry run does not say %s:\n%s", want, dry)
		}
	}
	stdout, stderr, ok := script(t, "rodinia", path, rodiniaArgs(sources)...)
	if !ok || stderr != "" {
		t.Fatalf("%s%s", stdout, stderr)
	}
	built := snapshot(t, sources)
	for _, program := range []string{"lavaMD/lavaMD", "cfd/euler3d", "srad/srad_v1/srad"} {
		if built[filepath.Join(sources, "cuda", program)] != "built\n" {
			t.Errorf("%s was not built", program)
		}
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
		{"lavaMD/makefile", "-arch sm_13 -arch=sm_13", "-arch=sm_90 -arch=sm_90"},
		{"lud/cuda/Makefile", "nvcc -arch=compute_20 x.cu", "nvcc -arch=sm_90 x.cu"},
		{"cfd/Makefile", "--gpu-architecture=compute_20 --gpu-code=sm_20", "-arch=sm_90"},
		{"bfs/Makefile", "-lcudart -lm -lcudart", "-lcudart_static -ldl -lrt -lpthread -lm -lcudart_static -ldl -lrt -lpthread"},
		{"nw/needle.cu", "cudaThreadSynchronize();", "cudaDeviceSynchronize();"},
		{"nn/nn.h", "cudaThreadExit();", "cudaDeviceReset();"},
		{"kmeans/kmeans_cuda.cu", "cudaSetDevice(1);", "cudaSetDevice(0);"},
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

// git runs git in a folder, and returns what it prints.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// A checkout must be at the commit of the script, of which the first digits are known. The whole hash is printed.
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
		files(t, path, map[string]string{"git": "#!/bin/sh\nif [ \"$3\" = rev-parse ]; then echo " + pins[suite] + "0123456789012345678901234567890aa; fi\n"})
		if stdout, stderr, ok := script(t, suite, path, args...); !ok || !strings.Contains(stdout, sources+" is at commit "+pins[suite]+"0123456789012345678901234567890aa\n") {
			t.Errorf("%s at its commit: %s%s", suite, stdout, stderr)
		}
	}
}

// pins are the commits that the scripts build, by suite.
var pins = map[string]string{"rodinia": "9c10d3e", "altis": "042e292"}

// Script, README and manifest name the same commit of the same repository.
func TestCommitsAgree(t *testing.T) {
	for suite, repository := range map[string]string{"rodinia": "yuhc/gpu-rodinia", "altis": "utcs-scea/altis"} {
		for file, want := range map[string]string{
			"suites/" + suite + "/build.sh": "\ncommit=" + pins[suite] + "\nurl=https://github.com/" + repository + "\n",
			"README.md":                     pins[suite] + " of `github.com/" + repository + "`",
			"kernel/" + suite + ".yaml":     "commit " + pins[suite] + " of " + repository,
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
		"src/cuda/level2/CMakeLists.txt":              "add_subdirectory(where)\nadd_subdirectory(yolo)\n",
		"config/cuda_device_attr_gen/deviceQuery.cpp": "printf(\"%f\", deviceProp.memoryClockRate * 1e-3f);\n",
		"config/cuda_device_attr_gen/Makefile":        "all:\n\tprintf '#!/bin/sh\\necho facts >$$1/cuda_device_attr.h\\n' >deviceQuery\n\tchmod +x deviceQuery\n",
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
	} {
		if got := after[filepath.Join(sources, file)]; got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	if !strings.Contains(after[sources+"/build/built"], "--target bfs gemm") || !strings.Contains(after[sources+"/build/configured"], "ARCHITECTURES=90") {
		t.Errorf("cmake got %s%s", after[sources+"/build/configured"], after[sources+"/build/built"])
	}
	if _, stderr, ok := script(t, "altis", path, "--sources", sources); !ok || !maps.Equal(after, snapshot(t, sources)) {
		t.Errorf("a second run changes something: %s", stderr)
	}
	// Without a GPU there are no facts of one.
	files(t, path, map[string]string{"nvidia-smi": "#!/bin/sh\nexit 9\n"})
	os.Remove(filepath.Join(sources, "src/cuda/common/cuda_device_attr.h"))
	if _, stderr, ok := script(t, "altis", path, "--sources", sources); ok || !strings.Contains(stderr, "there is no GPU to make it from") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("without a GPU: %v %q", ok, stderr)
	}
}
