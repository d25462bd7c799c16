#!/bin/bash
# Measures everything that miglab can measure on a GPU without MIG, in calls of at most 8 minutes.
#
#   profiling/first-run.sh [--out DIR] [--budget SECONDS] [--name NAME] [--dry-run]
#
# Call it again until it says that nothing is left. It goes on where it was: from DIR, or on another machine from
# DIR.tar.gz, which holds all that was measured. It changes no setting of the GPU: no MIG mode, clocks or power.
#
#   --out      default: results/first-run
#   --budget   how long the call may take; default: 480
#   --name     what the files for datasets/hardware are called; default: the GPU's model, as in h200
#   --dry-run  the same on stubs of the driver, on small inputs; needs a C++ compiler. default --out: results/first-run-stub
#
# Stages and their limits: (1) environment, device facts, verification: 3 minutes; (2) scaling: 6; (3) co-runs: 7;
# (4) cross-checks: 5. What a stage did not finish comes after the other stages, if the call has time for it.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
limits=(0 180 360 420 300)

fail() { echo "first-run: $*" >&2; exit 2; }

# Parts of steps, which run as processes of their own so that they can be stopped.
kernels() { "$MIGLAB" kernel --help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v miglab; }
part() {
	case $1 in
	environment)
		for command in "uname -a" "nproc" "free -m" "cat /etc/os-release" "id" "ls -l /dev/nvidia* /dev/nvidia-caps" "ldconfig -p" "nvidia-smi" "nvidia-smi -q" \
			"nvcc --version" "ncu --version" "nvidia-cuda-mps-control -h" "$MIGLAB profile --list"; do
			echo "\$ $command"
			# shellcheck disable=SC2086 # words and patterns
			timeout 30 $command 2>&1 </dev/null | grep -v '^	' | head -n 500
		done ;;
	verify) # every kernel against its reference
		status=0
		for kernel in $KERNELS; do
			echo "$kernel"
			"$MIGLAB" kernel "$kernel" --verify || status=1
		done
		exit $status ;;
	compare) # times of the embedded PTX and of nvcc's code
		make -s -j"$(nproc)" -C profiling/kernels BIN="$OUT/nvcc" || exit
		echo kernel,ptx_s,nvcc_s
		for kernel in $KERNELS; do
			ptx=$("$MIGLAB" kernel "$kernel" | sed -n 's/^time_s: //p')
			nvcc=$("$OUT/nvcc/$kernel" | sed -n 's/^time_s: //p')
			echo "$kernel,$ptx,$nvcc"
		done ;;
	esac
	exit 0
}
if [ "${1:-}" = --part ]; then part "$2"; fi

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
out=${out:-results/first-run${dry:+-stub}}
if [ ! -e "$out" ] && [ -e "$out.tar.gz" ]; then
	mkdir -p "$out" && tar -xzf "$out.tar.gz" -C "$out" || fail "cannot unpack $out.tar.gz"
fi
mkdir -p "$out"/{done,log,spent,hardware,mps} || fail "cannot write to $out"
out=$(cd "$out" && pwd)
# What one call measured on a GPU, another must not mix with a stub's.
[ -e "$out/kind" ] || echo "${dry:-0}" >"$out/kind"
[ "$(cat "$out/kind")" = "${dry:-0}" ] || fail "$out has measurements of a $([ "$dry" ] && echo GPU || echo stub); give another --out"
echo . >>"$out/calls"
call=$(wc -l <"$out/calls")

# The program.
miglab=${MIGLAB:-$PWD/bin/miglab}
if [ ! -x "$miglab" ]; then
	command -v go >/dev/null || fail "there is no bin/miglab, and no Go to build it: run make build-nvml elsewhere and copy it here"
	make -s build-nvml || fail "make build-nvml failed; it needs a C compiler"
fi

