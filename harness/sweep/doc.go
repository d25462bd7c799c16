// Package sweep spreads the cells of one command over tasks that run on several
// machines and have nothing in common but a folder.
//
// A sweep is such a folder, on a file system that all machines see:
//
//	plan.json                  what is to be done, and which task does what; never changed
//	segments/segment-0003-<run>-000001.jsonl   results of task 3, in the store's format
//	segments/timing-0003-<run>-000001.jsonl    how long they took
//	tasks/0003-<run>.json      how a run of task 3 stands
//	units/0003.json            unit 3 is done, in a sweep of units
//	jobs.json                  what was submitted
//
// Every file has one writer and takes its place as a whole; there are no locks, and
// nothing is appended to or removed. That is safe where several machines mount the
// folder by NFS. A task that is killed, or runs twice, or at the same time on two
// machines, does no harm: it goes on from the intact segments of all its runs, and
// segments merge by key. The files say what is done, not the cluster's queue.
//
// The results of all tasks, merged, are the same bytes as those of one machine that
// runs the command alone.
//
// Some commands have no cells but units that a program does one after the other,
// such as trainings. A sweep is of cells or of units.
package sweep
