package main

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// module is the beginning of this module's import paths.
const module = "miglab/"

// mayImport says which packages of this module each package may import. Everyone
// may import those of helpers, and the commands everything.
var mayImport = map[string]string{
	"harness/atomicfile": "",
	"harness/cli":        "harness/nearest",
	"harness/nearest":    "",
	"harness/portable":   "",
	"harness/strictcsv":  "",
	"harness/strictjson": "",
	"harness/wholefile":  "",
	"harness/deep":       "",
	"harness/heap":       "",
	"harness/numpy":      "",
	"harness/spec":       "",
	"harness/mig":        "",
	"harness/task":       "harness/mig",
	"harness/schedule":   "harness/mig harness/task",
	"harness/algo":       "harness/mig harness/task harness/schedule harness/sim harness/sim/corun",
	"harness/sim":        "harness/heap harness/mig harness/task harness/schedule harness/stats",
	"harness/sim/corun":  "harness/mig harness/task",
	"harness/stats":      "",
	"harness/store":      "",
	"harness/work":       "harness/store",
	"harness/run":        "harness/mig harness/task harness/schedule harness/algo harness/sim harness/sim/corun harness/store harness/track harness/work datasets",
	"harness/track":      "harness/mig harness/task harness/schedule harness/algo harness/sim harness/sim/corun",
	"harness/external":   "harness/mig harness/task harness/schedule harness/sim harness/sim/corun harness/algo harness/store harness/run",
	"algorithms":         "harness/heap harness/mig harness/task harness/schedule harness/stats harness/algo algorithms/plan",
	"algorithms/plan":    "harness/mig harness/schedule harness/algo", // it knows no scheduler
	"algorithms/*":       "harness/mig harness/numpy harness/task harness/schedule harness/algo harness/sim harness/sim/corun",
	"algorithms/rl/nn":   "",

	"harness/layout": "harness/mig",
	"harness/advise": "harness/heap harness/layout harness/mig harness/task harness/algo harness/sim harness/stats harness/work",

	"algorithms/rl/internal/learn": "algorithms/rl/train/curve algorithms/rl/nn algorithms/rl/env",

	"profiling":                   "harness/mig datasets",
	"profiling/nvml":              "harness/mig profiling",
	"profiling/nvml/*":            "profiling/internal/filelock",
	"profiling/devicetest":        "harness/mig profiling profiling/launch",
	"profiling/session":           "harness/mig profiling profiling/internal/filelock",
	"profiling/launch":            "harness/mig profiling",
	"profiling/internal/filelock": "",
	"profiling/kernels":           "profiling/cuda",
	"profiling/cuda":              "profiling",
	"profiling/measure":           "harness/wholefile harness/mig harness/task harness/stats harness/store harness/work datasets reports profiling profiling/cuda profiling/launch profiling/kernels profiling/session harness/strictjson",
	"profiling/command":           "harness/cli harness/algo harness/mig harness/schedule harness/task datasets reports profiling profiling/cuda profiling/execute profiling/launch profiling/kernels profiling/measure profiling/nvml profiling/session",
	"profiling/execute":           "harness/mig harness/schedule datasets reports profiling profiling/launch profiling/measure profiling/session",

	"algorithms/rl/env":    "harness/mig harness/task harness/schedule harness/sim harness/sim/corun algorithms/plan", // the engine of treedp
	"algorithms/rl/ppo":    "algorithms/rl/nn algorithms/rl/env algorithms/rl/internal/learn",
	"algorithms/rl/dqn":    "algorithms/rl/nn algorithms/rl/env algorithms/rl/internal/learn",
	"algorithms/rl/agents": "harness/mig harness/task harness/schedule harness/sim harness/sim/corun harness/algo algorithms/rl/nn algorithms/rl/env",
	"algorithms/rl/train":  "algorithms/rl/train/curve harness/work harness/mig harness/task harness/schedule harness/sim harness/sim/corun harness/algo harness/stats algorithms/rl/nn algorithms/rl/env algorithms/rl/internal/learn algorithms/rl/ppo algorithms/rl/dqn algorithms/rl/agents datasets bounds",

	curves: "harness/stats",

	"algorithms/rl/gym": "harness/mig harness/task harness/schedule harness/algo harness/external algorithms algorithms/rl/env datasets bounds",

	"bounds":                    "harness/heap harness/mig harness/task harness/schedule harness/algo bounds/certificate",
	"bounds/certificate":        "harness/mig harness/task harness/schedule",
	"datasets/traces":           "harness/mig harness/task",
	"datasets":                  "harness/mig harness/numpy harness/task harness/sim/corun datasets/traces",
	"datasets/suite":            "harness/spec harness/mig harness/task harness/schedule harness/algo harness/stats harness/store harness/track harness/work harness/run bounds/certificate datasets",
	"reports":                   "harness/mig harness/task harness/schedule harness/sim/corun",
	"reports/leaderboard":       "harness/mig harness/algo harness/stats datasets harness/store harness/track harness/run reports",
	"reports/advise":            "harness/mig harness/task harness/stats harness/advise harness/layout reports",
	"reports/suite":             "harness/algo harness/store harness/run datasets/suite reports",
	"reports/site":              "harness/mig harness/task harness/schedule harness/algo harness/stats harness/store harness/track harness/run datasets reports reports/leaderboard",
	"paper-figures":             "harness/mig harness/task harness/schedule harness/stats harness/store harness/track harness/work harness/run datasets reports paper-figures/claim paper-figures/manifest paper-figures/render paper-figures/verdict",
	"paper-figures/claim":       "paper-figures/verdict",
	"paper-figures/manifest":    "reports paper-figures/claim paper-figures/verdict",
	"paper-figures/render":      "reports reports/site paper-figures/claim paper-figures/manifest paper-figures/verdict",
	"paper-figures/verdict":     "harness/stats",
	"paper-figures/figurestest": "datasets harness/run harness/store paper-figures paper-figures/claim paper-figures/manifest",
	"paper-figures/*":           "algorithms/rl/train/curve harness/mig harness/task harness/schedule harness/algo harness/sim harness/sim/corun harness/stats harness/store harness/track harness/run datasets reports paper-figures paper-figures/claim paper-figures/verdict",
}

