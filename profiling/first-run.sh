#!/bin/bash
# Measures what miglab can measure on a GPU without MIG, in calls of at most 8 minutes.
#
#   profiling/first-run.sh [--out DIR] [--budget SECONDS] [--name NAME] [--dry-run]
#
# Call it again until nothing is left. Each card has a folder, DIR/UUID, and on it the script goes on where it was: from the
# folder or, on another machine, from DIR/UUID.tar.gz, which holds everything that was measured on the card. It changes no
# setting of the GPU: no MIG mode, no clocks, no power. On a machine with several GPUs, set CUDA_VISIBLE_DEVICES to the UUID
# of one. To a machine that has only a driver, copy bin/miglab-gpu (make build-gpu), this script and the folder kernels.
#
#   --out      DIR; default: results/first-run
#   --budget   how long the call may take; default: 480
#   --name     what the files in DIR/UUID/hardware are called; default: the GPU's model, as in h200-first-run
#   --dry-run  the same on stubs of the driver, with small inputs; needs Go, C and C++. Default --out: results/first-run-stub
#
# Stages and their time limits: (0) what each call repeats: an eighth of the call; (1) environment, device facts, verification: 3 minutes; (2) scaling: 6; (3) co-runs: 7;
# (4) cross-checks: 5. What a stage did not finish comes after the other stages, if the call has time for it. A step that
# fails is left, and the next call tries it again.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
self=profiling/first-run.sh

fail() { echo "first-run: $*" >&2; exit 2; }

# Steps of several commands. They run as processes of their own, which can be stopped.
part() {
	local status=0 command kernel ptx nvcc
	case $1 in
	environment)
		for command in "uname -a" nproc "free -m" "cat /etc/os-release" id "ls -l /dev" "nvidia-smi" "nvidia-smi -q" "nvcc --version"; do
			echo "\$ $command"
			# shellcheck disable=SC2086 # words
			timeout 30 $command 2>&1 </dev/null | head -n 500
		done ;;
	verify) # each kernel against its reference
		for kernel in $KERNELS; do
			echo "$kernel"
			"$MIGLAB" kernel "$kernel" --verify || status=1
		done ;;
	compare) # the times of the embedded PTX and of nvcc's code
		make -s -j"$(nproc)" -C profiling/kernels BIN="$OUT/nvcc" || return
		echo kernel,ptx_s,nvcc_s >"$OUT/ptx-and-nvcc.csv"
		for kernel in $KERNELS; do
			# shellcheck disable=SC2086 # words
			ptx=$("$MIGLAB" kernel "$kernel" $SMALL | sed -n 's/^time_s: //p') nvcc=$("$OUT/nvcc/$kernel" $SMALL | sed -n 's/^time_s: //p')
			[ -n "$ptx" ] && [ -n "$nvcc" ] || status=1
			echo "$kernel,$ptx,$nvcc" >>"$OUT/ptx-and-nvcc.csv"
		done ;;
	esac
	return $status
}
if [ "${1:-}" = --part ]; then
	set -m # a process group of its own, so that what the part started ends with it
	part "$2" &
	trap 'kill -TERM -- -$!; sleep 1; kill -KILL -- -$! 2>/dev/null; exit 130' INT TERM
	wait $!
	exit
fi

out='' budget=480 name='' dry=''
while [ $# -gt 0 ]; do
	case $1 in
	--dry-run) dry=1; shift; continue ;;
	--out | --budget | --name) [ $# -gt 1 ] || fail "$1 needs a value" ;;
	*) fail "unknown argument $1; see the head of this file" ;;
	esac
	case $1 in
	--out) out=$2 ;;
	--budget) budget=$2 ;;
	--name) name=$2 ;;
	esac
	shift 2
done
[[ $budget =~ ^[1-9][0-9]*$ ]] || fail "--budget $budget: write a number of seconds"
limits=($((budget / 8 > 10 ? budget / 8 : 10)) 180 360 420 300)
[[ $name =~ ^[A-Za-z0-9_-]*$ ]] || fail "--name $name: use letters, digits, - and _"

