// Package slurm hands the tasks of a sweep to Slurm as job arrays: it writes the batch
// script, submits it with sbatch, reads the queue, and has a task requeue itself at its
// time limit. It was written against Slurm 22.05 and uses nothing but its commands; it needs
// no accounting database.
//
// What is done and what is missing is not asked of Slurm, which forgets jobs some minutes
// after their end: the files of the sweep say it.
package slurm
