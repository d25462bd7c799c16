package main

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"miglab/harness/deep"
	"miglab/paper-figures/claim"
	"miglab/profiling/launch"
)

// root is the repository.
const root = "../../.."

// pages are the files of the documentation, from the root of the repository.
var pages = []string{
	"README.md", "CONTRIBUTING.md",
	"algorithms/README.md", "algorithms/TUTORIAL.md", "reports/site/CLUSTERS.md", "algorithms/rl/README.md", "algorithms/rl/python/README.md", "bounds/README.md", "datasets/README.md", "datasets/suite/README.md",
	"harness/README.md", "harness/FROM-OTHER-TOOLS.md", "paper-figures/README.md", "paper-figures/ARTIFACT.md", "profiling/README.md", "reports/README.md",
}

// A codeBlock is a fenced block of a page.
type codeBlock struct {
	page string
	// heading is the last heading before the block.
	heading string
	// language is empty for commands.
	language string
	text     string
}

var fence = regexp.MustCompile("^( *)```(.*)$")

// readPage returns the code blocks of a page and the text around them.
func readPage(t *testing.T, page string) (blocks []codeBlock, text string) {
	t.Helper()
	var heading, indent string
	inside := false
	for line := range strings.Lines(mustRead(t, filepath.Join(root, filepath.FromSlash(page)))) {
		m := fence.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		switch {
		case m != nil && inside:
			inside = false
		case m != nil:
			inside, indent = true, m[1]
			blocks = append(blocks, codeBlock{page: page, heading: heading, language: m[2]})
		case inside:
			blocks[len(blocks)-1].text += strings.TrimPrefix(line, indent)
		default:
			text += line
			if title, ok := strings.CutPrefix(line, "#"); ok {
				heading = strings.TrimSpace(strings.TrimLeft(title, "#"))
			}
		}
	}
	if inside {
		t.Fatalf("%s: the last code block has no end", page)
	}
	return blocks, text
}

// block returns the first code block of a page in a language below a heading.
func block(t *testing.T, page, heading, language string) string {
	t.Helper()
	blocks, _ := readPage(t, page)
	for _, b := range blocks {
		if b.heading == heading && b.language == language {
			return b.text
		}
	}
	t.Fatalf("%s has no block ```%s below the heading %q", page, language, heading)
	return ""
}

// TestReadmeIsShort: the first page fits on a few screens, and begins with what came out.
func TestReadmeIsShort(t *testing.T) {
	text := string(mustRead(t, filepath.Join(root, "README.md")))
	if n := len(text); n > 6000 {
		t.Errorf("README.md has %d bytes, want at most 6000: move details to the page of their folder", n)
	}
	before, _, found := strings.Cut(text, "| paper |")
	if n := len(strings.Fields(before)); n > 400 || !found {
		t.Errorf("README.md has %d words before what came out, want at most 400", n)
	}
}

// TestFirstSchedule runs the schedule that README.md shows and compares what it prints.
func TestFirstSchedule(t *testing.T) {
	const heading = "A first schedule"
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tasks.csv"), block(t, "README.md", heading, "csv"))
	command := strings.TrimSpace(block(t, "README.md", heading, ""))
	got := miglab(t, dir, words(command)[1:]...)
	if want := block(t, "README.md", heading, "text"); got != want {
		t.Errorf("%s prints\n%s\nand README.md shows\n%s", command, got, want)
	}
}

// sourceFile is a heading such as "Batch: `algorithms/earliest.go`".
var sourceFile = regexp.MustCompile("`([a-z/]+\\.go)`$")

// exampleFiles returns the Go files that the pages show, by path.
func exampleFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, page := range pages {
		blocks, _ := readPage(t, page)
		for _, b := range blocks {
			if b.language != "go" {
				continue
			}
			name := sourceFile.FindStringSubmatch(b.heading)
			if name == nil {
				t.Errorf("%s: the heading %q does not name the file of its Go code", page, b.heading)
				continue
			}
			files[name[1]] = b.text
		}
	}
	return files
}

