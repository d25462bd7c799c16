package layout

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/strictcsv"
)

// A Named is a layout in a file, with the nodes and the GPUs that have it.
type Named struct {
	// Label is the label in mig-parted's file, or the nodes in gres.conf. "" means all nodes.
	Label string
	// Devices are the GPUs of a node; nil means all.
	Devices []int
	// Profiles are the instances of each of these GPUs or, in gres.conf, of the whole node. In mig-parted's file, a
	// layout without profiles switches MIG off.
	Profiles []*mig.Profile
	// Whole is the number of GPUs of a node with MIG off, in gres.conf; those without a Count or a File are not known.
	Whole int
	// Line is the line in the file, from 1.
	Line int
	// filtered says that mig-parted's file names the devices that the entry is for.
	filtered bool
}

// Others describes the entries of a file that are for other models.
type Others struct {
	// Entries is their number.
	Entries int
	// Unknown lists the profiles that belong to no known model, with their lines.
	Unknown []string
}

// add counts an entry for another model. profile is its first unknown profile, or "".
func (o *Others) add(profile string, line int) {
	o.Entries++
	if profile != "" && !anyModelHas(profile) {
		o.Unknown = append(o.Unknown, fmt.Sprintf("%s (line %d)", profile, line))
	}
}

// partedFile is the file of mig-parted (NVIDIA/mig-parted, api/spec/v1).
type partedFile struct {
	Version string    `yaml:"version"`
	Configs yaml.Node `yaml:"mig-configs"`
}

// partedEntry is an element of a configuration.
type partedEntry struct {
	Filter  any            `yaml:"device-filter,omitempty"`
	Devices any            `yaml:"devices"`
	Enabled bool           `yaml:"mig-enabled"`
	MIG     map[string]int `yaml:"mig-devices"`
}

// IsFile says that a layout is the name of a file: gres.conf, mig-parted's YAML, or - for either from standard input.
func IsFile(text string) bool {
	return text == "-" || slices.Contains([]string{".conf", ".yaml", ".yml"}, filepath.Ext(text))
}

// Read reads gres.conf or mig-parted's YAML, which has mig-configs. It returns the layouts of a GPU model, and counts
// the entries of others. gres says that the file is gres.conf. isModel says whether a type of Slurm names the model. An
// error names the file and, where there is one, the line.
func Read(r io.Reader, file string, g *mig.GPU, isModel func(name string) bool,
) (layouts []Named, others Others, gres bool, err error) {
	text, err := io.ReadAll(strictcsv.Limit(r, file))
	if err != nil {
		return nil, others, false, err
	}
	gres = filepath.Ext(file) == ".conf" || filepath.Ext(file) == "" && !bytes.Contains(text, []byte("mig-configs:"))
	if gres {
		layouts, others, err = ReadGres(bytes.NewReader(text), file, g, isModel)
	} else {
		layouts, others, err = ReadMigParted(bytes.NewReader(text), file, g)
	}
	if err == nil && len(layouts) == 0 && others.Unknown == nil {
		err = fmt.Errorf("%s has no layouts of %s", file, g)
	}
	return layouts, others, gres, err
}

// WriteMigParted writes layouts as a file of mig-parted. Layouts of one label must follow each other. comment becomes
// the first lines. It passes on the errors of w.
func WriteMigParted(w io.Writer, comment string, layouts []Named) error {
	configs := yaml.Node{Kind: yaml.MappingNode}
	for i, l := range layouts {
		if i == 0 || l.Label != layouts[i-1].Label {
			configs.Content = append(configs.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: l.Label},
				&yaml.Node{Kind: yaml.SequenceNode})
		}
		entry := partedEntry{Devices: "all", Enabled: len(l.Profiles) > 0, MIG: map[string]int{}}
		if l.Devices != nil {
			entry.Devices = l.Devices
		}
		for _, p := range l.Profiles {
			entry.MIG[p.String()]++
		}
		var node yaml.Node
		if err := node.Encode(entry); err != nil {
			return err
		}
		list := configs.Content[len(configs.Content)-1]
		list.Content = append(list.Content, &node)
	}
	for line := range strings.Lines(comment) {
		fmt.Fprintln(w, "# "+strings.TrimSpace(line))
	}
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	return errors.Join(e.Encode(partedFile{"v1", configs}), e.Close())
}

