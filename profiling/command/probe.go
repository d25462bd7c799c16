package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"miglab/harness/mig"
	"miglab/profiling"
	"miglab/profiling/cuda"
	"miglab/profiling/measure"
	"miglab/profiling/session"
)

// probeName is the hidden command that a probe starts.
const probeName = "cuda-probe"

// newProbe returns a command that opens the CUDA device and prints its UUID.
func newProbe() *cobra.Command {
	return &cobra.Command{
		Use: probeName, Short: "Open the CUDA device and print its UUID", Hidden: true,
		Example: "  miglab " + probeName,
		RunE: func(c *cobra.Command, _ []string) error {
			device, err := cuda.Open()
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), device.Facts.UUID)
			return device.Close()
		},
	}
}

// probe makes the smallest instance that it can, or takes one that exists, and opens it by CUDA: where the device files
// of new instances are missing, as in many containers, every kernel would crash. Without CUDA's library it does
// nothing: then kernels are programs that may do without CUDA.
func probe(ctx context.Context, s *session.Session) error {
	if cuda.Installed() != nil {
		return nil
	}
	model, candidates := s.Identity().Model, s.Device().Existing()
	if len(candidates) == 0 {
		for _, size := range model.Sizes() {
			for _, start := range model.Profile(size).Starts {
				candidates = append(candidates, mig.Instance{Profile: model.Profile(size), Start: start})
			}
		}
	}
	for _, at := range candidates {
		on, _, err := s.Create(ctx, at)
		if errors.Is(err, profiling.ErrInsufficient) { // others have instances there
			continue
		}
		if err != nil {
			return err
		}
		err = openByCUDA(ctx, on)
		_, left := s.Destroy(ctx, on)
		return errors.Join(err, left)
	}
	return nil
}

// openByCUDA opens an instance by CUDA, in a process of its own.
func openByCUDA(ctx context.Context, on profiling.Instance) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, program, probeName)
	c.Env = append(profiling.Environ(), on.Env...)
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	switch uuid := strings.TrimSpace(string(out)); {
	case err != nil:
		said := strings.TrimPrefix(strings.Join(strings.Fields(stderr.String()), " "), "miglab: ")
		err = fmt.Errorf("the driver made the instance, and CUDA cannot use it (%w): %s", err, said)
	case uuid != strings.TrimPrefix(on.UUID, "MIG-"):
		err = fmt.Errorf("CUDA used the device %s in its place", uuid)
	default:
		return nil
	}
	return &profiling.DeviceError{
		Op: fmt.Sprintf("open %s (%s) by CUDA", on.Profile, on.UUID), Err: err,
		Remedy: "in a container, the files of new instances in /dev/nvidia-caps are missing: run nvidia-smi " +
			"on the host, start the container with all of /dev/nvidia-caps, or let somebody make the instances " +
			"before and use --mode " + measure.ModeExisting,
	}
}