export MIGLAB=$miglab OUT=$out
kernels=$(kernels)
common=(--out "$out") mps=(--mode mps-sm-limit --out "$out/mps" --repetitions 1) mps_kernels=gemm,stream,bfs
if [ -n "$dry" ]; then
	stub=$out/stub
	mkdir -p "$stub"
	[ -e "$stub/libcuda.so.1" ] || g++ -x c++ -std=c++17 -O1 -shared -fPIC -o "$stub/libcuda.so.1" profiling/kernels/testdata/libcuda.cc || fail "a dry run needs a C++ compiler (g++)"
	if [ ! -e "$stub/libnvidia-ml.so.1" ] && header=$(go list -m -f '{{.Dir}}/pkg/nvml' github.com/NVIDIA/go-nvml 2>/dev/null); then
		cc -shared -fPIC -O1 -I "$header" -o "$stub/libnvidia-ml.so.1" profiling/nvml/nvmltest/testdata/stub.c || fail "a dry run needs a C compiler (cc)"
	fi
	uuid=5c89852c-d268-c3f3-1b07-005d5ae1dc3f
	printf 'gpu 0 H100 GPU-%s 0 0\ndriver 580.65.06-stub\n' $uuid >"$stub/gpus.txt"
	export LD_LIBRARY_PATH=$stub MIGLAB_NVML_STUB=$stub/gpus.txt PATH=$PWD/profiling/testdata/first-run:$PATH
	export MIGLAB_EMULATED_SMS=132 MIGLAB_EMULATED_NAME='NVIDIA H100 80GB HBM3' MIGLAB_EMULATED_MEMORY=85899345920 MIGLAB_EMULATED_UUID=${uuid//-/}
	kernels=$'bfs\ngaussian\nstream'
	common+=(--small --milliseconds 10 --warm-up 5 --only "${kernels//$'\n'/,}")
	mps+=(--kernels profiling/testdata/first-run/small.yaml --state "$stub/state") mps_kernels=bfs,stream
fi
export KERNELS=$kernels
sms=$("$miglab" kernel stream --verify 2>"$out/log/start.txt" | sed -n 's/^sms: //p')
[ -n "$sms" ] || fail "no kernel runs here: $(tail -n 1 "$out/log/start.txt")"
half=$((sms / 16 * 8))
splits=''
for i in 1 2 3; do splits+=$((sms * i / 64 * 8)):$((sms - sms * i / 64 * 8)),; done
splits+=$((sms / 2)):$((sms / 2))
for i in 3 2 1; do splits+=,$((sms - sms * i / 64 * 8)):$((sms * i / 64 * 8)); done
third=$((sms / 3)):$((sms / 3)):$((sms / 3))

# step STAGE NAME SECONDS COMMAND... runs a command unless it is done. SECONDS is an estimate.
reserve=25 left=() seconds_left=0 free=''
step() {
	local stage=$1 name=$2 estimate=$3 time begun code
	shift 3
	[ ! -e "$out/done/$name" ] || return 0
	time=$((budget - reserve - SECONDS))
	local spent
	spent=$(cat "$out/spent/$stage" 2>/dev/null || echo 0)
	if [ -z "$free" ] && [ $((limits[stage] - spent)) -lt $time ]; then time=$((limits[stage] - spent)); fi
	if [ $time -lt 5 ] || { [ $time -lt $estimate ] && [ $estimate -le 30 ]; }; then # steps that are not worth a beginning
		later "$name" "$estimate"
		return 0
	fi
	begun=$SECONDS
	timeout -s INT -k 10 $time "$@" >>"$out/log/$name.txt" 2>&1
	code=$?
	echo $((spent + SECONDS - begun)) >"$out/spent/$stage"
	case $code in
	0) echo done >"$out/done/$name" ;;
	1) echo "done, with failures: $(tail -n 1 "$out/log/$name.txt")" >"$out/done/$name" ;;
	124 | 130 | 137) later "$name" $((estimate - (SECONDS - begun) > 5 ? estimate - (SECONDS - begun) : 5)); return 0 ;;
	*) echo "failed: $(tail -n 1 "$out/log/$name.txt")" >"$out/done/$name" ;;
	esac
	printf '%4d s  stage %d  %-18s %s\n' $((SECONDS - begun)) "$stage" "$name" "$(cat "$out/done/$name")"
}
later() { left+=("$1"); seconds_left=$((seconds_left + $2)); }
skip() { [ -e "$out/done/$1" ] || { echo "skipped: $2" >"$out/done/$1"; echo "        $1 is skipped: $2"; }; }
partition() { step "$1" "$2" "$3" "$miglab" profile --mode sm-partition "${common[@]}" "${@:4}"; }
corun() { step "$1" "$2" "$3" "$miglab" profile corun --mode sm-partition "${common[@]}" "${@:4}"; }

steps() {
	left=() seconds_left=0
	step 1 environment 15 bash "$0" --part environment
	step 1 verify 40 bash "$0" --part verify
	if command -v nvcc >/dev/null; then step 1 ptx-and-nvcc 120 bash "$0" --part compare; else skip ptx-and-nvcc "nvcc is not in PATH"; fi
	pack

	partition 2 scaling 80
	corun 2 antagonist 30 --against stream --splits $half:$half
	pack

	corun 3 pairs 170 --splits "$splits"
	corun 3 shared 25 --splits all:all
	corun 3 triples 25 --splits "$third" --sample 20
	pack

	step 4 mps 90 "$miglab" profile "${mps[@]}" --only $mps_kernels
	step 4 mps-corun 60 "$miglab" profile corun "${mps[@]}" --only $mps_kernels --splits 50:50
	if command -v ncu >/dev/null; then
		step 4 counters 90 "$miglab" profile counters "${mps[@]:0:4}" "${mps[@]:6}" --only $mps_kernels --launch-count 50
	else
		skip counters "ncu is not in PATH"
	fi
	corun 4 drift 60 --splits "$splits" --sample 40 --repetitions 2
	partition 2 scaling-again 160 --repetitions 3
	corun 2 antagonist-again 60 --against stream --splits $half:$half --repetitions 3
	pack
}

# pack puts files for datasets/hardware together, and everything into an archive.
pack() {
	local model base
	model=$(sed -n '2s/,.*//p' "$out/overlap.csv" 2>/dev/null | tr '[:upper:]' '[:lower:]' | tr -dc 'a-z0-9_-')
	base=$out/hardware/${name:-${model:-gpu}-first-run}
	rm -f "$out"/hardware/*
	keep "$out/overlap.csv" "$base.overlap.csv"
	keep "$out/mps/kernels.csv" "$base-mps.kernels.csv"
	keep "$out/mps/corun.csv" "$base-mps.corun.csv"
	keep "$out/mps/counters.csv" "$base.counters.csv"
	tar -czf "$out.tar.gz.part" -C "$out" --exclude=./stub --exclude=./nvcc . && mv "$out.tar.gz.part" "$out.tar.gz"
}
keep() { [ ! -s "$1" ] || cp "$1" "$2"; }

echo "call $call: $sms multiprocessors, $budget s"
rm -f "$out/done/anchors"
partition 1 anchors 10 --only gemm,stream --sms $half,"$sms" --repetitions "$call"
steps
if [ ${#left[@]} -gt 0 ]; then # what the stages' limits cut off
	free=1
	steps
fi
pack
echo "done: $(cd "$out/done" && ls | tr '\n' ' ')"
if [ ${#left[@]} -gt 0 ]; then
	echo "left: ${left[*]}, about $seconds_left s; call again"
else
	echo "left: nothing"
fi
echo "$out.tar.gz"
grep -hE '^(failed|done, with failures): ' "$out"/done/* && exit 1
exit 0