// ReadMigParted reads the layouts of a GPU model from a file of mig-parted, in the order of the file. An entry without
// instances has no profiles. It leaves out entries with a profile that the model lacks, and entries with a device
// filter that do not fit, if another filtered entry of the label fits. Errors name the file and the line.
func ReadMigParted(r io.Reader, file string, g *mig.GPU) (layouts []Named, others Others, err error) {
	var doc partedFile
	if err := yaml.NewDecoder(r).Decode(&doc); err != nil {
		return nil, others, fmt.Errorf("%s: %w", file, err)
	}
	fail := func(at *yaml.Node, format string, args ...any) ([]Named, Others, error) {
		return nil, others, fmt.Errorf("%s:%d: "+format, append([]any{file, max(at.Line, 1)}, args...)...)
	}
	if doc.Version != "v1" {
		return fail(&yaml.Node{}, "the version is %q; it must be v1", doc.Version)
	}
	if doc.Configs.Kind != yaml.MappingNode {
		return fail(&doc.Configs, "mig-configs must be a map from labels to lists")
	}
	for i := 0; i < len(doc.Configs.Content); i += 2 {
		label, list := doc.Configs.Content[i].Value, doc.Configs.Content[i+1]
		if list.Kind != yaml.SequenceNode {
			return fail(list, "%s must be a list of devices with their instances", label)
		}
		var own []Named
		for _, node := range list.Content {
			l, unknown, err := readEntry(g, node)
			if err != nil {
				return fail(node, "%s: %w", label, err)
			}
			if unknown != "" {
				others.add(unknown, node.Line)
				continue
			}
			l.Label = label
			if err := l.repeats(own); err != nil {
				return fail(node, "%s: %w", label, err)
			}
			own = append(own, l)
		}
		entries := len(own)
		own = selectFiltered(g, own)
		others.Entries += entries - len(own)
		layouts = append(layouts, own...)
	}
	return layouts, others, nil
}

// repeats returns an error if an entry names a device twice, or one that earlier entries of the label have. Entries
// with a filter may be for different models.
func (l *Named) repeats(earlier []Named) error {
	for i, device := range l.Devices {
		if slices.Contains(l.Devices[:i], device) {
			return fmt.Errorf("device %d is there twice", device)
		}
	}
	for _, e := range earlier {
		shared := func(device int) bool { return e.Devices == nil || slices.Contains(e.Devices, device) }
		all := l.Devices == nil || e.Devices == nil
		if !l.filtered && !e.filtered && (all || slices.ContainsFunc(l.Devices, shared)) {
			return fmt.Errorf("the entry on line %d has some of these devices, too", e.Line)
		}
	}
	return nil
}

// selectFiltered returns the entries of a label without the filtered ones that do not fit, if another filtered one
// fits.
func selectFiltered(g *mig.GPU, own []Named) []Named {
	fits := func(l Named) bool {
		_, ok := Fit(g, l.Profiles)
		return ok
	}
	if !slices.ContainsFunc(own, func(l Named) bool { return l.filtered && fits(l) }) {
		return own
	}
	return slices.DeleteFunc(own, func(l Named) bool { return l.filtered && !fits(l) })
}

// readEntry reads an element of a configuration. unknown is the first profile that the model does not have, or "".
func readEntry(g *mig.GPU, node *yaml.Node) (l Named, unknown string, err error) {
	if node.Kind == yaml.MappingNode {
		for i := 0; i < len(node.Content); i += 2 {
			name, known := node.Content[i].Value, []string{"device-filter", "devices", "mig-enabled", "mig-devices"}
			if !slices.Contains(known, name) {
				return l, "", nearest.Unknown("field", name, known)
			}
		}
	}
	var e partedEntry
	if err := node.Decode(&e); err != nil {
		return l, "", err
	}
	l.Line, l.filtered = node.Line, e.Filter != nil
	switch devices := e.Devices.(type) {
	case []any:
		for _, d := range devices {
			n, ok := d.(int)
			if !ok || n < 0 {
				return l, "", fmt.Errorf("device %v is not a whole number from 0", d)
			}
			l.Devices = append(l.Devices, n)
		}
	case string:
		if devices != "all" {
			return l, "", fmt.Errorf("devices is %q; write all or a list of numbers", devices)
		}
	default:
		return l, "", fmt.Errorf("devices is %v; write all or a list of numbers", devices)
	}
	if !e.Enabled && len(e.MIG) > 0 {
		return l, "", errors.New("mig-enabled is false, so that it cannot have mig-devices")
	}
	for _, name := range slices.Sorted(maps.Keys(e.MIG)) {
		n := e.MIG[name]
		if n < 1 || n > maxCount {
			return l, "", fmt.Errorf("%s: %d; write how many instances, from 1 to %d", name, n, maxCount)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.MIG)) {
		p, err := g.ProfileByName(name)
		if err != nil {
			return l, name, nil
		}
		l.Profiles = append(l.Profiles, slices.Repeat([]*mig.Profile{p}, e.MIG[name])...)
	}
	return l, "", nil
}

// anyModelHas reports whether some model has a profile of this name.
func anyModelHas(name string) bool {
	return slices.ContainsFunc(mig.GPUs(), func(g *mig.GPU) bool {
		_, err := g.ProfileByName(name)
		return err == nil
	})
}

// Types are the types of GPUs in gres.conf.
type Types struct {
	// Prefix comes before the profile, as in a100_1g.5gb.
	Prefix string
	// Whole is the type of GPUs with MIG off. Slurm refuses a node on which only some GPUs have a type.
	Whole string
}

// An entry is a type in gres.conf with the number of its GPUs or instances.
type entry struct {
	kind   string
	number int
}

