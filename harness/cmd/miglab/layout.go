package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets/traces"
	"miglab/harness/cli"
	"miglab/harness/layout"
	"miglab/harness/mig"
	"miglab/harness/strictcsv"
	"miglab/reports"
)

// The formats of files that check --layout writes.
const migPartedFormat, gresFormat = "mig-parted", "gres"

// layoutFormats are the formats of check --layout.
var layoutFormats = []string{"text", migPartedFormat, gresFormat}

// A checkedLayout is a layout with its plans or, if it does not fit, with changes.
type checkedLayout struct {
	layout.Named
	// GPUs is the number of GPUs of a node of gres.conf; 0 for a layout of one GPU.
	GPUs int
	// Plans has a plan for each GPU with instances, or the only plan. It is nil if the layout does not fit.
	Plans []layout.Plan
	// Changes are the fewest changes after which it fits.
	Changes []layout.Change
}

// checkLayout checks a list of profiles, or all layouts of a file, on GPUs of a model.
func checkLayout(c *cobra.Command, text string, g *mig.GPU, gpus int, format string) error {
	gres := strings.HasSuffix(text, gresSuffix)
	switch {
	case !gres && c.Flags().Changed("gpus"):
		return errors.New("--gpus is for gres.conf: other layouts are of one GPU")
	case !gres:
		gpus = 0
	}
	layouts, others, err := readLayouts(text, g)
	if err != nil {
		return err
	}
	var all []checkedLayout
	wrong := 0
	for _, l := range layouts {
		checked, err := fit(g, l, gpus)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", text, l.Line, err)
		}
		if checked.Plans == nil && len(l.Profiles) > 0 {
			wrong++
		}
		all = append(all, checked)
	}
	out := c.OutOrStdout()
	misfit := cli.FailedError{Err: fmt.Errorf("%d of %s not fit on %s", wrong, doCount(len(all), "layouts"), g)}
	if wrong > 0 && format != "text" {
		return misfit // a tool would refuse the file
	}
	switch format {
	case migPartedFormat:
		err = layout.WriteMigParted(out, "miglab check --layout", layouts)
	case gresFormat:
		err = layout.WriteGres(out, "miglab check --layout", layouts,
			layout.Types{Whole: traces.Type(g, nil, false)})
	default:
		err = writeLayouts(out, g, all)
		if err == nil && others.Entries > 0 {
			fmt.Fprintf(out, "entries of other models that were left out: %d\n", others.Entries)
		}
		if err == nil && others.Unknown != nil {
			fmt.Fprintf(out, "profiles in them that no model here has: %s\n", strings.Join(others.Unknown, ", "))
		}
	}
	if err != nil || wrong == 0 {
		return err
	}
	return misfit
}

// fit checks a layout on the GPUs of a node, or on one GPU if gpus is 0.
func fit(g *mig.GPU, l layout.Named, gpus int) (checkedLayout, error) {
	checked := checkedLayout{Named: l, GPUs: gpus}
	if gpus > 0 {
		plans, ok, err := layout.Divide(g, l.Profiles, max(gpus-l.Whole, 0))
		if ok {
			checked.Plans = plans
		}
		return checked, err
	}
	plan, ok := layout.Fit(g, l.Profiles)
	if ok {
		checked.Plans = []layout.Plan{plan}
	} else {
		checked.Changes = layout.Mend(g, l.Profiles)
	}
	return checked, nil
}

// doCount returns a number with its noun and the verb do, as in "1 layout does".
func doCount(n int, plural string) string {
	if n == 1 {
		return cli.Count(n, plural) + " does"
	}
	return cli.Count(n, plural) + " do"
}

// gresSuffix is the end of the names of files that are read as gres.conf.
const gresSuffix = ".conf"

// readLayouts reads a list of profiles, or a file by its name: mig-parted's YAML or gres.conf. others counts the
// entries of other models.
func readLayouts(text string, g *mig.GPU) (layouts []layout.Named, others layout.Others, err error) {
	parted := strings.HasSuffix(text, ".yaml") || strings.HasSuffix(text, ".yml")
	if !parted && !strings.HasSuffix(text, gresSuffix) {
		profiles, err := layout.Parse(g, text)
		if err != nil {
			return nil, others, fmt.Errorf("--layout: %w", err)
		}
		return []layout.Named{{Label: "layout", Profiles: profiles}}, others, nil
	}
	file, err := os.Open(text)
	if err != nil {
		return nil, others, err
	}
	defer file.Close()
	in := strictcsv.Limit(file, text)
	if parted {
		layouts, others, err = layout.ReadMigParted(in, text, g)
	} else {
		layouts, err = layout.ReadGres(in, text, g)
	}
	if err == nil && len(layouts) == 0 {
		err = fmt.Errorf("%s has no layouts of %s", text, g)
	}
	return layouts, others, err
}

// writeLayouts writes for each layout the instances in the order of creation, or the changes after which it fits.
func writeLayouts(w io.Writer, g *mig.GPU, all []checkedLayout) error {
	for i, l := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if len(l.Profiles) == 0 {
			fmt.Fprintf(w, "%s on %s: ok, no instances\n", l.Label, g)
			continue
		}
		if l.Plans == nil {
			fmt.Fprintf(w, "%s on %s: does not fit", l.Label, g)
			if l.GPUs > 0 {
				fmt.Fprintf(w, " on --gpus %d", l.GPUs)
			}
			if l.Whole > 0 {
				fmt.Fprintf(w, ", of which %d are whole", l.Whole)
			}
			fmt.Fprintln(w)
			writeChanges(w, l.Changes)
			continue
		}
		fmt.Fprintf(w, "%s on %s: ok\n", l.Label, g)
		for gpu, plan := range l.Plans {
			t := reports.Table{Columns: reports.Right("order").Left("profile").Right("id", "start", "memory slices")}
			for k, in := range plan.Instances {
				t.Row(k+1, in.Profile, in.Profile.ID, int(in.Start*max(g.DriverSlices, 1)),
					int(in.Profile.Length*max(g.DriverSlices, 1)))
			}
			if l.GPUs > 0 {
				fmt.Fprintf(w, "GPU %d:\n", gpu)
			}
			if err := t.Text(w); err != nil {
				return err
			}
			how := "with these starts"
			if plan.AnyStart {
				how = "in this order, whichever start the driver takes"
			}
			fmt.Fprintf(w, "%s: %s\n", how, plan.Command(g))
		}
		if spare := l.GPUs - l.Whole - len(l.Plans); spare > 0 {
			fmt.Fprintf(w, "GPUs without instances: %d\n", spare)
		}
	}
	return nil
}

func writeChanges(w io.Writer, changes []layout.Change) {
	for _, change := range changes {
		if change.By == nil {
			fmt.Fprintf(w, "leave out %v\n", change.Profile)
		} else {
			fmt.Fprintf(w, "replace %v by %v\n", change.Profile, change.By)
		}
	}
}
