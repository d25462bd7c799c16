// Package sweep divides the work of one command among tasks that run on several machines. The tasks share only a
// folder.
//
// A sweep is such a folder, on a file system that all machines see:
//
//	plan.json              the command and the number of tasks; never changed
//	results/0003-<run>.db  the results of a run of task 3, in the store's format
//
// Task i of n does the shard i/n of the command: its cells, or its units, such as trainings. Every file has one writer.
// The databases have no write-ahead log, so that several machines can mount the folder, for example by NFS. The locks
// of that file system must work, as in NFS 4. A task may be killed, or run twice, also at the same time on two
// machines: it continues from the intact databases of all its runs. The databases say what is done, and the cluster's
// queue says what runs.
//
// The merged results of all tasks have the same bytes as a run of the command on one machine.
package sweep
