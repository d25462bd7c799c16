#!/bin/sh
# Imitates Rodinia's programs: rodinia.sh HOW [FIFO]. Where a FIFO is given, this
# process and its children hold it open for as long as they live.
if [ -n "$2" ]; then
	exec 9>"$2"
	echo $$ >&9
fi
case $1 in
ok)
	echo "Start computing the transient temperature"
	echo "Ending simulation" ;;
timed)
	echo "Time consumed(ms): 1250.0"
	echo "Ending simulation" ;;
notime)
	echo "Time consumed(ms): n/a"
	echo "Ending simulation" ;;
zero)
	echo "Time consumed(ms): 0.000"
	echo "Ending simulation" ;;
oom)
	echo "Cuda error: Fan2: out of memory." >&2
	exit 1 ;;
oom-unnoticed) # as of programs that do not look at errors
	echo "cudaMalloc: cudaErrorMemoryAllocation"
	echo "Ending simulation" ;;
wrong)
	echo "Start computing the transient temperature" ;;
silent)
	exit 0 ;;
crash)
	echo "The file was not opened" >&2
	exit 3 ;;
signal)
	echo "Start computing the transient temperature"
	kill -SEGV $$ ;;
hang-alone)
	exec sleep 1000 ;;
hang)
	sleep 1000 &
	wait ;;
orphan) # ends well and leaves a child behind
	sleep 1000 &
	echo "Ending simulation" ;;
escape) # the child leaves the group, and holds the output
	setsid sh -c 'echo $$ >&9; : >"$1.escaped"; exec sleep 1000' sh "$2" &
	until [ -e "$2.escaped" ]; do sleep 0.01; done
	echo "Ending simulation" ;;
flood)
	echo "Time consumed(ms): 250"
	head -c 3000000 /dev/zero | tr '\0' x
	echo
	echo "Ending simulation" ;;
env)
	echo "$CUDA_VISIBLE_DEVICES|$CUDA_MPS_PIPE_DIRECTORY|$SUITE_HOME|$OWN|$PWD" ;;
esac