// exampleProgram puts the Go files of the pages where their headings say, and the toy track beside them, builds the
// program, and puts it on the PATH.
func exampleProgram(t *testing.T, dir string) {
	t.Helper()
	replace := map[string]string{}
	for name, code := range exampleFiles(t) {
		if n := strings.Count(code, "\n"); n > 49 {
			t.Errorf("%s has %d lines; 49 are the most that one reads", name, n)
		}
		for line := range strings.Lines(code) {
			if n := len([]rune(strings.ReplaceAll(line, "\t", "    "))) - 1; n > 120 {
				t.Errorf("%s: %d columns, more than 120: %s", name, n, line)
			}
		}
		if formatted, err := format.Source([]byte(code)); err != nil || string(formatted) != code {
			t.Errorf("%s is not gofmt's: %v", name, err)
		}
		place, err := filepath.Abs(filepath.Join(root, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(place); err == nil {
			t.Errorf("%s exists: the example would replace it", name)
		}
		replace[place] = write(t, filepath.Join(dir, strings.ReplaceAll(name, "/", "-")), code)
	}
	addToy(t, replace)
	build := exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", overlay(t, dir, replace), "-o", dir, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	python, err := filepath.Abs(filepath.Join(root, "algorithms/rl/python"))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PYTHONPATH", python)
	t.Setenv("PYTHONDONTWRITEBYTECODE", "1")
}

// overlay writes what go build takes as -overlay: the files that replace others, by path.
func overlay(t *testing.T, dir string, replace map[string]string) string {
	t.Helper()
	raw, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	return write(t, filepath.Join(dir, "overlay.json"), string(raw))
}

// TestExamples uses the program that has what the pages add to it, and the toy track.
func TestExamples(t *testing.T) {
	dir := t.TempDir()
	exampleProgram(t, dir)
	t.Run("conformance", func(t *testing.T) { testConformance(t, filepath.Join(dir, "overlay.json")) })
	t.Run("pages", testPages)
	t.Run("tutorial", testTutorial)
	t.Run("home page", testHomePage)
	t.Run("clusters", testClusters)
	t.Run("toy track", testToy)
}

// testConformance runs the batch and stream algorithms of the pages through the conformance suite. The golden files that
// they lack are no part of it.
func testConformance(t *testing.T, overlay string) {
	for folder, tests := range map[string]string{
		"./algorithms":          "^Test(Batch|Stream)Algorithms$/^(earliest|sevenths|shortest-first)$",
		"./algorithms/algotest": "^(TestEveryModel|TestEveryScheduleEndsWithItsContext)$",
	} {
		test := exec.Command("go", "test", "-vet=off", "-overlay", overlay, "-run", tests, folder)
		test.Dir = root
		if out, err := test.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", folder, err, out)
		}
	}
}

// testPages uses the algorithms of the pages.
func testPages(t *testing.T) {
	dir := t.TempDir()
	miglab := func(args ...string) string {
		t.Helper()
		return miglab(t, dir, args...)
	}

	write(t, filepath.Join(dir, "tasks.csv"), "task,t1,t2,t3,t4,t7\na,10,6,5,4,3\nb,20,11,8,6,4\nc,6,5,4,3.5,3\nd,9,8,7,6,5\n")
	miglab("schedule", "--algorithm", "earliest", "--tasks", "tasks.csv", "--out", "schedule.json")
	if out := miglab("check", "--tasks", "tasks.csv", "schedule.json"); !strings.HasPrefix(out, "ok: 4 tasks, ") {
		t.Errorf("check: %s", out)
	}
	sameInPython(t, dir, miglab)
	list := miglab("list", "algorithms", "--format", "csv")
	for _, c := range []struct{ track, algorithm, other, dataset string }{
		{"batch", "earliest", "far", "equal?n=4"},
		{"stream", "shortest-first", "far-concat", "drl/WIDETIMES?batches=3"},
		{"placement", "last-start", "ff", "mfi/uniform"},
		{"dispatch", "smallest-in-time", "eft", "deadline/tight"},
		{"corun", "neighbours", "time-sharing", "corun/queues"},
	} {
		if !regexp.MustCompile(`(?m)^` + c.algorithm + `,` + c.track + `,.*,1,README,$`).MatchString(list) {
			t.Errorf("the list of algorithms lacks %s", c.algorithm)
		}
		out := miglab("run", "--track", c.track, "--algorithms", c.algorithm+","+c.other, "--datasets", c.dataset, "--instances", strconv.Itoa(deep.N(3, 10)))
		if strings.Contains(out, "ended as") {
			t.Errorf("run of %s: %s", c.algorithm, out)
		}
		if out := miglab("leaderboard", "--track", c.track); !regexp.MustCompile(`(?m)(^| )` + c.algorithm + " ").MatchString(out) {
			t.Errorf("the leaderboard of %s lacks %s:\n%s", c.track, c.algorithm, out)
		}
	}
	if !strings.Contains(list, "\nquickest,") {
		t.Error("the list of algorithms lacks the bound quickest")
	}
	if out := miglab("bound", "--tasks", "tasks.csv"); !strings.Contains(out, "\nquickest   5.000000  yes, without a certificate") {
		t.Errorf("miglab bound lacks the bound quickest:\n%s", out)
	}
}