# Where containers have the driver and the toolkit, if nothing else says where they are.
export PATH=$PATH:/usr/local/nvidia/bin:/usr/local/cuda/bin LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}/usr/local/nvidia/lib64

# The program.
if [ -z "${MIGLAB:-}" ]; then
	MIGLAB=$PWD/bin/miglab-gpu
	[ -x "$MIGLAB" ] || [ ! -x bin/miglab ] || MIGLAB=$PWD/bin/miglab
fi
export MIGLAB
build() { # PROBLEM
	command -v go >/dev/null || fail "$1, and there is no Go to build it; run make build-gpu elsewhere and copy bin/miglab-gpu here"
	timeout -k 10 "$budget" make -s build-gpu GPUBIN="$MIGLAB" || fail "make build-gpu failed; it needs a C compiler"
}
[ -x "$MIGLAB" ] || build "$MIGLAB is missing"

# What a GPU measured does not mix with what a stub did.
root=${out:-results/first-run${dry:+-stub}}
mkdir -p "$root" || fail "cannot write to $root"
root=$(cd "$root" && pwd)
kind=$([ -n "$dry" ] && echo stub || echo GPU)
[ -e "$root/kind" ] || echo "$kind" >"$root/kind" || fail "cannot write to $root"
[ "$(cat "$root/kind")" = "$kind" ] || fail "$root has measurements of a $(cat "$root/kind"); give another --out"

