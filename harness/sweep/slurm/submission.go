// Package slurm hands the tasks of a sweep to Slurm: it writes a script that submits a job array and is the array's
// batch script, reads the queue, and has a task requeue itself at its time limit. It was written against Slurm 22.05,
// uses only Slurm's commands, and needs no accounting database.
//
// The files of the sweep say what is done. Slurm forgets jobs some minutes after their end.
package slurm

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// A Submission says how the tasks of a sweep are submitted.
type Submission struct {
	// Name is the name of all jobs of the sweep, by which [Queue] finds them.
	Name string
	// Program, Sweep and Dir, the folder that the command works in, are absolute paths.
	Program, Sweep, Dir string
	// Limit is the number of tasks that run at a time; 0 sets no limit.
	Limit int
	// Args are further arguments of every sbatch.
	Args []string
}

// ScriptPath returns where the script of [Submission.Script] has to be when it is run.
func (s *Submission) ScriptPath() string { return s.Sweep + "/script.sh" }

//go:embed script.sh.tmpl
var script string

// Script returns the script. The folder logs must be beside it. In a job the program takes the shell's place, so that
// signals reach it; a minute before the time limit Slurm sends it HUP.
func (s *Submission) Script() string {
	limit := ""
	if s.Limit > 0 {
		limit = "%" + strconv.Itoa(s.Limit)
	}
	// % and \ have meanings in sbatch's --output.
	logs := strings.NewReplacer(`\`, `\\`, "%", "%%").Replace(s.Sweep) + "/logs"
	return strings.NewReplacer("{{sweep}}", quote(s.Sweep), "{{program}}", quote(s.Program), "{{dir}}", quote(s.Dir),
		"{{name}}", quote(s.Name), "{{args}}", Words(s.Args), "{{logs}}", quote(logs), "{{limit}}", limit).
		Replace(script)
}

// quote makes one word for the shell.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Ranges writes ascending numbers as sbatch takes them: 0-3,5,7-8.
func Ranges(numbers []int) string {
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

// Words makes a word of each text for the shell.
func Words(texts []string) string {
	words := make([]string, len(texts))
	for i, text := range texts {
		words[i] = Word(text)
	}
	return strings.Join(words, " ")
}