// sameInPython checks that earliest of algorithms/README.md and the Python example of that name
// give the same makespans, on one GPU and on several.
func sameInPython(t *testing.T, dir string, miglab func(...string) string) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		t.Log("no python3: earliest.py is not compared")
		return
	}
	script, err := filepath.Abs(filepath.Join(root, "algorithms/rl/python/examples/earliest.py"))
	if err != nil {
		t.Fatal(err)
	}
	n := deep.N(5, 20)
	python := "exec:python3 " + script
	for _, gpus := range []string{"1", "3"} {
		results := filepath.Join(dir, "twice"+gpus)
		miglab("run", "--algorithms", "earliest,"+python, "--datasets", "drl/WIDETIMES", "--instances", strconv.Itoa(n), "--gpus", gpus, "--results", results)
		var makespans [2][]string
		for i, algorithm := range []string{"earliest", python} {
			rows, err := csv.NewReader(strings.NewReader(miglab("export", "--results", results, "--algorithm", algorithm))).ReadAll()
			if err != nil || len(rows) != n+1 {
				t.Fatalf("%s has %d rows, %v", algorithm, len(rows), err)
			}
			for _, row := range rows[1:] {
				makespan, err := strconv.ParseFloat(row[slices.Index(rows[0], "makespan_s")], 64)
				if err != nil {
					t.Fatalf("%s: %v", algorithm, err)
				}
				makespans[i] = append(makespans[i], strconv.FormatFloat(makespan, 'f', 6, 64))
			}
		}
		if !slices.Equal(makespans[0], makespans[1]) {
			t.Errorf("%s GPUs: earliest in Go gives %s, in Python %s", gpus, makespans[0], makespans[1])
		}
	}
}

// TestSuiteInPython runs the program of the suite's page on an instance, and hands in what the page shows.
func TestSuiteInPython(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	const page = "datasets/suite/README.md"
	dir := t.TempDir()
	miglab(t, dir, "suite", "export", "--out", "instances")
	write(t, filepath.Join(dir, "read.py"), block(t, page, "The problems", "python"))
	read := exec.Command("python3", "read.py", "instances/batch-001.json")
	read.Dir = dir
	out, err := read.CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") != 16 || !strings.HasPrefix(string(out), "Backprop (") {
		t.Errorf("%v\n%s", err, out)
	}
	write(t, filepath.Join(dir, "better.json"), block(t, page, "Handing in", "json"))
	submit := exec.Command("miglab", "suite", "submit", "better.json")
	submit.Dir = dir
	if out, err := submit.CombinedOutput(); err == nil || !strings.HasPrefix(string(out), "batch-004: equal, makespan 10.240000 s") {
		t.Errorf("what the page shows: %v\n%s", err, out)
	}
}

