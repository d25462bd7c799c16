package command

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"miglab/harness/cli"
	"miglab/harness/mig"
	"miglab/profiling"
)

func newPartition() *cobra.Command {
	var gpu *mig.GPU
	var profiles, in, label, format string
	var devices []int
	formats := []string{"mig-parted", "nvidia-smi", "json"}
	c := &cobra.Command{
		Use:     "partition",
		Short:   "Write a partition for other tools: mig-parted, nvidia-smi, or JSON with placements",
		Example: helpText("profile-partition-examples.txt"),
		RunE: func(c *cobra.Command, _ []string) error {
			if (in == "") == (profiles == "") {
				return errors.New("give either --profiles or --in")
			}
			g, p, err := readPartition(gpu, profiles, in)
			if err != nil {
				return err
			}
			w := c.OutOrStdout()
			switch format {
			case "mig-parted":
				return profiling.WriteMIGParted(w, label, devices, p)
			case "nvidia-smi":
				return profiling.WriteNVIDIASMI(w, devices, p)
			}
			return profiling.WritePartition(w, g, p)
		},
	}
	cli.AddFlag(c, &gpu, "gpu", "A100", mig.LookupOrRead, "GPU model (miglab list gpus)")
	c.Flags().StringVar(&profiles, "profiles", "",
		"profiles as NVIDIA names them, separated by commas, or sizes as in 4-2-1")
	c.Flags().StringVar(&in, "in", "", "partition in the JSON that --format json writes")
	c.Flags().StringVar(&label, "label", "miglab", "the configuration's name for mig-parted")
	c.Flags().IntSliceVar(&devices, "devices", nil, "numbers of the GPUs (default: all)")
	cli.AddFlag(c, &format, "format", formats[0], cli.OneOf("format", formats), strings.Join(formats, ", "))
	return c
}

// readPartition reads a file, or NVIDIA's names of profiles, or the sizes of a maximal
// partition.
func readPartition(g *mig.GPU, profiles, in string) (*mig.GPU, mig.Partition, error) {
	if in != "" {
		var p mig.Partition
		g, err := readFile(in, func(r io.Reader, path string) (g *mig.GPU, err error) {
			g, p, err = profiling.ReadPartition(r, path)
			return g, err
		})
		return g, p, err
	}
	parse := profiling.ParseProfiles
	if strings.Trim(profiles, "0123456789-") == "" {
		parse = (*mig.GPU).ParsePartition
	}
	p, err := parse(g, profiles)
	if err != nil {
		return nil, nil, fmt.Errorf("--profiles: %w", err)
	}
	return g, p, nil
}
