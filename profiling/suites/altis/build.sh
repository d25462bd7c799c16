#!/bin/bash
# Builds the programs of Altis, levels 1 and 2, that the manifest altis names.
#
#   build.sh --sources DIR [--arch sm_90] [--dry-run]
#
#   --sources   a checkout of altis; it is cloned if there is none. The fixes are made in it
#   --arch      default: that of the GPU, or sm_80
#   --dry-run   print the steps and change nothing
#
# A second run does only what is missing. Altis compiles facts of the GPU, such as its shared memory, into its programs: build
# it on the machine that they run on. The checkout comes with the facts of a GeForce GTX 1080.
set -euo pipefail

commit=042e2926d1fe9a5ea5b3e2d659b75bf925b152cc
url=https://github.com/utcs-scea/altis
targets="bfs gemm gups pathfinder sort cfd dwt2d fdtd2d kmeans lavamd mandelbrot nw particlefilter_naive particlefilter_float
raytracing srad where"

here=$(cd "$(dirname "$0")" && pwd)

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
capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) || true
arch=${arch:-sm_${capability/./}}
[ "$arch" != sm_ ] || arch=sm_80
[[ $arch =~ ^sm_[0-9]+[a-z]?$ ]] || fail "--arch $arch: write it as in sm_90"
for tool in nvcc cmake make; do
	[ -n "$dry" ] || command -v "$tool" >/dev/null || fail "$tool is not in PATH; install the CUDA toolkit and CMake"
done

cuda=/usr/local/cuda
! command -v nvcc >/dev/null || cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")

# The sources.
if [ ! -d "$sources/src/cuda" ]; then
	run git clone "$url" "$sources" || fail "cannot clone $url; clone it elsewhere and give the folder with --sources"
	run git -C "$sources" checkout -q "$commit" || fail "$sources has no commit $commit; delete the folder and start again"
fi
if [ ! -e "$sources/.git" ]; then
	[ -n "$dry" ] && [ ! -d "$sources" ] || echo "$sources is not a git checkout; that it is commit $commit is not verified"
else
	head=$(git -C "$sources" rev-parse HEAD 2>&1) || fail "git does not know the commit of $sources: ${head//$'\n'/ }"
	[ "$head" = "$commit" ] || fail "$sources is at commit $head, not at $commit; run: git -C $sources checkout $commit"
	echo "$sources is at commit $head"
fi
[ -n "$dry" ] || : >"$log"

# The fixes. They can be made twice.
#  - fields of cudaDeviceProp that CUDA 13 removed and Altis only prints; calls that it changed: see cuda13.h
#  - yolo, which needs cuDNN and is not in the manifest
#  - C++ 17, which the libraries of CUDA 13 need
for file in src/cuda/common/main.cu config/cuda_device_attr_gen/deviceQuery.cpp; do
	run sed -i -E 's/deviceProp\.(clockRate|memoryClockRate|deviceOverlap|kernelExecTimeoutEnabled|computeMode|cooperativeMultiDeviceLaunch)\b/0/g' "$sources/$file" ||
		fail "$sources/$file is missing; --sources has to be altis at commit $commit"
done
run sed -i 's/cudaThreadSynchronize/cudaDeviceSynchronize/' "$sources/src/cuda/level2/fdtd2d/fdtd2d.cu"
run sed -i '/add_subdirectory(yolo)/d' "$sources/src/cuda/level2/CMakeLists.txt"
run sed -i -E 's/(CMAKE_CXX_STANDARD) 11/\1 17/' "$sources/CMakeLists.txt"

# The facts of the GPU. They are made elsewhere first, as a program that finds no GPU leaves an empty file.
header=$sources/src/cuda/common/cuda_device_attr.h
generator=$sources/config/cuda_device_attr_gen
mark=$sources/.miglab-facts # the facts that this script made
# Without SMS it looks for a GPU under /usr/local/cuda, and builds nothing, without an error, if it finds none.
step make -C "$generator" CUDA_PATH="$cuda" SMS="${arch#sm_}" || fail "cannot build $generator; see $log"
facts=$(mktemp -d)
trap 'rm -rf "$facts"' EXIT
if step "$generator/deviceQuery" "$facts" 0 && [ -z "$dry" ]; then
	cmp -s "$facts/cuda_device_attr.h" "$header" || cp "$facts/cuda_device_attr.h" "$header"
	cp "$header" "$mark"
fi
if [ -z "$dry" ]; then
	cmp -s "$mark" "$header" || fail "there is no GPU to make $header from, and the one there is of another; build on the machine that the programs run on"
	echo "built for: $(sed -n 's/^#define CUDA_DEVICE_NAME *//p' "$header")"
fi

step cmake -S "$sources" -B "$sources/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CUDA_ARCHITECTURES="${arch#sm_}" -DCMAKE_CUDA_FLAGS="-include=\"$here/cuda13.h\"" || fail "cmake failed; see $log"
# shellcheck disable=SC2086 # targets are words
step cmake --build "$sources/build" --parallel "$(nproc)" --target $targets || fail "not everything was built; see $log"
[ -n "$dry" ] || echo "built; now: miglab profile --check --kernels altis --set altis=$sources"
