#!/bin/sh
# Spreads miglab run, reproduce or train over the tasks of a Slurm job array, each of which computes a shard:
#
#	sbatch --array=0-63 --time=60 slurm.sh run --algorithms far,miso --datasets WIDETIMES --instances 100000
#
# All nodes must see the folder in which this is submitted, and miglab must be on the PATH. The array begins at 0.
# Afterwards the same command without Slurm reads what the tasks computed, and computes what they left.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:HUP@60
if [ "${SLURM_ARRAY_TASK_MIN:-1}" -ne 0 ] || [ "${SLURM_ARRAY_TASK_COUNT:-0}" -ne "$((SLURM_ARRAY_TASK_MAX + 1))" ]; then
	echo "slurm.sh: submit it with --array=0-N; for tasks that failed, submit all again, or run the command without Slurm" >&2
	exit 2
fi
miglab "$@" --shard "$SLURM_ARRAY_TASK_ID/$((SLURM_ARRAY_TASK_MAX + 1))" --workers "${SLURM_CPUS_ON_NODE:-1}" &
task=$!
late=
trap 'late=yes; kill -HUP $task' HUP # a minute before the time limit
wait $task
code=$?
if [ "$late" ]; then
	wait $task # the signal ended the first wait
	code=$?
	# A task that needs a hundred time limits may not get on at all.
	if [ $code -ne 0 ] && [ "${SLURM_RESTART_COUNT:-0}" -lt 100 ]; then
		exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
	fi
fi
exit $code
