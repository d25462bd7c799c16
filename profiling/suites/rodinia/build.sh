#!/bin/bash
# Builds the CUDA programs of Rodinia 3.1 that the manifest rodinia names, for GPUs and toolkits of today.
#
#   build.sh --sources DIR [--data ARCHIVE] [--samples DIR] [--arch sm_90] [--only "bfs nw"] [--dry-run]
#
#   --sources   a checkout of gpu-rodinia; it is cloned if there is none. The fixes are made in it
#   --data      rodinia-3.1-data.tar.gz; it is downloaded if it is missing (396 MB)
#   --samples   a checkout of NVIDIA/cuda-samples, for programs that need its headers (cfd); it is cloned if there is none
#   --arch      default: that of the GPU, or sm_80
#   --only      programs, by their folders under cuda/; default: all 22
#   --dry-run   print the steps and change nothing
#
# A second run does only what is missing, and all for another --arch or toolkit. Programs with texture references, which CUDA 12 removed, are built in the
# container beside this file: see Dockerfile.
set -euo pipefail

commit=9c10d3ea16ddba2ba057cc3951a9efc4c2cc18a4
url=https://github.com/yuhc/gpu-rodinia
data_url='https://www.dropbox.com/s/cc6cozpboht3mtu/rodinia-3.1-data.tar.gz?dl=1'
data_sha256=b90994d5208ec5a0a133dfb9ab7928a1e8a16741503a91d212884b9e4fce8cd8 # from Rodinia's README
samples_url=https://github.com/NVIDIA/cuda-samples
samples_tag=v12.5
folders="b+tree bfs cfd dwt2d heartwall hotspot hotspot3D huffman kmeans myocyte nn srad" # of the data
programs="backprop bfs cfd gaussian heartwall hotspot lavaMD lud/cuda myocyte nn nw particlefilter pathfinder srad/srad_v1
srad/srad_v2 streamcluster huffman dwt2d hotspot3D kmeans b+tree hybridsort"

fail() { echo "rodinia/build.sh: $*" >&2; exit 1; }
run() { # a step
	echo "+ $*"
	[ -n "$dry" ] || "$@"
}
logged() { # a step whose output goes to a file
	local log=$1
	shift
	run "$@" >>"$log" 2>&1
}

sources='' data='' samples='' arch='' dry=''
while [ $# -gt 0 ]; do
	case $1 in
	--dry-run) dry=1; shift; continue ;;
	--sources | --data | --samples | --arch | --only) [ $# -gt 1 ] || fail "$1 needs a value" ;;
	*) fail "unknown argument $1; see the head of this file" ;;
	esac
	case $1 in
	--sources) sources=$2 ;;
	--data) data=$2 ;;
	--samples) samples=$2 ;;
	--arch) arch=$2 ;;
	--only) programs=$2 ;;
	esac
	shift 2
done
[ -n "$sources" ] || fail "give the folder of the sources with --sources DIR"
data=${data:-$sources/rodinia-3.1-data.tar.gz}
samples=${samples:-$sources/cuda-samples}
if [ -z "$arch" ]; then
	capability=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1) || true
	arch=sm_${capability/./}
	[ "$arch" != sm_ ] || arch=sm_80
fi
[[ $arch =~ ^sm_[0-9]+[a-z]?$ ]] || fail "--arch $arch: write it as in sm_90"

# The toolkit.
release=''
if command -v nvcc >/dev/null; then
	release=$(nvcc --version | sed -n 's/.*release \([0-9]*\).*/\1/p')
	cuda=$(dirname "$(dirname "$(readlink -f "$(command -v nvcc)")")")
elif [ -n "$dry" ]; then
	cuda=/usr/local/cuda
else
	fail "nvcc is not in PATH; install the CUDA toolkit, or use the container (Dockerfile)"
fi

# The sources.
if [ ! -d "$sources/cuda" ]; then
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