// testTutorial does what the tutorial says, block by block: it writes the files, runs the commands
// and compares what the last one printed, where "..." stands for anything.
func testTutorial(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	const page = "algorithms/TUTORIAL.md"
	work := t.TempDir()
	named := regexp.MustCompile("`([a-z]+\\.[a-z]+)`$")
	blocks, _ := readPage(t, page)
	printed, compared := "", 0
	for _, b := range blocks {
		switch b.language {
		case "csv", "python":
			name := named.FindStringSubmatch(b.heading)
			if name == nil {
				t.Fatalf("the heading %q does not name the file below it", b.heading)
			}
			write(t, filepath.Join(work, name[1]), b.text)
		case "":
			for line := range strings.Lines(b.text) {
				printed = miglab(t, work, words(strings.TrimSpace(line))[1:]...)
			}
		case "text":
			pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(b.text)), `\.\.\.`, ".*")
			if compared++; !regexp.MustCompile(`(?s)^` + pattern + `$`).MatchString(strings.TrimSpace(printed)) {
				t.Errorf("%s shows\n%s\nand the command prints\n%s", page, b.text, printed)
			}
		}
	}
	if compared < 5 {
		t.Errorf("only %d outputs were compared", compared)
	}
}

// testHomePage runs the commands with which the site's home page enters an algorithm. exampleProgram has built the program,
// with the file that the first command writes.
func testHomePage(t *testing.T) {
	_, recipe, _ := strings.Cut(mustRead(t, filepath.Join(root, "reports/site/templates/index.html")), "<pre>")
	recipe, _, _ = strings.Cut(recipe, "</pre>")
	first, rest, _ := strings.Cut(html.UnescapeString(recipe), "\nmake build\n")
	clone := t.TempDir()
	if err := os.Mkdir(filepath.Join(clone, "algorithms"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(clone, "algorithms", "README.md"), mustRead(t, filepath.Join(root, "algorithms/README.md")))
	save := exec.Command("sh", "-ec", first)
	save.Dir = clone
	if out, err := save.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", first, err, out)
	}
	code := block(t, "algorithms/README.md", "Batch: `algorithms/earliest.go`", "go")
	if got := mustRead(t, filepath.Join(clone, "algorithms", "earliest.go")); got != code {
		t.Errorf("%s writes\n%s", first, got)
	}
	commands := 0
	for line := range strings.Lines(rest) {
		commands++
		if strings.Contains(line, " suite ") && os.Getenv("MIGLAB_LONG") != "1" {
			line = strings.ReplaceAll(line, ",far,lns", "") // they take minutes on the suite
		}
		out := miglab(t, clone, words(strings.TrimSpace(line))[1:]...)
		if !regexp.MustCompile(`(?m)(^| )earliest `).MatchString(out) || strings.Contains(out, "failed as") {
			t.Errorf("%s\nprints\n%s", line, out)
		}
	}
	if commands < 2 {
		t.Errorf("%d commands after make build in\n%s", commands, recipe)
	}
}

// testClusters runs the scripts of reports/site/CLUSTERS.md and compares what they print: every byte under make test-long,
// which takes minutes. Otherwise it runs two instances, in which the order of algorithms may be another, and compares
// the names of datasets, columns and algorithms in any order.
func testClusters(t *testing.T) {
	for _, tool := range []string{"awk", "column"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("no ", tool)
		}
	}
	const page = "reports/site/CLUSTERS.md"
	instances := regexp.MustCompile(`--instances [0-9]+`)
	numbers := regexp.MustCompile(`[0-9.]+(e-[0-9]+)?|[^a-z_]`)
	comparable := func(text string) string {
		names := strings.Fields(numbers.ReplaceAllString(text, " "))
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	long := os.Getenv("MIGLAB_LONG") == "1"
	if long {
		comparable = func(text string) string { return text }
	}
	dir := t.TempDir()
	blocks, _ := readPage(t, page)
	printed, compared := "", 0
	for _, b := range blocks {
		switch b.language {
		case "sh":
			script := b.text
			if !long {
				script = instances.ReplaceAllString(script, "--instances 2")
			}
			c := exec.Command("sh", "-ec", script)
			c.Dir, c.Env = dir, append(os.Environ(), "LC_ALL=C")
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%s: %v", b.text, err)
			}
			printed = string(out)
		case "text":
			if compared++; comparable(b.text) != comparable(printed) {
				t.Errorf("%s, %s, shows\n%s\nand the commands print\n%s", page, b.heading, b.text, printed)
			}
		}
	}
	if compared < 6 {
		t.Errorf("only %d outputs were compared", compared)
	}
}

