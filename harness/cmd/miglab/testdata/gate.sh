#!/bin/sh
# A scheduler that finds no schedule for anything. In a task of an array it stops at the instance whose number is in a
# file hold-TASK, or after it, while the file exists, and says so by a file at-TASK-RESTART. It is started again after
# each answer, which is an error, and so counts instances in a file.
trap '' TERM # which Slurm sends to all processes of a task that it requeues; miglab ends this one
read -r hello
echo '{"type":"hello","protocol":1,"name":"gate","version":1}'
count=count-$SLURM_ARRAY_TASK_ID-${SLURM_RESTART_COUNT:-0}
while read -r question; do
	if [ "$SLURM_ARRAY_TASK_ID" ]; then echo >>"$count"; fi
	hold=hold-$SLURM_ARRAY_TASK_ID
	if [ -e "$hold" ] && [ "$(wc -l <"$count")" -ge "$(cat "$hold")" ]; then
		while [ -e "$hold" ]; do
			: >"at-$SLURM_ARRAY_TASK_ID-${SLURM_RESTART_COUNT:-0}"
			sleep 0.05
		done
	fi
	id=${question#*\"id\":}
	echo "{\"type\":\"error\",\"id\":${id%%,*},\"message\":\"no\"}"
done