// curves holds the scores of trainings, which papers read. It imports no algorithm, so everything may reach it.
const curves = "algorithms/rl/train/curve"

// neverReach says what a package must not even reach through others. It stands
// beside mayImport so that a line added there cannot lift it unnoticed.
var neverReach = map[string]string{
	"harness/mig":      "harness/task harness/schedule harness/algo",
	"harness/task":     "harness/schedule harness/algo",
	"harness/schedule": "harness/algo harness/sim algorithms",                          // the referee shares no code with what it judges
	"harness/track":    "algorithms bounds datasets harness/store",                     // it knows what a track is, not what there is in it
	"harness/run":      "algorithms bounds",                                            // the command line hands it the registry
	"harness/external": "algorithms bounds",                                            // a program is told about a problem and nothing else
	"algorithms":       "bounds datasets harness/run harness/store harness/atomicfile", // an algorithm sees the problem and nothing else
	"algorithms/*":     "bounds datasets harness/run harness/store harness/atomicfile",

	"algorithms/rl/env":    "bounds datasets harness/run harness/store harness/atomicfile",
	"algorithms/rl/train":  "harness/run paper-figures",                                                                                            // training evaluates with its own environments
	"algorithms/rl/gym":    "algorithms/rl/train paper-figures",                                                                                    // its facts are bounds and FAR's makespans of datasets, for others to learn from
	"algorithms/rl/agents": "bounds datasets harness/run harness/store harness/atomicfile algorithms/rl/ppo algorithms/rl/dqn algorithms/rl/train", // inference needs no training
	"bounds/certificate":   "bounds harness/algo algorithms",                                                                                       // it judges what they claim
	"datasets/suite":       "algorithms",                                                                                                           // it verifies without a solver
	"reports/suite":        "algorithms",                                                                                                           // as datasets/suite
	"reports":              "algorithms bounds harness/run",                                                                                        // nothing is scheduled outside package run
	"reports/*":            "algorithms bounds",                                                                                                    // they run algorithms through harness/run alone
	"paper-figures":        "algorithms bounds",
	"paper-figures/*":      "algorithms bounds",
}

// notForAlgorithms are the standard packages with clocks, files and randomness
// that no seed of the problem decides.
const notForAlgorithms = "crypto/rand io/fs io/ioutil math/rand math/rand/v2 net net/http os os/exec path/filepath syscall time"

