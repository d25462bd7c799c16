package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/atomicfile"
	"miglab/harness/sweep"
	"miglab/harness/sweep/kubernetes"
	"miglab/harness/sweep/slurm"
)

func newSubmitKubernetes() *cobra.Command {
	f := newSubmitFlags(engineKubernetes)
	c := &cobra.Command{
		Use:   "kubernetes [flags] -- run|reproduce|train ...",
		Short: "Write a Kubernetes manifest for the tasks",
	}
	f.add(c)
	c.Flags().StringVar(&f.image, "image", "", "container image of miglab")
	c.Flags().StringVar(&f.claim, "claim", "", "claim of the volume that all pods share")
	c.Flags().StringVar(&f.mount, "mount", "", "where this machine and the pods have that volume")
	c.Flags().StringVar(&f.cpu, "cpu", f.cpu, "processors of a task")
	c.Flags().StringVar(&f.memory, "memory", f.memory, "memory of a task")
	c.Flags().StringVar(&f.user, "user", "", "user and group that own the results, as in 1000:1000 (default: yours)")
	return c
}

// kubernetes writes the manifest of tasks and of a merge, for kubectl.
func (f *submitFlags) kubernetes(c *cobra.Command, s *openSweep, n submission) error {
	if len(n.tasks) == 0 {
		s.describe(c, n)
		fmt.Fprintf(c.OutOrStdout(), "nothing is missing; merge with: miglab merge %s\n", slurm.Word(s.dir))
		return nil
	}
	user, group, err := f.owner()
	if err != nil {
		return err
	}
	mount, err := filepath.Abs(f.mount)
	if f.mount == "" || f.image == "" || f.claim == "" {
		return fmt.Errorf("miglab submit kubernetes needs --image, --claim and --mount: the image of miglab, " +
			"the claim of the shared volume, and where it is mounted")
	}
	if err != nil {
		return err
	}
	// A Job has consecutive tasks. One between those that miss results has nothing to do and ends at once.
	first, last := n.tasks[0], n.tasks[len(n.tasks)-1]
	manifest, err := kubernetes.Manifest(kubernetes.Options{
		Name: n.name, Image: f.image, Claim: f.claim, Mount: mount, Dir: s.plan.Dir, Sweep: s.dir,
		First: first, Tasks: last - first +
			1, Parallelism: f.arrayLimit, CPU: f.cpu, Memory: f.memory, User: user, Group: group,
	})
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, "job.yaml")
	if f.dryRun {
		s.describe(c, n)
		fmt.Fprintf(c.OutOrStdout(), "\n%s:\n%s", path, manifest)
		return nil
	}
	if err := s.submit(n, func() (sweep.Job, error) {
		job := sweep.Job{Engine: engineKubernetes, IDs: []string{n.name}, Merge: n.name + "-merge"}
		for _, file := range [][2]string{{"job.yaml", string(manifest)}, {"Dockerfile", kubernetes.Dockerfile()}} {
			if err := atomicfile.Write(filepath.Join(s.dir, file[0]), []byte(file[1])); err != nil {
				return job, err
			}
		}
		return job, nil
	}); err != nil {
		return err
	}
	s.describe(c, n)
	fmt.Fprintf(c.OutOrStdout(),
		"submit   kubectl apply -f %s\nmerge    the first lines of that file say how\nwatch    miglab status --watch "+
			"%s\n",
		slurm.Word(path), slurm.Word(s.dir))
	if f.watch {
		return s.watch(c)
	}
	return nil
}

// owner returns whom the results belong to.
func (f *submitFlags) owner() (user, group int, err error) {
	if f.user == "" {
		return os.Getuid(), os.Getgid(), nil
	}
	u, g, ok := strings.Cut(f.user, ":")
	user, first := strconv.Atoi(u)
	group, second := strconv.Atoi(g)
	if !ok || first != nil || second != nil {
		return 0, 0, fmt.Errorf("--user %q: a user's and a group's number, as in 1000:1000", f.user)
	}
	return user, group, nil
}
