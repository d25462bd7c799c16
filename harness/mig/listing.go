package mig

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The lines of nvidia-smi mig -lgip and -lgipp: GPU, name, number, instances and multiprocessors of a profile, and GPU,
// number, starts and length of its placements.
var (
	profileLine = regexp.MustCompile(`^\|\s+(\d+)\s+MIG (\d{1,2})g\.(\d{1,4})gb(\S*)\s+(\d{1,4})` +
		`\s+\d+/(\d{1,3})\s+\S+\s+(?:No|Yes)\s+(\d{1,4})\s`)
	placementLine = regexp.MustCompile(`^GPU\s+(\d+) Profile ID\s+(\d{1,4}) ` +
		`Placements?\s*:\s*\{((?:\d{1,3},)*\d{1,3})\}:(\d{1,3})\b`)
)

// listingSuffix ends the names of files with listings.
const listingSuffix = ".txt"

// parseListing makes a model of the output of nvidia-smi mig -lgip and -lgipp for one GPU, with the name of the file.
// It does not register the model. The listing has no times to create and destroy instances; those of another model are
// assumed.
func parseListing(text []byte, file string) (*GPU, error) {
	name := strings.TrimSuffix(filepath.Base(file), listingSuffix)
	g := &GPU{Name: name, Origin: "from a listing of nvidia-smi", file: "in " + file}
	var gpu string
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		m := profileLine.FindStringSubmatch(line)
		if m == nil {
			m = placementLine.FindStringSubmatch(line)
		}
		if m == nil {
			continue
		}
		if gpu != "" && gpu != m[1] {
			return nil, fmt.Errorf("%s:%d: GPU %s comes after GPU %s; list one GPU, with nvidia-smi mig -i %s", file,
				i+1, m[1], gpu, gpu)
		}
		gpu = m[1]
		if err := g.addLine(m); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	if len(g.Profiles) == 0 {
		return nil, fmt.Errorf("%s has no profiles; write into it what nvidia-smi mig -i 0 -lgip prints and then what "+
			"-lgipp prints", file)
	}
	return g, g.completeListing()
}

// addLine adds the profile or the placements of a line.
func (g *GPU) addLine(m []string) error {
	number := func(text string) Slices {
		n, _ := strconv.Atoi(text) // the patterns have few digits
		return Slices(n)
	}
	if len(m) == 8 {
		g.Profiles = append(g.Profiles, &Profile{
			Size: number(m[2]), MemoryGB: int(number(m[3])), MediaExtensions: m[4] == "+me", ID: int(number(m[5])),
			Max: int(number(m[6])), SMs: int(number(m[7])), Variant: strings.TrimSuffix(m[4], "+me"),
		})
		return nil
	}
	i := slices.IndexFunc(g.Profiles, func(p *Profile) bool { return p.ID == int(number(m[2])) })
	if i < 0 {
		return fmt.Errorf("profile %s has placements but is not in the table of -lgip above", m[2])
	}
	p := g.Profiles[i]
	p.Length = number(m[4])
	for start := range strings.SplitSeq(m[3], ",") {
		p.Starts = append(p.Starts, number(start))
	}
	slices.Sort(p.Starts)
	return nil
}

// completeListing derives the rest of the model from its profiles.
func (g *GPU) completeListing() error {
	var unit Slices
	for _, p := range g.Profiles {
		if p.Length == 0 {
			return fmt.Errorf("profile %v of %s has no placements; add what nvidia-smi mig -lgipp prints", p, g.Name)
		}
		for _, n := range append(p.Starts, p.Length) { // the greatest common divisor
			for n != 0 {
				unit, n = n, unit%n
			}
		}
		g.ComputeSlices = max(g.ComputeSlices, p.Size)
	}
	like := MustLookup("H100")
	if g.ComputeSlices <= 4 {
		like = MustLookup("A30")
	}
	all := g.Profiles
	g.Profiles = nil
	for _, p := range all {
		p.Length /= unit
		for i := range p.Starts {
			p.Starts[i] /= unit
		}
		g.MemorySlices = max(g.MemorySlices, p.Length)
		p.Create, p.Destroy, g.CostSource = like.CostsLike(p.Size)
		most := func(q *Profile) bool { return q.Size == p.Size && q.Variant == "" && q.Max > p.Max }
		p.DoubleMemory = p.Size == 1 && p.Variant == "" && !p.MediaExtensions && slices.ContainsFunc(all, most)
		if p.Variant == "" {
			g.Profiles = append(g.Profiles, p)
		} else {
			g.Others = append(g.Others, p)
		}
	}
	if unit > 1 {
		g.DriverSlices = unit
	}
	slices.SortStableFunc(g.Profiles, func(a, b *Profile) int { return int(a.Size - b.Size) })
	return nil
}
