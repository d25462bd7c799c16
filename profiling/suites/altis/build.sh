#!/bin/bash
# Builds the programs of Altis, levels 1 and 2, that the manifest altis names.
#
#   build.sh --sources DIR [--arch sm_90] [--dry-run]
#
#   --sources   a checkout of altis; it is cloned if there is none. The fixes are made in it
#   --arch      default: that of the GPU, or sm_80
#   --dry-run   print the steps and change nothing
#
# A second run does only what is missing. Altis compiles facts of the GPU, such as its number of multiprocessors, into its
# programs: build it on the machine that they run on.
set -euo pipefail

commit=042e292
url=https://github.com/utcs-scea/altis
targets="bfs gemm gups pathfinder sort cfd dwt2d fdtd2d kmeans lavamd mandelbrot nw particlefilter_naive particlefilter_float
raytracing srad where"

fail() { echo "altis/build.sh: $*" >&2; exit 1; }
run() { # a step
	echo "+ $*"
	[ -n "$dry" ] || "$@"
}
step() { # a step whose output goes to the log
	echo "+ $*"
	[ -n "$dry" ] || "$@" >>"$log" 2>&1
}

sources='' arch='' dry=''
while [ $# -gt 0 ]; do
	case $1 in
	--dry-run) dry=1; shift; continue ;;
	--sources | --arch) [ $# -gt 1 ] || fail "$1 needs a value" ;;
	*) fail "unknown argument $1; see the head of this file" ;;
	esac
	case $1 in
	--sources) sources=$2 ;;
	--arch) arch=$2 ;;
	esac
	shift 2
done
[ -n "$sources" ] || fail "give the folder of the sources with --sources DIR"
log=$sources/build.log
gpu=''
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) && gpu=1 || true
arch=${arch:-sm_${capability/./}}
[ "$arch" != sm_ ] || arch=sm_80
[[ $arch =~ ^sm_[0-9]+[a-z]?$ ]] || fail "--arch $arch: write it as in sm_90"
for tool in nvcc cmake make; do
	[ -n "$dry" ] || command -v "$tool" >/dev/null || fail "$tool is not in PATH; install the CUDA toolkit and CMake"
done

# The sources.
if [ ! -d "$sources/src/cuda" ]; then
	run git clone "$url" "$sources" || fail "cannot clone $url; clone it elsewhere and give the folder with --sources"
	run git -C "$sources" checkout -q "$commit" || fail "$sources has no commit $commit; delete the folder and start again"
fi
# Only the first digits of the commit are known.
if [ ! -e "$sources/.git" ]; then
	[ -n "$dry" ] && [ ! -d "$sources" ] || echo "$sources is not a git checkout; that it is commit $commit is not verified"
else
	head=$(git -C "$sources" rev-parse HEAD 2>&1) || fail "git does not know the commit of $sources: ${head//$'\n'/ }"
	[[ $head == "$commit"* ]] || fail "$sources is at commit $head, not at $commit; run: git -C $sources checkout $commit"
	echo "$sources is at commit $head"
fi
[ -n "$dry" ] || : >"$log"

# The fixes. They can be made twice.
#  - fields of cudaDeviceProp that CUDA 13 removed and Altis only prints
#  - yolo, which needs cuDNN and is not in the manifest
#  - C++ 17, which the libraries of CUDA 13 need
for file in src/cuda/common/main.cu config/cuda_device_attr_gen/deviceQuery.cpp; do
	run sed -i -E 's/deviceProp\.(clockRate|memoryClockRate|deviceOverlap|kernelExecTimeoutEnabled|computeMode|cooperativeMultiDeviceLaunch)\b/0/g' "$sources/$file" ||
		fail "$sources/$file is missing; --sources has to be altis at commit $commit"
done
run sed -i '/add_subdirectory(yolo)/d' "$sources/src/cuda/level2/CMakeLists.txt"
run sed -i -E 's/(CMAKE_CXX_STANDARD) 11/\1 17/' "$sources/CMakeLists.txt"

# The facts of the GPU.
header=$sources/src/cuda/common/cuda_device_attr.h
generator=$sources/config/cuda_device_attr_gen
if [ -n "$gpu$dry" ]; then
	step make -C "$generator" || fail "cannot build $generator; see $log"
	step "$generator/deviceQuery" "$sources/src/cuda/common/" 0 || fail "$generator/deviceQuery failed; see $log"
fi
[ -n "$dry" ] || [ -e "$header" ] || fail "$header is missing, and there is no GPU to make it from; build on the machine that the programs run on"

step cmake -S "$sources" -B "$sources/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES="${arch#sm_}" || fail "cmake failed; see $log"
# shellcheck disable=SC2086 # targets are words
step cmake --build "$sources/build" --parallel "$(nproc)" --target $targets || fail "not everything was built; see $log"
[ -n "$dry" ] || echo "built; now: miglab profile --check --kernels altis --set altis=$sources"
