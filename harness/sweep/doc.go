// Package sweep spreads the work of one command over tasks that run on several machines and have
// nothing in common but a folder.
//
// A sweep is such a folder, on a file system that all machines see:
//
//	plan.json              what is to be done, by how many tasks; never changed
//	results/0003-<run>.db  results of a run of task 3, and how it stands, in the store's format
//
// Task i of n does the shard i/n of the command. Every file has one writer. The databases have no
// write-ahead log where several machines mount the folder, by NFS for example; its locks must
// work there, as those of NFS 4 do. A task may be killed, or run twice, also at the same time on two
// machines: it goes on from the intact databases of all its runs. The files
// say what is done, not the cluster's queue.
//
// The results of all tasks, merged, are the same bytes as those of one machine that
// runs the command alone.
//
// Some commands have no cells but units that a program does one after the other,
// such as trainings. A sweep is of cells or of units.
package sweep