// entries returns the types of a layout.
func (t Types) entries(l Named) (out []entry) {
	for _, k := range count(l.Profiles) {
		out = append(out, entry{t.Prefix + k.profile.String(), k.number})
	}
	if l.Whole > 0 {
		out = append(out, entry{t.Whole, l.Whole})
	}
	return out
}

// WriteGres writes the lines of gres.conf for nodes with instances. Comments have the lines that slurm.conf needs. The
// labels of the layouts name the nodes. It passes on the errors of w.
func WriteGres(w io.Writer, comment string, layouts []Named, types Types) error {
	b := bufio.NewWriter(w)
	for line := range strings.Lines(comment) {
		fmt.Fprintln(b, "# "+strings.TrimSpace(line))
	}
	fmt.Fprintln(b, "# In slurm.conf:")
	fmt.Fprintln(b, "# GresTypes=gpu")
	for _, l := range layouts {
		fmt.Fprintln(b, "# "+NodeLine(l, types))
	}
	fmt.Fprintln(b, "# NVML finds the device files, without which jobs are not confined to their instances:")
	fmt.Fprintln(b, "AutoDetect=nvml")
	for _, l := range layouts {
		for _, e := range types.entries(l) {
			fmt.Fprintf(b, "NodeName=%s Name=gpu Type=%s Count=%d\n", l.Label, e.kind, e.number)
		}
	}
	return b.Flush()
}

// NodeLine returns the line of slurm.conf for the nodes of a layout.
func NodeLine(l Named, types Types) string {
	gres := nearest.Names(types.entries(l), func(e entry) string { return fmt.Sprintf("gpu:%s:%d", e.kind, e.number) })
	return fmt.Sprintf("NodeName=%s Gres=%s", l.Label, strings.Join(gres, ","))
}

// deviceRange finds the ranges in a list of device files such as /dev/nvidia[0-2,7].
var deviceRange = regexp.MustCompile(`[\[,](\d+)-(\d+)`)

// countFiles returns the number of files in a list of device files.
func countFiles(list string) int {
	n := len(strings.FieldsFunc(list, func(r rune) bool { return r == ',' }))
	for _, bounds := range deviceRange.FindAllStringSubmatch(list, -1) {
		first, _ := strconv.Atoi(bounds[1])
		last, _ := strconv.Atoi(bounds[2])
		n += last - first
	}
	return n
}

// ReadGres reads the instances and whole GPUs of nodes from gres.conf. It reads the lines with Name=gpu. A Type with a
// g and a dot ends with a profile; other lines with a Count or a File are of whole GPUs. The rest of a type may be the
// name of a GPU, as in a100_1g.5gb: if it has a digit and isModel denies it, the line is for another model and left
// out. Errors name the file and the line.
func ReadGres(r io.Reader, file string, g *mig.GPU, isModel func(name string) bool,
) (layouts []Named, others Others, err error) {
	in := bufio.NewScanner(r)
	for line := 1; in.Scan(); line++ {
		values, err := gresValues(in.Text())
		if err != nil {
			return nil, others, fmt.Errorf("%s:%d: %w", file, line, err)
		}
		model, name, files := values["type"], "", countFiles(values["file"])
		if strings.Contains(model, "g.") {
			cut := strings.LastIndex(model, "_")
			model, name, files = model[:max(cut, 0)], model[cut+1:], max(files, 1)
		}
		if !strings.EqualFold(values["name"], "gpu") || values["count"] == "" && files == 0 {
			continue
		}
		if strings.ContainsAny(model, "0123456789") && !isModel(model) {
			others.add(name, line)
			continue
		}
		n, err := strconv.Atoi(cmp.Or(values["count"], strconv.Itoa(files)))
		if err != nil || n < 1 || n > maxCount {
			return nil, others, fmt.Errorf("%s:%d: Count is %q; write a whole number from 1 to %d", file, line,
				values["count"], maxCount)
		}
		i := slices.IndexFunc(layouts, func(l Named) bool { return l.Label == values["nodename"] })
		if i < 0 {
			i, layouts = len(layouts), append(layouts, Named{Label: values["nodename"], Line: line})
		}
		if name == "" {
			layouts[i].Whole += n
			continue
		}
		p, err := g.ProfileByName(name)
		if err != nil {
			return nil, others, fmt.Errorf("%s:%d: Type: %w", file, line, err)
		}
		layouts[i].Profiles = append(layouts[i].Profiles, slices.Repeat([]*mig.Profile{p}, n)...)
	}
	return layouts, others, in.Err()
}

// gresValues returns the values of a line of gres.conf by their keys in lower case.
func gresValues(line string) (map[string]string, error) {
	text, _, _ := strings.Cut(line, "#")
	values := map[string]string{}
	for _, word := range strings.Fields(text) {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			return nil, fmt.Errorf("%q is not of the form Key=Value", word)
		}
		values[strings.ToLower(key)] = value
	}
	return values, nil
}