// words splits a command line without expanding anything.
func words(line string) []string {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "sudo "), " > ")
	var out []string
	quoted := false
	begins := true
	for _, r := range line {
		switch {
		case r == '\'':
			quoted = !quoted
		case r == ' ' && !quoted:
			begins = true
		case begins:
			out = append(out, string(r))
			begins = false
		default:
			out[len(out)-1] += string(r)
		}
	}
	return out
}

// parse has cobra read a command line: the command, its flags and arguments.
func parse(line string) (*cobra.Command, error) {
	c, rest, err := newRoot().Find(words(line)[1:])
	if err != nil {
		return c, err
	}
	if err := c.ParseFlags(rest); err != nil {
		return c, err
	}
	if err := c.ValidateRequiredFlags(); err != nil {
		return c, err
	}
	return c, c.ValidateArgs(c.Flags().Args())
}

// checkCommand returns an error if a line of a page cannot be typed.
func checkCommand(t *testing.T, line string) error {
	t.Helper()
	w := words(line)
	for len(w) > 0 && strings.Contains(w[0], "=") { // variables of the environment
		w = w[1:]
	}
	if len(w) == 0 {
		return fmt.Errorf("there is no command")
	}
	switch w[0] {
	case "miglab", "bin/miglab":
		_, err := parse(line)
		return err
	case "make":
		return checkTargets(t, w[1:])
	case "go", "pip", "export":
		return nil
	case "sbatch": // what follows the script is a command of miglab
		script := slices.Index(w, "harness/slurm.sh")
		if script < 0 {
			return errors.New("it has another script than harness/slurm.sh")
		}
		_, err := parse("miglab " + strings.Join(w[script+1:], " "))
		return err
	}
	if strings.HasPrefix(w[0], "profiling/") { // a script, which a test of its own runs
		_, err := os.Stat(filepath.Join(root, filepath.FromSlash(w[0])))
		return err
	}
	return fmt.Errorf("no test knows the command %s", w[0])
}

// checkTargets returns an error if the Makefile lacks a target.
func checkTargets(t *testing.T, targets []string) error {
	t.Helper()
	makefile := mustRead(t, filepath.Join(root, "Makefile"))
	for _, target := range targets {
		if !strings.Contains(makefile, "\n"+target+":") {
			return fmt.Errorf("the Makefile has no target %s", target)
		}
	}
	return nil
}

func TestReadmeCommandsCanBeTyped(t *testing.T) {
	for _, page := range pages {
		blocks, _ := readPage(t, page)
		for _, b := range blocks {
			if b.language != "" {
				continue
			}
			for line := range strings.Lines(b.text) {
				if err := checkCommand(t, line); err != nil {
					t.Errorf("%s: %s: %v", page, strings.TrimSpace(line), err)
				}
			}
		}
	}
}

// TestReadmeShowsEveryCommand: harness/README.md has an example of each command.
func TestReadmeShowsEveryCommand(t *testing.T) {
	var names []string
	for line := range strings.Lines(block(t, "harness/README.md", "Commands", "")) {
		names = append(names, words(line)[1])
	}
	for _, c := range newRoot().Commands() {
		if c.IsAvailableCommand() && c.Name() != "readme" && !slices.Contains(names, c.Name()) {
			t.Errorf("harness/README.md does not show %s", c.Name())
		}
	}
}

// link is a link or an image of Markdown.
var link = regexp.MustCompile(`\]\(([^)]+)\)`)