start=$((budget < 60 ? budget : 60)) # how long a question to the program may take
# What the steps run. Without --only it is all kernels.
KERNELS=$(timeout -k 10 $start "$MIGLAB" kernel --help | sed -n 's/^Kernels:$/,/p; s/^  \([a-z]*\)  .*/\1/p' | sed -n '/,/,$ { /,/d; p }')
[ -n "$KERNELS" ] || fail "$MIGLAB kernel --help lists no kernels within $start s"
SMALL='' only=() options=() anchors=gemm,stream
if [ -n "$dry" ]; then
	stub=$root/stub uuid=5c89852c-d268-c3f3-1b07-005d5ae1dc3f
	mkdir -p "$stub"
	[ -e "$stub/libcuda.so.1" ] || g++ -x c++ -std=c++17 -O1 -shared -fPIC -o "$stub/libcuda.so.1" profiling/kernels/testdata/libcuda.cc ||
		fail "a dry run needs a C++ compiler (g++)"
	if [ ! -e "$stub/libnvidia-ml.so.1" ] && header=$(go list -f '{{.Dir}}' github.com/NVIDIA/go-nvml/pkg/nvml 2>/dev/null); then
		cc -shared -fPIC -O1 -I "$header" -Wa,-I,profiling/nvml/nvmltest/testdata -o "$stub/libnvidia-ml.so.1" profiling/nvml/nvmltest/testdata/stub.c || fail "a dry run needs a C compiler (cc)"
	fi
	board=H100
	[ "${MIGLAB_EMULATED_NAME:-}" != "NVIDIA H100 PCIe" ] || board=H100PCIe
	printf 'gpu 0 %s GPU-%s 0 0\ndriver 580.65.06-stub\n' $board $uuid >"$stub/gpus.txt"
	export LD_LIBRARY_PATH=$stub MIGLAB_NVML_STUB=$stub/gpus.txt PATH=$PWD/profiling/testdata/first-run:$PATH
	export MIGLAB_EMULATED_SMS=${MIGLAB_EMULATED_SMS:-132} MIGLAB_EMULATED_NAME="${MIGLAB_EMULATED_NAME:-NVIDIA H100 80GB HBM3}" MIGLAB_EMULATED_MEMORY=85899345920 MIGLAB_EMULATED_UUID=${uuid//-/}
	KERNELS='bfs gaussian stream' SMALL='--size 64 --iterations 1' only=(--only bfs,gaussian,stream) anchors=bfs,stream
	options=(--small --milliseconds 5 --warm-up 2)
fi
export KERNELS SMALL

# The GPU, in partitions of multiples of 8 multiprocessors, or of 2, the smallest groups that drivers give.
ask() {
	local said
	said=$(timeout -k 10 $start "$MIGLAB" kernel stream --verify 2>"$root/start.txt")
	sms=$(sed -n 's/^sms: //p' <<<"$said") card=$(sed -n 's/^uuid: //p' <<<"$said")
}
ask
if [ -z "$sms" ] && grep -q 'built without cgo' "$root/start.txt"; then
	without="$MIGLAB was built without cgo, which the driver needs" MIGLAB=$root/miglab
	echo "$without: building $MIGLAB"
	build "$without"
	ask
fi
[ -n "$sms" ] && [[ $card =~ ^[0-9a-f-]+$ ]] || fail "no kernel runs here within $start s: $(tail -n 1 "$root/start.txt")"

# What earlier calls measured on the card.
out=$root/$card OUT=$root/$card
export OUT
if [ ! -e "$out" ] && [ -e "$out.tar.gz" ]; then
	rm -rf "$out.part"
	mkdir -p "$out.part"
	tar -xzf "$out.tar.gz" -C "$out.part" && mv "$out.part" "$out" || fail "cannot unpack $out.tar.gz"
fi
mkdir -p "$out"/{done,log,spent,hardware} || fail "cannot write to $out"
options+=(--out "$out")
echo . >>"$out/calls"
call=$(wc -l <"$out/calls")
grep -lsE '^(failed|skipped)' "$out"/done/* | xargs -r -d '\n' rm # they are tried again
rm -f "$out/done/anchors" "$out/spent/0" # each call repeats these four measurements

half=$((sms / 16 * 8)) third=$((sms / 6 * 2)) equal=$((sms / 4 * 2))
splits=$equal:$equal counts=$(seq -s, 8 8 $((sms - 1))),$sms
for i in 3 2 1; do
	part=$((sms * i / 64 * 8))
	splits=$part:$((sms - part)),$splits,$((sms - part)):$part
done

# step STAGE NAME SECONDS COMMAND... runs a command unless it is done. SECONDS is an estimate. A command that is stopped
# keeps what it has measured, and goes on in a later call. One that fails is left, too.
reserve=25 # for stopping a command and packing
left=() left_seconds=0 free='' unpacked=''
step() {
	local stage=$1 name=$2 estimate=$3 time spent begun took
	shift 3
	if [ -e "$out/done/$name" ]; then
		! grep -q '^failed' "$out/done/$name" || later "$name" "$estimate"
		return 0
	fi
	time=$((budget - reserve - SECONDS))
	spent=$(cat "$out/spent/$stage" 2>/dev/null || echo 0)
	if { [ -z "$free" ] || [ "$stage" = 0 ]; } && [ $((limits[stage] - spent)) -lt $time ]; then time=$((limits[stage] - spent)); fi
	if [ $time -lt 5 ]; then
		later "$name" "$estimate"
		return 0
	fi
	begun=$SECONDS
	limited "$out/log/$name.txt" $time "$@"
	local code=$?
	took=$((SECONDS - begun))
	echo $((spent + took)) >"$out/spent/$stage"
	case $code in
	0) echo "done" >"$out/done/$name" ;;
	1) echo "done, with failures: $(tail -n 1 "$out/log/$name.txt")" >"$out/done/$name" ;;
	124 | 130 | 137)
		printf '%4d s  stage %d  %-18s not finished\n' $took "$stage" "$name"
		later "$name" $((estimate > took + 5 ? estimate - took : 5))
		return 0 ;;
	*)
		echo "failed: $(tail -n 1 "$out/log/$name.txt")" >"$out/done/$name"
		later "$name" "$estimate" ;;
	esac
	printf '%4d s  stage %d  %-18s %s\n' $took "$stage" "$name" "$(cat "$out/done/$name")"
}
# limited LOG SECONDS COMMAND... runs in a process group of its own, so that a signal to this script need not wait for its end.
limited() {
	set -m
	timeout -s INT -k 10 "${@:2}" </dev/null >>"$1" 2>&1 &
	set +m
	wait $!
}
# interrupted ends the script after everything that it started has ended. A timeout that is interrupted as it starts its
# command ends without it.
interrupted() {
	trap '' INT TERM
	local job tries
	for job in $(jobs -p); do
		kill -INT "$job" 2>/dev/null # timeout passes it on, and kills after 10 s
		wait "$job"
		for ((tries = 0; tries < 100; tries++)); do
			kill -INT -- "-$job" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$job" 2>/dev/null
	done
	pack
	echo "first-run: interrupted; the same command goes on" >&2
	exit 130
}
later() { left+=("$1"); left_seconds=$((left_seconds + $2)); }
corun() { step "$1" "$2" "$3" "$MIGLAB" profile corun "${options[@]}" "${@:4}"; }
needs() { # NAME TOOL is false, and the step is skipped, if there is no such tool
	command -v "$2" >/dev/null && return
	[ ! -e "$out/done/$1" ] || return
	echo "        $1 is skipped: $2 is not in PATH"
	echo "skipped: $2 is not in PATH" >"$out/done/$1"
	return 1
}

# Estimates are 0.4 s for a group of kernels in a window of 0.2 s.
steps() {
	left=() left_seconds=0
	corun 0 anchors 10 --out "$out/anchors" --only $anchors --splits $half,"$sms" --repetitions "$call" # run k is call k
	step 1 environment 15 bash $self --part environment
	step 1 verify 40 bash $self --part verify
	needs ptx-and-nvcc nvcc && step 1 ptx-and-nvcc 120 bash $self --part compare
	pack
	corun 2 scaling 80 "${only[@]}" --splits "$counts"           # 8 kernels x 17 counts
	pack
	corun 3 pairs 200 "${only[@]}" --splits "$splits"            # 36 pairs x 7 splits, and alone
	corun 3 shared 30 "${only[@]}" --splits all:all              # 36 pairs, and alone
	corun 3 triples 25 "${only[@]}" --splits $third:$third:$third --sample 20
	pack
	corun 4 drift 60 "${only[@]}" --splits "$splits" --sample 40 --repetitions 2
	corun 2 scaling-again 160 "${only[@]}" --splits "$counts" --repetitions 3
	pack
}

# pack copies measurements to the folder hardware, and puts everything into an archive.
pack() {
	local model base
	model=$(sed -n '2s/,.*//p' "$out/overlap.csv" 2>/dev/null | tr '[:upper:]' '[:lower:]' | tr -dc 'a-z0-9_-')
	base=$out/hardware/${name:-${model:-gpu}-first-run}
	rm -f "$out"/hardware/*
	keep "$out/overlap.csv" "$base.overlap.csv"
	tar -czf "$out.tar.gz.part" -C "$out" --exclude=./nvcc . && mv "$out.tar.gz.part" "$out.tar.gz" && unpacked='' && return
	rm -f "$out.tar.gz.part"
	unpacked=1
	echo "first-run: cannot write $out.tar.gz; what was measured is in $out" >&2
}
keep() { [ ! -s "$1" ] || cp "$1" "$2"; }
trap interrupted INT TERM

echo "call $call on $card: $sms multiprocessors, at most $budget s"
steps
if [ ${#left[@]} -gt 0 ]; then
	free=1 # from the stages' limits
	steps
fi
pack
echo "done: $(ls "$out/done" | tr '\n' ' ')"
if [ ${#left[@]} -gt 0 ]; then
	echo "left: ${left[*]}: about $left_seconds s; call again"
else
	failures=$(cd "$out/done" && grep -l '^done, with failures' -- * | tr '\n' ' ')
	echo "left: nothing${failures:+, but parts of these failed: $failures}"
fi
echo "$out.tar.gz"
[ -z "$unpacked" ] || exit 1
! grep -hE '^(failed|done, with failures): ' "$out"/done/*
