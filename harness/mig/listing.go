package mig

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The lines of nvidia-smi mig -lgip and -lgipp. The groups of profileLine are the GPU and a profile's compute slices,
// GB, the end of its name, ID, largest number of instances and multiprocessors. The groups of placementLine are the GPU
// and a profile's ID, starts and length.
var (
	profileLine = regexp.MustCompile(`^\|\s+(\d+)\s+MIG (\d{1,2})g\.(\d{1,4})gb(\S*)\s+(\d{1,4})` +
		`\s+\d+/(\d{1,3})\s+\S+\s+(?:No|Yes)\s+(\d{1,4})\s`)
	placementLine = regexp.MustCompile(`^GPU\s+(\d+) Profile ID\s+(\d{1,4}) ` +
		`Placements?\s*:\s*\{((?:\d{1,3},)*\d{1,3})\}:(\d{1,3})\b`)
)

// listingSuffix ends the names of files with listings.
const listingSuffix = ".txt"

// parseListing makes a model of the output of nvidia-smi mig -lgip and -lgipp for one GPU, with the name of the file.
// It does not register the model. The listing has no times to create and destroy instances, which are assumed
// to be the times of another model.
func parseListing(text []byte, file string) (*GPU, error) {
	name := strings.TrimSuffix(filepath.Base(file), listingSuffix)
	g := &GPU{Name: name, Origin: "from a listing of nvidia-smi", file: "in " + file}
	var gpu string
	for i, line := range strings.Split(string(text), "\n") {
		line = strings.TrimSpace(line)
		m, add := profileLine.FindStringSubmatch(line), g.addProfile
		if m == nil {
			m, add = placementLine.FindStringSubmatch(line), g.addPlacements
		}
		if m == nil {
			continue
		}
		if gpu != "" && gpu != m[1] {
			return nil, fmt.Errorf("%s:%d: GPU %s comes after GPU %s; list one GPU, with nvidia-smi mig -i %s", file,
				i+1, m[1], gpu, gpu)
		}
		gpu = m[1]
		if err := add(m); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
	}
	if len(g.Profiles) == 0 {
		return nil, fmt.Errorf("%s has no profiles; write into it what nvidia-smi mig -i 0 -lgip prints and then what "+
			"-lgipp prints", file)
	}
	return g, g.completeListing()
}

// digits returns the number of a group of digits, which are too few to overflow.
func digits(group string) int {
	n, _ := strconv.Atoi(group)
	return n
}

// addProfile adds the profile of a profileLine. It returns no error.
func (g *GPU) addProfile(m []string) error {
	g.Profiles = append(g.Profiles, &Profile{
		Size: Slices(digits(m[2])), MemoryGB: digits(m[3]), MediaExtensions: m[4] == "+me", ID: digits(m[5]),
		Max: digits(m[6]), SMs: digits(m[7]), Variant: strings.TrimSuffix(m[4], "+me"),
	})
	return nil
}

// addPlacements adds the placements of a placementLine to their profile.
func (g *GPU) addPlacements(m []string) error {
	i := slices.IndexFunc(g.Profiles, func(p *Profile) bool { return p.ID == digits(m[2]) })
	if i < 0 {
		return fmt.Errorf("profile %s has placements but is not in the table of -lgip above", m[2])
	}
	p := g.Profiles[i]
	p.Length = Slices(digits(m[4]))
	for start := range strings.SplitSeq(m[3], ",") {
		p.Starts = append(p.Starts, Slices(digits(start)))
	}
	slices.Sort(p.Starts)
	return nil
}

// completeListing derives the rest of the model from its profiles.
func (g *GPU) completeListing() error {
	for _, p := range g.Profiles {
		if p.Length == 0 {
			return fmt.Errorf("profile %v of %s has no placements; add what nvidia-smi mig -lgipp prints", p, g.Name)
		}
		smaller := func(q *Profile) bool { return q.Size == p.Size && q.Variant == "" && q.Max > p.Max }
		p.DoubleMemory = p.Size == 1 && p.Variant == "" && !p.MediaExtensions &&
			slices.ContainsFunc(g.Profiles, smaller)
	}
	costs := MustLookup("H100")
	if slices.MaxFunc(g.Profiles, func(a, b *Profile) int { return int(a.Size - b.Size) }).Size <= 4 {
		costs = MustLookup("A30")
	}
	g.Complete(costs)
	return nil
}
