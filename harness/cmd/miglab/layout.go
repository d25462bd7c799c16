package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"miglab/datasets/traces"
	"miglab/harness/cli"
	"miglab/harness/layout"
	"miglab/harness/mig"
	"miglab/reports"
)

// The formats of files that check --layout writes.
const migPartedFormat, gresFormat = "mig-parted", "gres"

// layoutFormats are the formats of check --layout.
var layoutFormats = []string{"text", migPartedFormat, gresFormat}

// A checkedLayout is a layout with its plans or, if it does not fit, with changes.
type checkedLayout struct {
	layout.Named
	Fits bool
	// GPUs is the number of GPUs of a node of gres.conf; 0 for a layout of one GPU.
	GPUs int
	// Plans has a plan for each GPU with instances, or the only plan.
	Plans []layout.Plan
	// Changes are the fewest changes after which it fits.
	Changes []layout.Change
}

// checkLayout checks a list of profiles, or all layouts of a file, on GPUs of a model.
func checkLayout(c *cobra.Command, text string, g *mig.GPU, gpus int, format string) error {
	layouts, others, gres, err := readLayouts(text, g)
	switch {
	case err != nil:
		return err
	case !gres && c.Flags().Changed("gpus"):
		return errors.New("--gpus is for gres.conf: other layouts are of one GPU")
	case !gres:
		gpus = 0
	}
	var all []checkedLayout
	wrong := 0
	for _, l := range layouts {
		checked, err := fit(g, l, gpus)
		if err != nil {
			return fmt.Errorf("%s:%d: %w", text, l.Line, err)
		}
		if !checked.Fits {
			wrong++
		}
		all = append(all, checked)
	}
	out := c.OutOrStdout()
	var faults []string
	if wrong > 0 {
		faults = append(faults, fmt.Sprintf("layouts that do not fit on %s: %d of %d", g, wrong, len(all)))
	}
	if others.Unknown != nil {
		faults = append(faults, "profiles that no model here has: "+strings.Join(others.Unknown, ", "))
	}
	failed := cli.FailedError{Err: errors.New(strings.Join(faults, "; "))}
	if faults != nil && format != "text" {
		return failed // a tool would refuse the file
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
	}
	if err != nil || faults == nil {
		return err
	}
	return failed
}

// readLayouts reads a list of profiles or a file. gres says that it is gres.conf.
func readLayouts(text string, g *mig.GPU) (layouts []layout.Named, others layout.Others, gres bool, err error) {
	if !layout.IsFile(text) {
		profiles, err := layout.Parse(g, text)
		if err != nil {
			err = fmt.Errorf("--layout: %w", err)
		}
		return []layout.Named{{Label: "layout", Profiles: profiles}}, others, false, err
	}
	file, text, err := openInput(text)
	if err != nil {
		return nil, others, false, err
	}
	defer file.Close()
	return layout.Read(file, text, g, func(name string) bool { return traces.IsModel(g, name) })
}

// fit checks a layout on the GPUs of a node, or on one GPU if gpus is 0.
func fit(g *mig.GPU, l layout.Named, gpus int) (checkedLayout, error) {
	checked := checkedLayout{Named: l, GPUs: gpus}
	if gpus > 0 {
		plans, ok, err := layout.Divide(g, l.Profiles, max(gpus-l.Whole, 0))
		checked.Plans, checked.Fits = plans, ok && l.Whole <= gpus
		return checked, err
	}
	plan, ok := layout.Fit(g, l.Profiles)
	checked.Plans, checked.Fits = []layout.Plan{plan}, ok
	if !ok {
		checked.Changes = layout.Mend(g, l.Profiles)
	}
	return checked, nil
}

// writeLayouts writes for each layout the instances in the order of creation, or the changes after which it fits.
func writeLayouts(w io.Writer, g *mig.GPU, all []checkedLayout) error {
	for i, l := range all {
		if i > 0 {
			fmt.Fprintln(w)
		}
		verdict := "ok"
		switch whole := cli.Count(l.Whole, "whole GPUs"); {
		case !l.Fits && l.Whole > 0:
			verdict = fmt.Sprintf("does not fit on --gpus %d with %s", l.GPUs, whole)
		case !l.Fits && l.GPUs > 0:
			verdict = fmt.Sprintf("does not fit on --gpus %d", l.GPUs)
		case !l.Fits:
			verdict = "does not fit"
		case l.Whole > 0:
			verdict += ", " + whole
		case len(l.Profiles) == 0:
			verdict += ", no instances"
		}
		fmt.Fprintf(w, "%s on %s: %s\n", cmp.Or(l.Label, "all nodes"), g, verdict)
		if !l.Fits || len(l.Profiles) == 0 && l.GPUs == 0 {
			writeChanges(w, l.Changes)
			continue
		}
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
