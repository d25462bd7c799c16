package slurm

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

// usualMaxArraySize is Slurm's own MaxArraySize where nothing else is configured.
const usualMaxArraySize = 1001

// A Submission is what is sent at once: tasks of a sweep, and the merge that follows them.
type Submission struct {
	// Name is the name of all its jobs. No other jobs of the user have it, so that what a
	// failed submission left can be found and cancelled.
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

// scriptFile is where in the sweep's folder the script is.
const scriptFile = "script.sh"

// ScriptPath returns where the script of [Submission.Script] has to be when the jobs are
// submitted.
func (s *Submission) ScriptPath() string { return s.Sweep + "/" + scriptFile }

//go:embed script.sh.tmpl
var script string

// Script returns the batch script of the tasks and of the merge. The program takes the
// shell's place, so that signals reach it; a minute before the time limit it gets TERM.
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

// A part is the tasks of one array: as many as Slurm lets one have.
type part struct {
	offset int
	// indices are the tasks' numbers less the offset.
	indices []int
}

// parts cuts the tasks into arrays. The largest index of an array is below size.
func (s *Submission) parts(size int) []part {
	var out []part
	for _, t := range s.Tasks {
		offset := t / size * size
		if len(out) == 0 || out[len(out)-1].offset != offset {
			out = append(out, part{offset: offset})
		}
		p := &out[len(out)-1]
		p.indices = append(p.indices, t-offset)
	}
	return out
}

// array returns the arguments of sbatch for a part. With a limit, a part waits for the one
// before, which is the job previous, if there is one: Slurm limits each array alone.
func (s *Submission) array(p part, previous string) []string {
	indices := arrayRanges(p.indices)
	args := s.common("%A_%a")
	if s.Limit > 0 {
		indices += "%" + strconv.Itoa(s.Limit)
		if previous != "" {
			args = append(args, "--dependency=afterany:"+previous)
		}
	}
	return append(args, "--array="+indices, s.ScriptPath(), "task", strconv.Itoa(p.offset))
}

// merge returns the arguments of sbatch for what follows the arrays. It follows them however
// they end: a task that failed and was done by another must not keep it waiting, and it says
// what is missing.
func (s *Submission) merge(arrays []string) []string {
	return append(s.common("%j"), "--dependency=afterany:"+strings.Join(arrays, ":"), s.ScriptPath(), "merge")
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
// Where Slurm cannot be asked, arrays are as large as it usually allows, and a comment says so.
func (s *Submission) Commands(ctx context.Context) (string, error) {
	var out strings.Builder
	size, err := maxArraySize(ctx)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		size = usualMaxArraySize
		fmt.Fprintf(&out,
			"# scontrol show config could not be asked (%v); arrays of at most %d tasks are assumed\n", err, size)
	}
	line := func(variable string, args []string) {
		fmt.Fprintf(&out, "%s=$(sbatch", variable)
		for _, a := range args {
			// A job's number is only known when the line before has been run.
			if strings.HasPrefix(a, "--dependency=") {
				out.WriteString(" " + a)
			} else {
				out.WriteString(" " + Word(a))
			}
		}
		out.WriteString(")\n")
	}
	var arrays []string
	previous := ""
	for i, p := range s.parts(size) {
		variable := fmt.Sprintf("array%d", i)
		line(variable, s.array(p, previous))
		previous = "$" + variable
		arrays = append(arrays, previous)
	}
	line("merge", s.merge(arrays))
	return out.String(), nil
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

// Submit sends the arrays and the merge and returns their job numbers. The script must be at
// [Submission.ScriptPath] and the folder logs beside it. When a command fails, what was sent before
// is cancelled, so that nothing is left; the error is a [*CommandError] or a [*NotFoundError].
func (s *Submission) Submit(ctx context.Context) (arrays []string, merge string, err error) {
	size, err := maxArraySize(ctx)
	if err != nil {
		return nil, "", err
	}
	defer func() {
		if err != nil {
			ctx := context.WithoutCancel(ctx)
			if len(arrays) > 0 {
				if _, cancelled := runCommand(ctx, "scancel", arrays...); cancelled != nil {
					err = fmt.Errorf("%w; jobs %s are still there: %w", err, strings.Join(arrays, ", "), cancelled)
				}
			}
			// By name, too: a job may be in the queue although sbatch did not say so. It is not an
			// error if there is none.
			_, _ = runCommand(ctx, "scancel", "--me", "--name="+s.Name)
			arrays, merge = nil, ""
		}
	}()
	previous := ""
	for _, p := range s.parts(size) {
		if previous, err = sbatch(ctx, s.array(p, previous)); err != nil {
			return arrays, "", err
		}
		arrays = append(arrays, previous)
	}
	merge, err = sbatch(ctx, s.merge(arrays))
	return arrays, merge, err
}

func sbatch(ctx context.Context, args []string) (string, error) {
	out, err := runCommand(ctx, "sbatch", args...)
	if err != nil {
		return "", err
	}
	// "1234", or "1234;cluster" where there are several clusters.
	id, _, _ := strings.Cut(strings.TrimSpace(out), ";")
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return "", &CommandError{"sbatch", fmt.Sprintf("answers %q and not a job's number", out)}
	}
	return id, nil
}

// maxArraySize asks how many indices an array may have; an index is below it.
func maxArraySize(ctx context.Context) (int, error) {
	out, err := runCommand(ctx, "scontrol", "show", "config")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(out) {
		if name, value, _ := strings.Cut(line, "="); strings.TrimSpace(name) == "MaxArraySize" {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 1 {
				return 0, &CommandError{
					"scontrol",
					fmt.Sprintf("says MaxArraySize = %s; at least 1 is needed for arrays", strings.TrimSpace(value)),
				}
			}
			return n, nil
		}
	}
	return 0, &CommandError{"scontrol", "show config has no MaxArraySize"}
}