// TestReadmeLinks: files and headings that the pages refer to exist.
func TestReadmeLinks(t *testing.T) {
	for _, page := range pages {
		_, text := readPage(t, page)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			file, heading, _ := strings.Cut(m[1], "#")
			target := filepath.Join(root, filepath.Dir(filepath.FromSlash(page)), filepath.FromSlash(file))
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %v", page, err)
				continue
			}
			if heading != "" && !hasHeading(mustRead(t, target), heading) {
				t.Errorf("%s: %s has no heading #%s", page, file, heading)
			}
		}
	}
}

// hasHeading reports whether a page has the heading of an anchor.
func hasHeading(page, anchor string) bool {
	for line := range strings.Lines(page) {
		title := strings.TrimSpace(strings.TrimLeft(line, "#"))
		if strings.HasPrefix(line, "#") && strings.ReplaceAll(strings.ToLower(title), " ", "-") == anchor {
			return true
		}
	}
	return false
}

// TestReadmeGPU: the way from a bare GPU to a leaderboard takes five commands, and the
// manifest that profiling/README.md shows can be read.
func TestReadmeGPU(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(block(t, "profiling/README.md", "Profiling: your GPU", "")), "\n")
	if len(lines) != 5 {
		t.Errorf("%d commands, want 5", len(lines))
	}
	manifest := block(t, "profiling/README.md", "Adding your kernels", "yaml")
	if _, err := launch.Read(strings.NewReader(manifest), "README.md", nil); err != nil {
		t.Error(err)
	}
}

// TestReasonsAreCommands: what would make a claim runnable can be typed as it stands.
func TestReasonsAreCommands(t *testing.T) {
	all, err := papers()
	if err != nil {
		t.Fatal(err)
	}
	far, drl := all[0].Claims, all[1].Claims
	reasons := []string{
		far.Find(claim.Key{Artefact: "table2", Cell: claim.Cell{Row: "HotSpot", Column: "size 1"}}).Missing,
		far.Find(claim.Key{Artefact: "table3", Cell: claim.At("LU", "real end")}).Missing,
		drl.Find(claim.Key{Artefact: "text", Cell: claim.Of("deviation of reconfiguration times")}).Missing,
		drl.Find(claim.Key{Artefact: "table3", Cell: claim.At("LU", "real end")}).Missing,
	}
	n := 0
	for _, reason := range reasons {
		for _, quoted := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(reason, -1) {
			n++
			c, err := parse(quoted[1])
			if err != nil {
				t.Errorf("%s: %v", quoted[1], err)
				continue
			}
			if f := c.Flags().Lookup("kernels"); f != nil {
				set, err := c.Flags().GetStringToString("set")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := launch.Shipped(f.Value.String(), set); err != nil {
					t.Errorf("%s: %v", quoted[1], err)
				}
			}
		}
	}
	if n != 10 {
		t.Errorf("%d commands, want 10", n)
	}
}

func TestHelpOfEveryCommandHasExamplesThatCanBeTyped(t *testing.T) {
	commands := newRoot().Commands()
	if len(commands) < 8 {
		t.Fatalf("%d commands", len(commands))
	}
	for _, c := range slices.Clone(commands) {
		commands = append(commands, c.Commands()...)
	}
	for _, c := range append(commands, newRoot()) {
		name := strings.TrimSpace(strings.TrimPrefix(c.CommandPath(), "miglab"))
		help, err := inProcess(t, append(strings.Fields(name), "--help")...)
		if err != nil {
			t.Errorf("miglab %s --help: %v", name, err)
		}
		_, examples, ok := strings.Cut(help, "\nExamples:\n")
		examples, _, ended := strings.Cut(examples, "\n\n")
		if !ok || !ended || !strings.Contains(help, "\nUsage:\n") {
			t.Errorf("miglab %s --help:\n%s", name, help)
			continue
		}
		for line := range strings.Lines(examples) {
			got, err := parse(line)
			if err != nil {
				t.Errorf("%s: %s: %v", c.CommandPath(), line, err)
			} else if c.HasParent() && got.CommandPath() != c.CommandPath() && !(c.HasSubCommands() && strings.HasPrefix(got.CommandPath(), c.CommandPath()+" ")) {
				t.Errorf("%s: its example is of %s", c.CommandPath(), got.Name())
			}
		}
	}
}

