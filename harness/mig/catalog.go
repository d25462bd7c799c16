package mig

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/strictjson"
	"miglab/harness/wholefile"
)

// A Catalog has the models that a command knows: this package's table, and the models that the command has read from
// files and results databases. The zero value has the table alone. All methods are safe for concurrent use.
type Catalog struct {
	mu    sync.Mutex
	added []*GPU
}

// Lookup finds a model by name or alias and ignores case. Costs may follow the name, as in
// A100?create=0.05&destroy=10x: seconds, or a multiple of the model's. So may a [Power], as in A100?idle=75.4. Lookup
// opens no file, whatever the name. The error is a [*nearest.UnknownError] for an unknown name, or says what is wrong
// with the parameters.
func (c *Catalog) Lookup(name string) (*GPU, error) {
	var names []string
	for _, g := range c.all() {
		for _, n := range g.names() {
			if strings.EqualFold(n, name) {
				return g, nil
			}
			names = append(names, n)
		}
	}
	model, costs := spec.Split(name)
	if costs != nil {
		return c.withCosts(model, costs, c.Lookup)
	}
	return nil, nearest.Unknown("GPU", name, names)
}

// all returns the models of the table, and then the added ones.
func (c *Catalog) all() []*GPU {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Concat(models, c.added)
}

// LookupOrRead is [Catalog.Lookup] for names on the command line. A name that ends with .json is a file in the format
// of [GPU.JSON], for example the gpu.json that miglab profile writes; LookupOrRead adds its model. A name that ends
// with .txt is a file with the output of nvidia-smi mig -lgip and -lgipp. Costs may follow the file's name, too.
func (c *Catalog) LookupOrRead(name string) (*GPU, error) {
	file, costs := spec.Split(name)
	isListing := strings.HasSuffix(file, listingSuffix)
	if !isListing && !strings.HasSuffix(file, ".json") {
		return c.Lookup(name)
	}
	if costs != nil {
		return c.withCosts(file, costs, c.LookupOrRead)
	}
	const limit = 1 << 20 // bytes
	text, err := wholefile.Read(name, limit)
	if err != nil {
		return nil, err
	}
	if isListing {
		g, err := parseListing(text, name)
		if err != nil {
			return nil, err
		}
		return c.Add(g)
	}
	return c.Parse(text, name)
}

// MustLookup is [Catalog.Lookup] in the table, for names in the program's text. It panics on an error.
func MustLookup(name string) *GPU { return spec.Must(new(Catalog).Lookup(name)) }

// Parse reads a model from the text of a file, and adds it. The file's name is used only in errors.
func (c *Catalog) Parse(text []byte, file string) (*GPU, error) {
	var g GPU
	if err := strictjson.Unmarshal(text, &g); err != nil {
		return nil, fmt.Errorf("%s is not a GPU model as miglab profile writes it (gpu.json): %w", file, err)
	}
	g.file = "in " + file
	known, err := c.Add(&g)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return known, nil
}

// Add adds a model that is not in the table of this package, so that [Catalog.Lookup] finds it.
// The argument needs the exported fields only. If the catalog has an equal model, Add returns that one, so that
// pointers to models of one catalog can be compared. A different model of the same name is
// an error, and so is a model that schedulers, simulators and bounds cannot handle.
func (c *Catalog) Add(g *GPU) (*GPU, error) {
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("GPU model %q: %w", g.Name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, known := range slices.Concat(models, c.added) {
		name, shared := known.sharedName(g)
		switch {
		case !shared:
		case known.equal(g):
			return known, nil
		case known.Name == g.Name || name == g.Name && slices.Contains(known.Aliases, name):
			return nil,
				fmt.Errorf("there are two GPU models %s with different profiles: one %s, the other %s; give one of "+
					"them another name", g.Name, known.origin(), g.origin())
		default:
			return nil,
				fmt.Errorf("GPU model %q: %q also names %s, %s; names differ in more than the case of their letters",
					g.Name, name, known, known.origin())
		}
	}
	g.derive()
	c.added = append(c.added, g)
	return g, nil
}

// names returns the name and the aliases.
func (g *GPU) names() []string { return append([]string{g.Name}, g.Aliases...) }

// sharedName returns a name of o under which [Catalog.Lookup] would also find g.
func (g *GPU) sharedName(o *GPU) (name string, ok bool) {
	for _, name := range o.names() {
		if slices.ContainsFunc(g.names(), func(own string) bool { return strings.EqualFold(own, name) }) {
			return name, true
		}
	}
	return "", false
}

// origin says in errors where the model comes from.
func (g *GPU) origin() string {
	if slices.Contains(models, g) {
		return "from the program's table"
	}
	return cmp.Or(g.file, g.Origin, "without an origin")
}

// equal reports whether two models are the same, wherever they come from.
func (g *GPU) equal(o *GPU) bool { return bytes.Equal(g.Definition(), o.Definition()) }