// seeded are the packages whose algorithms draw from a stream that the harness seeds.
var seeded = map[string]string{
	"algorithms":                   "math/rand/v2",
	"algorithms/plan":              "math/rand/v2",
	"algorithms/dispatch":          "math/rand/v2",
	"algorithms/placement":         "math/rand/v2", // random-fit
	"algorithms/rl/nn":             "math/rand/v2",
	"algorithms/rl/env":            "math/rand/v2",
	"algorithms/rl/gym":            "math/rand/v2",
	"algorithms/rl/internal/learn": "math/rand/v2",
	"algorithms/rl/ppo":            "math/rand/v2",
	"algorithms/rl/dqn":            "math/rand/v2",
	"algorithms/rl/agents":         "math/rand/v2",
}

// A goPackage is what go list says about a package, tests left out.
type goPackage struct {
	ImportPath, Name string
	Imports, Deps    []string
}

func (p *goPackage) name() string { return strings.TrimPrefix(p.ImportPath, module) }

func goPackages(t *testing.T) []goPackage {
	t.Helper()
	list := exec.Command("go", "list", "-json=ImportPath,Name,Imports,Deps", "./...")
	list.Dir = root
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

// lookup finds a package's line: its own, or that of its folder with an asterisk.
func lookup(lines map[string]string, name string) ([]string, bool) {
	line, ok := lines[name]
	for dir := path.Dir(name); !ok && dir != "."; dir = path.Dir(dir) {
		line, ok = lines[dir+"/*"]
	}
	return strings.Fields(line), ok
}

// within reports whether a package is one of those named or below one.
func within(name string, named []string) bool {
	return slices.ContainsFunc(named, func(n string) bool { return name == n || strings.HasPrefix(name, n+"/") })
}

func TestImportsFollowTheArchitecture(t *testing.T) {
	helpers := []string{"harness/atomicfile", "harness/deep", "harness/nearest", "harness/portable", "harness/spec", "harness/strictcsv", "harness/strictjson", "harness/wholefile"}
	packages := goPackages(t)
	if len(packages) < 14 {
		t.Fatalf("go list knows %d packages only", len(packages))
	}
	for _, p := range packages {
		if within(p.name(), []string{"harness/cmd"}) {
			continue
		}
		allowed, ok := lookup(mayImport, p.name())
		if !ok {
			t.Errorf("%s has no line in mayImport; add one that says what it may import", p.name())
		}
		for _, i := range p.Imports {
			own, is := strings.CutPrefix(i, module)
			if is && !slices.Contains(helpers, own) && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s; it may import %q", p.name(), own, allowed)
			}
			if first, _, _ := strings.Cut(i, "/"); p.name() == "harness/mig" && !is && strings.Contains(first, ".") {
				t.Errorf("%s imports %s; it is to stand on the standard library alone", p.name(), i)
			}
			if within(p.name(), []string{"algorithms"}) && !within(p.name(), []string{"algorithms/rl/train", "algorithms/algotest"}) && slices.Contains(strings.Fields(notForAlgorithms), i) && seeded[p.name()] != i {
				t.Errorf("%s imports %s; algorithms read no clocks, files or global randomness", p.name(), i)
			}
		}
		forbidden, _ := lookup(neverReach, p.name())
		for _, d := range p.Deps {
			own, is := strings.CutPrefix(d, module)
			if is && own != curves && (within(own, forbidden) || within(own, []string{"profiling"}) && !within(p.name(), []string{"profiling"})) {
				t.Errorf("%s reaches %s", p.name(), own)
			}
		}
	}
}

// ownPools are the packages outside harness/work that limit how many goroutines run at a time.
var ownPools = map[string]string{
	"algorithms/rl/internal/learn": "training keeps no results",
	"profiling/measure":            "its goroutines are threads of a GPU's driver",
	"reports/leaderboard":          "it reads results",
}

