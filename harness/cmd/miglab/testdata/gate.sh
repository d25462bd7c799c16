#!/bin/sh
# A scheduler that finds no schedule for anything. In a task of an array it stops at the fourth instance while a
# file hold-TASK exists, and says so by a file at-TASK-RESTART. It is slow while a file slow exists. It is started again
# after each answer, which is an error, and so counts instances in a file.
trap '' TERM # which Slurm sends to all processes of a task that it requeues; miglab ends this one
read -r hello
echo '{"type":"hello","protocol":1,"name":"gate","version":1}'
count=count-$SLURM_ARRAY_TASK_ID-${SLURM_RESTART_COUNT:-0}
while read -r question; do
	if [ "$SLURM_ARRAY_TASK_ID" ]; then echo >>"$count"; fi
	if [ -e "$count" ] && [ "$(wc -l <"$count")" -eq 4 ]; then
		while [ -e "hold-$SLURM_ARRAY_TASK_ID" ]; do
			: >"at-$SLURM_ARRAY_TASK_ID-${SLURM_RESTART_COUNT:-0}"
			sleep 0.05
		done
	fi
	if [ -e slow ]; then sleep "$(cat slow)"; fi
	id=${question#*\"id\":}
	echo "{\"type\":\"error\",\"id\":${id%%,*},\"message\":\"no\"}"
done
