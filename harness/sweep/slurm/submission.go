// Package slurm hands the tasks of a sweep to Slurm as job arrays: it writes the batch
// script, submits it with sbatch, reads the queue, and has a task requeue itself at its
// time limit. It was written against Slurm 22.05 and uses nothing but its commands; it needs
// no accounting database.
//
// What is done and what is missing is not asked of Slurm, which forgets jobs some minutes
// after their end: the files of the sweep say it.
package slurm

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// A Submission is what is sent at once: tasks of a sweep, and the merge that follows them.
type Submission struct {
	// Name is the name of all jobs of the sweep, by which [Queued] finds them.
	Name string
	// Program, Sweep and Dir, the folder that the command works in, are absolute paths.
	Program, Sweep, Dir string
	// Tasks are the tasks' numbers, ascending.
	Tasks []int
	// Limit is how many of them run at a time; 0 means as many as Slurm likes.
	Limit int
	// Args go to every sbatch as they are.
	Args []string
}

// ScriptPath returns where the script of [Submission.Script] has to be when the jobs are
// submitted.
func (s *Submission) ScriptPath() string { return s.Sweep + "/script.sh" }

//go:embed script.sh.tmpl
var script string

// Script returns the batch script of the tasks and of the merge. The program takes the
// shell's place, so that signals reach it; a minute before the time limit it gets HUP, which nothing else sends it.
func (s *Submission) Script() string {
	return strings.NewReplacer("{{sweep}}", quote(s.Sweep), "{{program}}", quote(s.Program), "{{dir}}", quote(s.Dir)).
		Replace(script)
}

// quote makes one word for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// outputPattern makes a path safe in sbatch's --output, where % and \ have meanings.
func outputPattern(path string) string {
	return strings.NewReplacer(`\`, `\\`, "%", "%%").Replace(path)
}

// array returns the arguments of sbatch for the tasks.
func (s *Submission) array() []string {
	indices := arrayRanges(s.Tasks)
	if s.Limit > 0 {
		indices += "%" + strconv.Itoa(s.Limit)
	}
	return append(s.common("%A_%a"), "--array="+indices, s.ScriptPath(), "task")
}

// merge returns the arguments of sbatch for what follows the array. It follows it however the
// tasks end: one that failed and was done by another must not keep it waiting, and it says
// what is missing.
func (s *Submission) merge(array string) []string {
	return append(s.common("%j"), "--dependency=afterany:"+array, s.ScriptPath(), "merge")
}

func (s *Submission) common(log string) []string {
	args := []string{"--parsable", "--job-name=" + s.Name, "--output=" + outputPattern(s.Sweep) + "/logs/" +
		log + ".log"}
	return append(args, s.Args...)
}

// arrayRanges writes ascending numbers as Slurm does: 0-3,5,7-8.
func arrayRanges(numbers []int) string {
	var out []string
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i == j {
			out = append(out, strconv.Itoa(numbers[i]))
		} else {
			out = append(out, fmt.Sprintf("%d-%d", numbers[i], numbers[j]))
		}
		i = j + 1
	}
	return strings.Join(out, ",")
}

// Commands returns the commands that submit it, a line each, as a shell would take them.
func (s *Submission) Commands() string {
	line := func(variable string, args []string) string {
		for i, a := range args {
			// The array's number is only known when the line before has been run.
			if !strings.HasPrefix(a, "--dependency=") {
				args[i] = Word(a)
			}
		}
		return variable + "=$(sbatch " + strings.Join(args, " ") + ")\n"
	}
	return line("array", s.array()) + line("merge", s.merge("$array"))
}

// Word makes one word for the shell, quoted where that is needed.
func Word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_=./,:%+@", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return quote(s)
}

// Submit sends the array and the merge and returns their job numbers. The script must be at
// [Submission.ScriptPath] and the folder logs beside it. Without a merge the array is cancelled.
func (s *Submission) Submit(ctx context.Context) (array, merge string, err error) {
	if array, err = sbatch(ctx, s.array()); err != nil {
		return "", "", err
	}
	if merge, err = sbatch(ctx, s.merge(array)); err != nil {
		if _, failed := runCommand(context.WithoutCancel(ctx), "scancel", array); failed != nil {
			err = fmt.Errorf("%w; job %s is still there: %w", err, array, failed)
		}
		return "", "", err
	}
	return array, merge, nil
}

func sbatch(ctx context.Context, args []string) (string, error) {
	out, err := runCommand(ctx, "sbatch", args...)
	if err != nil {
		return "", err
	}
	// "1234", or "1234;cluster" where there are several clusters.
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", fmt.Errorf("sbatch answers %q and not a job's number", out)
	}
	return id, nil
}