// TestPythonReadsTheDatabase runs the query of the page with Python's sqlite3 alone, and compares it with the leaderboard.
func TestPythonReadsTheDatabase(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	dir := t.TempDir()
	miglab(t, dir, "run", "--algorithms", "far,nomig", "--datasets", "WIDETIMES", "--instances", "3")
	python := exec.Command("python3", "-c", block(t, "harness/FROM-OTHER-TOOLS.md", "Python without pandas", "python"))
	python.Dir = dir
	got, err := python.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, got)
	}
	_, want, _ := strings.Cut(miglab(t, dir, "leaderboard", "--format", "csv", "--columns", "dataset,algorithm,instances,mean"), "\n")
	if string(got) != want {
		t.Errorf("Python prints\n%s\nand the leaderboard has\n%s", got, want)
	}
}

// TestWorkflow runs the commands of the workflow that harness/README.md shows, and once more without a dataset.
func TestWorkflow(t *testing.T) {
	var workflow struct {
		Env  map[string]string
		Jobs map[string]struct {
			Steps []struct{ Uses, Run string }
		}
	}
	text := block(t, "harness/README.md", "In continuous integration", "yaml")
	if err := yaml.Unmarshal([]byte(text), &workflow); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("miglab")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "bin"), 0o755), os.Symlink(program, filepath.Join(dir, "bin", "miglab"))); err != nil {
		t.Fatal(err)
	}
	environment := append(os.Environ(), "RUNNER_TEMP="+dir)
	for name, value := range workflow.Env {
		environment = append(environment, name+"="+value)
	}
	run := func(script string) error {
		c := exec.Command("bash", "-ec", script)
		c.Dir, c.Env = dir, environment
		out, err := c.CombinedOutput()
		if err != nil {
			err = fmt.Errorf("%s: %w\n%s", script, err, out)
		}
		return err
	}
	var runs []string
	for _, step := range workflow.Jobs["compare"].Steps {
		if step.Run != "" && !strings.HasPrefix(step.Run, "make ") {
			runs = append(runs, step.Run)
		}
	}
	if len(runs) != 3 {
		t.Fatalf("%d steps have commands of miglab", len(runs))
	}
	for _, script := range runs {
		if err := run(script); err != nil {
			t.Error(err)
		}
	}
	for name, value := range workflow.Env {
		environment = append(environment, name+"="+strings.ReplaceAll(value, "POORSCALING,", ""))
	}
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "after")), run(runs[1])); err != nil {
		t.Fatal(err)
	}
	if err := run(runs[2]); err == nil || !strings.Contains(err.Error(), "\ndrl/POORSCALING: not compared") {
		t.Errorf("without a dataset: %v", err)
	}
}

// TestPapersHavePages: the folder of each paper says what came out, for the conclusions that the paper has now.
func TestPapersHavePages(t *testing.T) {
	all, err := papers()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, p := range all {
		page := mustRead(t, filepath.Join(root, "paper-figures", p.Name, "README.md"))
		total += len(strings.Fields(page))
		for _, want := range []string{p.Heading, p.Link, "miglab reproduce --paper " + p.Name} {
			if !strings.Contains(page, want) {
				t.Errorf("the page of %s lacks %q", p.Name, want)
			}
		}
		counted := map[string]bool{}
		for _, row := range p.Claims.Tests {
			counted[row.ID] = counted[row.ID] || row.Status != claim.Later && row.Status != claim.Beside
		}
		for id, counts := range counted {
			if n := strings.Count(page, "\n- "+id+": "); counts != (n == 1) {
				t.Errorf("the page of %s has %d lines for %s; make readme writes it", p.Name, n, id)
			}
		}
	}
	if most := 400 * len(all); total > most {
		t.Errorf("the pages of the papers have %d words, want at most %d", total, most)
	}
}