// processState has the package-level variables that change after the program's start, and why no command that reads a
// file or a flag changes what another finds in them.
var processState = map[string]string{
	"algorithms/corun.menus":             "a cache by families of the program",
	"algorithms/rl/agents.files":         "a cache of weights: the program's by name, a user's by path",
	"algorithms/rl/agents.policies":      "a cache of the program's weights",
	"datasets.families":                  "declarations add to it",
	"harness/algo.newClock":              "a declaration sets it",
	"harness/algo.prefixes":              "declarations add to it",
	"harness/algo.registry":              "declarations add to it",
	"harness/external.alive":             "the processes of programs in other languages, which must not outlive this one",
	"harness/external.hashes":            "a cache by a file's path, size and time",
	"harness/external.programs":          "processes by the content of a program",
	"harness/stats.acceleratedIntervals": "a cache by values",
	"harness/stats.allPlaces":            "a cache by the number of values",
	"harness/stats.keptPlaces":           "the size of that cache",
	"harness/stats.placesLock":           "the lock of that cache",
	"harness/track.tracks":               "declarations add to it",
	"profiling/measure.experiments":      "declarations add to it",
}

// changes are the methods of packages sync and atomic with which a variable takes other values, and Lock, behind which
// it does.
var changes = []string{"Store", "LoadOrStore", "LoadAndDelete", "Swap", "CompareAndSwap", "Delete", "Clear", "Lock"}

// changedState returns where a function other than init changes a package-level variable of its package: by an
// assignment to it, to a field or to an element, by delete or clear, or by a method of changes. It does not see a change
// through a pointer, or by another method.
func changedState(files []*parsedFile) map[string]string {
	declared := map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					for _, name := range s.(*ast.ValueSpec).Names {
						declared[f.folder()+"."+name.Name] = name.Name != "_"
					}
				}
			}
		}
	}
	found := map[string]string{}
	for _, f := range files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Name.Name != "init" {
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					for _, e := range changedBy(n) {
						if name := f.folder() + "." + f.root(e); declared[name] {
							found[name] = f.set.Position(n.Pos()).String()
						}
					}
					return true
				})
			}
		}
	}
	return found
}

// changedBy returns what a statement or call changes.
func changedBy(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.CallExpr:
		switch f := n.Fun.(type) {
		case *ast.Ident:
			if f.Name == "delete" || f.Name == "clear" {
				return n.Args[:1]
			}
		case *ast.SelectorExpr:
			if slices.Contains(changes, f.Sel.Name) {
				return []ast.Expr{f.X}
			}
		}
	}
	return nil
}

// root returns the variable whose field or element an expression is, unless a function declares it.
func (f *parsedFile) root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			if x.Obj != nil && x.Obj != f.Scope.Lookup(x.Name) {
				return ""
			}
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// TestOnePool: harness/work has the pool of workers, package reflect makes no constructor, and no file that a command
// opens changes a package-level variable.
func TestOnePool(t *testing.T) {
	changed := changedState(sources(t))
	for name, at := range changed {
		if processState[name] == "" {
			t.Errorf("%s: %s changes; give commands a value of their own, such as mig.Catalog, and pass it on", at, name)
		}
	}
	for name := range processState {
		if changed[name] == "" {
			t.Errorf("no function changes %s; remove its line in processState", name)
		}
	}
	readers := []string{"harness/strictcsv", "harness/strictjson"} // of rows and members by the tags of their types
	for _, f := range sources(t) {
		for _, spec := range f.Imports {
			if spec.Path.Value == `"reflect"` && within(f.name, []string{"harness", "datasets"}) && !slices.Contains(readers, f.folder()) {
				t.Errorf("%s imports reflect; constructors are typed by their track", f.name)
			}
		}
		if f.folder() == "harness/work" || ownPools[f.folder()] != "" {
			continue
		}
		ast.Inspect(f.File, func(n ast.Node) bool {
			if called, ok := n.(*ast.SelectorExpr); ok && called.Sel.Name == "SetLimit" {
				t.Errorf("%s has a pool of its own; use work.Each", f.name)
			}
			return true
		})
	}
}

func TestTopLevelFolders(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		// bin and results are made by make and no part of the repository.
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") && e.Name() != "bin" && e.Name() != "results" {
			got = append(got, e.Name())
		}
	}
	want := []string{"algorithms", "bounds", "datasets", "harness", "paper-figures", "profiling", "reports"}
	if !slices.Equal(got, want) {
		t.Errorf("the top level has the folders %q, want %q", got, want)
	}
}