# The data. The mark is written when all of it is unpacked.
mark=$sources/data/.sha256
if [ "$(cat "$mark" 2>/dev/null)" != "$data_sha256" ]; then
	[ -e "$data" ] || run curl -fL --retry 3 -o "$data" "$data_url" || fail "cannot download $data_url; fetch it elsewhere and give the file with --data"
	echo "+ sha256sum $data # $data_sha256"
	if [ -z "$dry" ]; then
		sum=$(sha256sum "$data" | cut -d ' ' -f 1)
		[ "$sum" = "$data_sha256" ] || fail "$data has the SHA-256 $sum, not $data_sha256; delete it and start again"
	fi
	part=$sources/data.part
	run rm -rf "$part"
	run mkdir -p "$part" "$sources/data"
	run tar -xzf "$data" -C "$part"
	if [ -z "$dry" ]; then
		# The folder that holds most of the programs' folders, wherever it is in the archive.
		found='' absent=$folders
		while IFS= read -r -d '' folder; do
			lacks=''
			for name in $folders; do [ -d "$folder/$name" ] || lacks+=" $name"; done
			[ ${#lacks} -ge ${#absent} ] || found=$folder absent=$lacks
		done < <(find "$part" -type d -print0)
		[ -n "$found" ] || fail "$data has none of the folders $folders; at its top are: $(find "$part" -mindepth 1 -maxdepth 1 -printf '%f ')"
		[ -z "$absent" ] || fail "$data has no folders$absent beside ${found#"$part"/}/; copy these into $sources/data and write $data_sha256 into $mark"
		cp -R "$found/." "$sources/data/"
		echo "$data_sha256" >"$mark"
	fi
	run rm -rf "$part"
fi

# The fixes. They can be made twice.
#  - architectures: toolkits no longer know those of ten Makefiles, and thirteen name none, so that each start would compile
#    again. nvcc gets --arch from NVCC_APPEND_FLAGS below
#  - -g -G, which is device code without optimisation (hotspot3D, huffman); -m64, which Arm has not; a path of an author
#  - the CUDA runtime is linked statically, so that programs of the container run outside of it
#  - functions that were renamed; fields of cudaDeviceProp that CUDA 13 removed and programs only print; cudaSetDevice(1),
#    where one device is visible; a symbol by its name, which CUDA 5 removed (kmeans); headers of OpenGL that nothing uses
#  - pathfinder prints a checksum of its result
if [ -d "$sources/cuda" ]; then
	find "$sources/cuda" -iname makefile -print0 | sort -z | while IFS= read -r -d '' file; do
		run sed -i -E -e 's/-arch[ =](sm|compute)_[0-9]+[a-z]?//g' \
			-e 's/--gpu-architecture=compute_[0-9]+ +--gpu-code=(sm|compute)_[0-9]+//g' \
			-e 's/ -g -G( |$)/\1/g' -e 's/ -Xcompiler -m64//g' -e 's|~/rodinia_3.0/common/|../../common/|' \
			-e 's/-lcudart( |$)/-lcudart_static -ldl -lrt -lpthread\1/g' "$file"
	done
	find "$sources/cuda" \( -name '*.cu' -o -name '*.cuh' -o -name '*.c' -o -name '*.cpp' -o -name '*.h' \) -print0 |
		{ xargs -0 grep -lZE 'cudaThreadSynchronize|cudaThreadExit|[pP]rop\. *(clockRate|deviceOverlap|computeMode)|<(GL/|cuda_gl_)' || true; } |
		sort -z | while IFS= read -r -d '' file; do
		run sed -i -E -e 's/cudaThreadSynchronize/cudaDeviceSynchronize/g' -e 's/cudaThreadExit/cudaDeviceReset/g' \
			-e 's/[A-Za-z_]*[pP]rop\. *(clockRate|deviceOverlap|computeMode)\b/0/g' \
			-e '/#include *<(GL\/|cuda_gl_)/d' "$file"
	done
	file=$sources/cuda/kmeans/kmeans_cuda.cu
	[ ! -e "$file" ] || run sed -i -e 's/cudaSetDevice(1)/cudaSetDevice(0)/' -e 's/cudaMemcpyToSymbol("c_clusters"/cudaMemcpyToSymbol(c_clusters/' "$file"
	file=$sources/cuda/pathfinder/pathfinder.cu
	[ ! -e "$file" ] || grep -q '"result: ' "$file" ||
		run sed -i '/cudaMemcpy(result, gpuResult/a { unsigned sum = 0; for (int i = 0; i < cols; i++) sum = 31 * sum + result[i]; printf("result: %u\\n", sum); }' "$file"
else
	echo "+ sed ... # in all Makefiles, and renamed functions"
fi
needs_samples() { # PROGRAM includes their headers and does not bring them
	local folder=$sources/cuda/$1
	if [ ! -d "$folder" ]; then [ "$1" = cfd ]; else [ ! -e "$folder/helper_cuda.h" ] && grep -rqE '#include *[<"]helper_' "$folder"; fi
}
for program in $programs; do
	[ ! -d "$samples" ] && needs_samples "$program" || continue
	run git clone -q --depth 1 --branch "$samples_tag" "$samples_url" "$samples" || fail "cannot clone $samples_url, whose headers $program needs; give a checkout with --samples, or leave out $program with --only"
done

# The programs.
export PATH=$cuda/bin:$PATH
export LIBRARY_PATH=$cuda/lib64:$cuda/lib64/stubs${LIBRARY_PATH:+:$LIBRARY_PATH}
export CPATH=$cuda/include:$samples/Common${CPATH:+:$CPATH}
export NVCC_APPEND_FLAGS="-arch=$arch"
# What GCC 14 made errors, in C of before 1999.
old_c='gcc -Wno-error=implicit-int -Wno-error=implicit-function-declaration -Wno-error=int-conversion -Wno-error=incompatible-pointer-types'
missing='' texture=''
for program in $programs; do
	folder=$sources/cuda/$program
	[ -n "$dry" ] || [ -d "$folder" ] || fail "$folder is missing; --sources has to be gpu-rodinia"
	if [ "${release:-0}" -ge 12 ] && [ -d "$folder" ] &&
		grep -rqE '^[[:space:]]*(extern |static )*texture[[:space:]]*<' --include='*.cu' --include='*.cuh' --include='*.h' "$folder"; then
		texture+=" $program"
		continue
	fi
	options=("CUDA_DIR=$cuda")
	case $program in
	cfd) options+=(euler3d) ;;
	backprop | kmeans) options+=("CC=$old_c") ;;
	lavaMD | b+tree) options+=("C_C=$old_c") ;;
	heartwall) options+=(OUTPUT=1) ;; # writes result.txt
	hybridsort) options+=(VERIFY=1) ;;
	esac
	mark=$folder/.miglab-built
	[ "$(cat "$mark" 2>/dev/null)" = "$arch $cuda" ] || options+=(-B)
	log=$sources/build-${program//\//-}.log
	[ -n "$dry" ] || : >"$log"
	if [ -n "$dry" ]; then
		run make -C "$folder" "${options[@]}"
	elif logged "$log" make -C "$folder" "${options[@]}"; then
		echo "$arch $cuda" >"$mark"
	else
		missing+=" $program"
	fi
done
[ -z "$texture" ] || echo "CUDA $release has no texture references, which these need:$texture; build them in the container (Dockerfile)"
[ -z "$missing" ] || fail "not built:$missing; see $sources/build-*.log"
[ -n "$dry" ] || echo "built; now: miglab profile --check --kernels rodinia --set rodinia=$sources"
