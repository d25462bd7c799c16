// Package advise writes the answers of [miglab/harness/advise] as a page: as text for a terminal, or as Markdown with
// charts in a folder, beside files for other tools. The same answers give the same bytes.
package advise

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"miglab/harness/advise"
	"miglab/harness/layout"
	"miglab/harness/mig"
	"miglab/harness/nearest"
	"miglab/harness/spec"
	"miglab/harness/stats"
	"miglab/reports"
)

// A Page is an advice with its trace and command.
type Page struct {
	Advice *advise.Advice
	// File names the trace, and Command is the command line that makes the page.
	File, Command string
	// Next is a command line that compares policies further, with the requests in the page's folder; "" leaves it out.
	Next string
	// First says, before all answers, what may make them wrong: jobs that are left out, and types that the file lacks.
	First []string
	// Notes say what the file lacks: rows that cannot be used, and assumptions.
	Notes []string
	// Lines has the line of each request in the file; nil if they are not known. Only snapshots show them.
	Lines []int
}

// A section is a question with its answer.
type section struct {
	title, answer string
	table         *reports.Table // nil if there is none
	// figure is written into the folder as name.svg; nil if there is none.
	figure reports.Figure
	name   string
}

// Text writes the page for a terminal.
func (p *Page) Text(w io.Writer) error { return p.write(w, "text") }

// Markdown writes the page with links to its charts.
func (p *Page) Markdown(w io.Writer) error { return p.write(w, "markdown") }

// write writes the page in a format of [reports.Table].
func (p *Page) write(w io.Writer, format string) error {
	b := bufio.NewWriter(w)
	markdown := format == "markdown"
	heading, subheading := "", ""
	if markdown {
		heading, subheading = "# ", "## "
	}
	paragraph := func(text string) {
		if markdown {
			fmt.Fprintln(b, reports.EscapeMarkdown(text))
		} else {
			fold(b, text)
		}
	}
	paragraph(heading + fmt.Sprintf("Advice for %s: %s, %s", p.File,
		count(len(p.Advice.Question.Requests.Requests), "requests"), p.Advice.Question.GPU))
	for _, line := range p.First {
		fmt.Fprintln(b)
		paragraph(line)
	}
	for _, s := range p.sections() {
		fmt.Fprintf(b, "\n%s%s\n\n", subheading, s.title)
		paragraph(s.answer)
		if s.table != nil {
			fmt.Fprintln(b)
			if err := s.table.Encode(b, format); err != nil {
				return err
			}
		}
		if s.figure != nil && markdown {
			fmt.Fprintf(b, "\n![%s](%s.svg)\n", s.title, s.name)
		}
	}
	fmt.Fprintf(b, "\n%sWhat this trace cannot tell\n\n", subheading)
	for _, line := range p.limits() {
		paragraph("- " + line)
	}
	if p.Next != "" {
		fmt.Fprintf(b, "\nTo compare policies further, by the time from arrival to end, in the folder of --out:\n\n"+
			"    %s\n", p.Next)
	}
	if markdown {
		fmt.Fprintf(b, "\nMade by `%s`.\n", p.Command)
	}
	return b.Flush()
}

// fold writes a text in lines of at most lineWidth bytes; a longer word has a line of its own.
func fold(w io.Writer, text string) {
	const lineWidth = 100
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > lineWidth {
			fmt.Fprintln(w, line)
			line = word
			continue
		}
		line = strings.TrimSpace(line + " " + word)
	}
	fmt.Fprintln(w, line)
}

// sections returns the answers in their order.
func (p *Page) sections() []section {
	if p.Advice.Question.Snapshot {
		return []section{p.demand(), p.snapshot()}
	}
	return []section{p.demand(), p.policies(), p.gpus(), p.fixed(), p.order(), p.moving()}
}

// duration formats seconds in the largest unit of which there are at least two: days, hours, minutes or else seconds.
func duration(seconds float64) string {
	for _, unit := range []struct {
		name    string
		seconds float64
	}{{"days", 86400}, {"h", 3600}, {"min", 60}} {
		if math.Abs(seconds) >= 2*unit.seconds {
			return reports.Fixed(seconds/unit.seconds, 1) + " " + unit.name
		}
	}
	return reports.Fixed(seconds, 1) + " s"
}

// count returns a number with its noun. plural is the noun with an s.
func count(n int, plural string) string {
	if n == 1 {
		plural = strings.TrimSuffix(plural, "s")
	}
	return fmt.Sprintf("%d %s", n, plural)
}

// need returns the beginning of a sentence: "3 requests need".
func need(requests int) string {
	if requests == 1 {
		return "1 request needs"
	}
	return fmt.Sprintf("%d requests need", requests)
}

// gangs returns a sentence about the requests that need several GPUs, with a blank before it; "" if there are none.
func (p *Page) gangs() string {
	var all, several, hours, severalHours float64
	for _, d := range p.Advice.Profiles {
		all += float64(d.Requests)
		several += float64(d.Several)
		hours += d.GPUHours
		severalHours += d.SeveralHours
	}
	if several == 0 {
		return ""
	}
	return fmt.Sprintf(" %s several GPUs at once: %.1f %% of the requests, with %.1f %% of the slices and time. A "+
		"process cannot use instances of several GPUs, so MIG must be off on the GPUs that serve them.",
		need(int(several)), 100*several/all, 100*severalHours/hours)
}

// estimate formats a mean in seconds with its interval.
func estimate(e stats.BlockEstimate) string {
	if e.Blocks == 0 {
		return duration(e.Mean) + " (no interval)"
	}
	return fmt.Sprintf("%s (%s to %s)", duration(e.Mean), duration(e.Low), duration(e.High))
}

// cells returns the cells of an estimate in seconds: the mean and the interval.
func cells(e stats.BlockEstimate) []string {
	if e.Blocks == 0 {
		return append(reports.Cells(1, e.Mean), reports.Missing, reports.Missing)
	}
	return reports.Cells(1, e.Mean, e.Low, e.High)
}

// demand answers what the trace asks for: requests by profile, and the GPUs that they would keep busy.
func (p *Page) demand() section {
	a := p.Advice
	hours, whole := 0.0, 0
	for _, d := range a.Profiles {
		hours += d.GPUHours
		if d.Profile.Length == a.Question.GPU.MemorySlices {
			whole += d.Requests - d.Several
		}
	}
	t := reports.Table{
		Columns: reports.Left("profile").Right("requests", "% of requests", "mean s", "GPU hours",
			"% of hours"),
		Notes: []string{"GPU hours: those of the memory slices, as a share of a GPU"},
	}
	if a.Question.Snapshot {
		t = reports.Table{Columns: reports.Left("profile").Right("requests", "% of requests", "% of slices")}
	}
	for _, d := range a.Profiles {
		share := 100 * float64(d.Requests) / float64(len(a.Question.Requests.Requests))
		ofHours := 100 * d.GPUHours / hours // in a snapshot, of the slices
		if a.Question.Snapshot {
			t.Row(d.Profile, d.Requests, reports.Cells(1, share, ofHours))
			continue
		}
		t.Row(d.Profile, d.Requests, reports.Cells(1, share, d.Mean, d.GPUHours, ofHours))
	}
	mean := 0.0
	for _, v := range a.Load.Memory {
		mean += v / float64(len(a.Load.Memory))
	}
	s := section{title: "1. What does the trace ask for?", table: &t, name: "load"}
	s.answer = fmt.Sprintf("If no request waited, the trace would keep %.1f GPUs busy on the mean and %.1f at most. "+
		"%s a whole GPU.%s", mean, a.Load.Peak, need(whole), p.gangs())
	if a.Question.Snapshot {
		s.answer = fmt.Sprintf("All at once, the requests need the slices of %.1f GPUs. %s a whole GPU.%s", a.Load.Peak,
			need(whole), p.gangs())
		return s
	}
	load := a.Load
	s.figure = reports.Lines{
		Title: fmt.Sprintf("Mean demand in %d parts of the time, if no request waited", len(load.Hours)),
		X:     reports.Axis{Label: "Time since the first arrival [h]"}, Y: reports.Axis{Label: "GPUs"},
		Series: []reports.Series{
			{Name: "memory slices", X: load.Hours, Y: load.Memory},
			{Name: "compute slices", X: load.Hours, Y: load.Compute},
		},
	}
	return s
}

// policies answers which policy has the shortest waits. The policies are sorted by their mean waits.
func (p *Page) policies() section {
	a := p.Advice
	best := a.Policies[0]
	t := reports.Table{
		Columns: reports.Left("policy").Right("mean wait s", "from", "to", "less than ff s", "from", "to").
			Left("differs from ff", "worse than best").Right("p95 s", "over bound s"),
		Notes: []string{
			"from, to: the 95 % interval of the number before them",
			fmt.Sprintf("yes: certain, also with Bonferroni's correction for %s; short: the blocks are too short to "+
				"tell", count(len(a.Policies)-1, "differences")),
			"over bound: no policy has a mean wait of less than " + duration(a.WaitAtLeast),
			"ff is first fit. Kubernetes has dra-first-fit and the hami policies; the others are of papers. In Slurm no " +
				"policy can be chosen: answer 4 counts",
		},
	}
	var tied, short, names []string
	certain := 0 // policies that are certainly worse than the best
	bars := reports.BarGroup{Name: "less than ff"}
	for _, c := range a.Policies {
		apart, behind := verdict(c.Less, c.Apart), verdict(c.Behind, !c.Tied)
		less := cells(c.Less)
		switch {
		case c.Policy == best.Policy:
			behind = reports.Missing
		case behind == "short":
			short = append(short, c.Policy)
		case c.Tied:
			tied = append(tied, c.Policy)
		default:
			certain++
		}
		if c.Policy == advise.FirstFit {
			less, apart = []string{"0.0", "0.0", "0.0"}, reports.Missing
		} else {
			names = append(names, c.Policy)
			bars.Add(c.Less.Mean, c.Less.Low, c.Less.High)
		}
		t.Row(c.Policy, cells(c.Mean), less, apart, behind, reports.Cells(1, c.P95, c.Wait-a.WaitAtLeast))
	}
	s := section{title: "2. Which policy?", table: &t, name: "policies", answer: policyAnswer(a, certain, tied, short)}
	if best.Less.Blocks > 0 && len(names) > 0 {
		s.figure = reports.Bars{
			Title: "Mean wait less than under first fit (above 0 is better)", X: reports.Axis{Label: "Policy"},
			Y:          reports.Axis{Label: "Seconds"},
			Categories: names, Groups: []reports.BarGroup{bars}, Dots: true,
		}
	}
	return s
}

// policyAnswer says which policy is best. certain is the number of policies that are certainly worse than the best,
// tied lists policies that are not told apart from it, and short lists policies for which the trace's blocks are too
// short.
func policyAnswer(a *advise.Advice, certain int, tied, short []string) string {
	best := a.Policies[0]
	same := func(c advise.Compared) bool { return c.Wait == best.Wait && c.P95 == best.P95 }
	if len(a.Policies) > 1 && !slices.ContainsFunc(a.Policies, func(c advise.Compared) bool { return !same(c) }) {
		return fmt.Sprintf("On %s, all %d policies have the same waits, %s on the mean: for this trace the policy "+
			"does not matter.", count(a.GPUs, "GPUs"), len(a.Policies), duration(best.Wait))
	}
	text := fmt.Sprintf("On %s, %s has the shortest mean wait, %s", count(a.GPUs, "GPUs"), best.Policy,
		estimate(best.Mean))
	switch {
	case best.Policy == advise.FirstFit:
		text += fmt.Sprintf("; %d of the %d others are certainly behind it", certain, len(a.Policies)-1)
	case best.Apart:
		text += fmt.Sprintf(", certainly less than first fit: by %s", estimate(best.Less))
	default:
		text += fmt.Sprintf(", not certainly less than first fit: by %s", estimate(best.Less))
	}
	if tied != nil {
		text += fmt.Sprintf("; %s not told apart from it", areNames(tied))
	}
	if short != nil {
		text += fmt.Sprintf("; the trace is too short to tell it from %s", strings.Join(short, ", "))
	}
	return text + "."
}

// verdict says whether a difference is certain. apart is the answer if the blocks are long enough.
func verdict(e stats.BlockEstimate, apart bool) string {
	switch {
	case e.Short:
		return "short"
	case apart:
		return "yes"
	}
	return "no"
}

// areNames returns the beginning of a sentence: "mfi and fgd are".
func areNames(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " are"
}

// target names the waits that the user asks for.
func (p *Page) target() string {
	q := p.Advice.Question
	var parts []string
	if q.Wait >= 0 {
		parts = append(parts, "a mean wait of at most "+duration(q.Wait))
	}
	if q.P95 >= 0 {
		parts = append(parts, "a 95th percentile of at most "+duration(q.P95))
	}
	return strings.Join(parts, " and ")
}

// gpus answers how many GPUs each policy needs for the target.
func (p *Page) gpus() section {
	a := p.Advice
	t := reports.Table{Columns: reports.Left("by").Right("GPUs", "mean wait s", "from", "to", "p95 s").Left("how")}
	t.Row("any policy", fmt.Sprint("at least ", a.Below), reports.Missing, reports.Missing, reports.Missing,
		reports.Missing, "proven bound")
	for _, n := range append(slices.Clone(a.Needs), a.FixedNeed) {
		how := "all from the bound on simulated"
		if !n.Least {
			how = "found by halving"
		}
		t.Row(n.Policy, n.GPUs, cells(n.Mean), reports.Cells(1, n.Outcome.P95), how)
	}
	last := a.Needs[len(a.Needs)-1]
	s := section{title: "3. How many GPUs?", table: &t}
	s.answer = fmt.Sprintf("For %s, first fit needs %s, with a mean wait of %s", p.target(),
		count(a.Needs[0].GPUs, "GPUs"), estimate(a.Needs[0].Mean))
	if len(a.Needs) > 1 {
		s.answer += fmt.Sprintf("; %s needs %d", last.Policy, last.GPUs)
	}
	s.answer += fmt.Sprintf("; the best fixed geometry found needs %d; no policy does with fewer than %d.",
		a.FixedNeed.GPUs, a.Below)
	return s
}

// fixed answers which partition each GPU should have if partitions never change.
func (p *Page) fixed() section {
	a := p.Advice
	s := section{title: "4. Which fixed geometry?"}
	f := a.Fixed
	if f.Geometry == nil || f.Outcome.Error != "" {
		s.answer = fmt.Sprintf("No fixed geometry of %s was found that serves all requests.",
			count(a.GPUs, "GPUs"))
		return s
	}
	t := reports.Table{
		Columns: reports.Left("partition").Right("GPUs"),
		Notes: []string{
			"delay: from arrival to end, less the lifetime in the trace",
			"a GPU with a single instance of all slices has MIG off in the files",
		},
	}
	for _, g := range groupNeighbours(f.Geometry) {
		t.Row(g.name, g.number)
	}
	s.table = &t
	found := "best fixed geometry of all"
	if !f.Best {
		found = "best fixed geometry that a search found"
	}
	cost, how := absolute(f.Cost, "more", "less")
	s.answer = fmt.Sprintf("The %s on %s delays a request by %s on the mean, %s %s than "+
		"%s, which changes instances; no policy waits less than %s.", found, count(a.GPUs, "GPUs"), estimate(f.Mean),
		estimate(cost), how, a.Policies[0].Policy, duration(a.WaitAtLeast))
	if missing := p.missing(); missing != "" {
		s.answer += " " + missing
	}
	return s
}

// missing says which requests are for profiles that the fixed geometry lacks; "" if it has all.
func (p *Page) missing() string {
	have := slices.Concat(p.instances()...)
	var lacking []string
	for _, d := range p.Advice.Profiles {
		if d.Profile.Length < p.Advice.Question.GPU.MemorySlices && !slices.Contains(have, d.Profile) {
			lacking = append(lacking, fmt.Sprintf("%s (%s)", d.Profile, count(d.Requests, "requests")))
		}
	}
	if lacking == nil {
		return ""
	}
	return "It has no " + strings.Join(lacking, ", ") + ": in the simulation, these run on larger instances. Slurm " +
		"would reject jobs that name such a profile, and Kubernetes leave them pending; they must ask for another."
}

// A group is a number of equal neighbours in a list.
type group struct {
	name   string
	number int
}

// groupNeighbours groups equal names that follow each other.
func groupNeighbours(names []string) (out []group) {
	for i, name := range names {
		if i == 0 || name != names[i-1] {
			out = append(out, group{name: name})
		}
		out[len(out)-1].number++
	}
	return out
}

// order answers in which order a driver should list the devices of a GPU.
func (p *Page) order() section {
	o := p.Advice.Order
	t := reports.Table{Columns: reports.Left("profile", "starts in order (% of its instances)")}
	for _, profile := range p.Advice.Question.GPU.Profiles {
		var used []string
		for _, place := range o.Places {
			if place.Profile == profile {
				used = append(used, fmt.Sprintf("%d (%.0f)", place.Start, 100*place.Used))
			}
		}
		if used != nil {
			t.Row(profile, strings.Join(used, "  "))
		}
	}
	less, how := absolute(o.Less, "less", "more")
	answer := fmt.Sprintf("By ascending starts. The best of %d orders tried on the first half of the time, %s, is not "+
		"certainly better in the second half: its mean wait is %s %s.", o.Tried, joinStarts(o.Found), estimate(less),
		how)
	if o.Better() {
		answer = fmt.Sprintf("By starts in the order %s, the best of %d tried on the first half of the time: in the "+
			"second half its mean wait is certainly less than with ascending starts, by %s.", joinStarts(o.First),
			o.Tried, estimate(o.Less))
	}
	return section{title: "5. In which order should a DRA driver list its devices?", table: &t, answer: answer}
}

// absolute returns a difference without its sign, and the word for its sign.
func absolute(e stats.BlockEstimate, positive, negative string) (stats.BlockEstimate, string) {
	if e.Mean < 0 {
		e.Mean, e.Low, e.High = -e.Mean, -e.High, -e.Low
		return e, negative
	}
	return e, positive
}

// shownCost is the cost of a move, in seconds, for which the answer gives the gain.
const shownCost = 30

// moving answers how much moves of running requests gain, by their cost. Without [shownCost] among the costs, a
// simulation has failed and there is no table.
func (p *Page) moving() section {
	s := section{title: "6. What would moving gain?"}
	t := reports.Table{
		Columns: reports.Left("a move costs s").Right("moves", "less delay s", "from", "to"),
		Notes: []string{
			fmt.Sprintf("%s places as %s does, and moves running requests if that puts more slices to use than the "+
				"pauses cost; answer 2 compares %[2]s with the best policy", advise.Mover, advise.Still),
			"less delay: of the mean from arrival to end, with the pauses; from, to: its 95 % interval",
		},
	}
	s.answer = "Not answered: a simulation with moves failed."
	for _, m := range p.Advice.Moving {
		t.Row(m.Cost, m.Moves, cells(m.Less))
		if m.Cost == shownCost {
			less, how := absolute(m.Less, "less", "more")
			if m.Less.Low <= 0 && m.Less.High >= 0 {
				how = "not certainly " + how
			}
			s.answer = fmt.Sprintf("Where a move stops a request for %s and frees its slices at once, the mean time "+
				"from arrival to end under %s, which moves requests, is %s than under %s, by %s.", duration(m.Cost),
				advise.Mover, how, advise.Still, estimate(less))
			s.table = &t
		}
	}
	return s
}

// joinStarts joins starts with hyphens: 4-0-2.
func joinStarts(order []mig.Slices) string {
	return strings.Join(nearest.Names(order, func(s mig.Slices) string { return fmt.Sprint(s) }), "-")
}

// limits returns sentences about the limits of the trace and the simulation.
func (p *Page) limits() (out []string) {
	a := p.Advice
	span := a.Span
	out = append(out, p.Notes...)
	switch {
	case a.Question.Snapshot:
		return append(out, "The requests are there at once, without arrivals and durations: the trace says nothing "+
			"about waits. Its GPUs are not those on which the jobs run: drain a node before you change its instances.")
	case a.Policies[0].Mean.Blocks == 0:
		out = append(out, "The trace is too short for intervals: it cannot be divided into blocks with arrivals.")
	default:
		out = append(out, fmt.Sprintf("It is one trace. Intervals come from %d blocks of %s; they "+
			"say nothing about other clusters or other weeks.", span.Blocks, duration(span.Block)))
		if slices.ContainsFunc(a.Policies, func(c advise.Compared) bool {
			return c.Mean.Short || c.Less.Short || c.Behind.Short
		}) {
			out = append(out, "Neighbouring blocks have similar waits, or similar differences: they are too short, "+
				"and those intervals too narrow. A longer trace is needed.")
		}
	}
	if a.Load.Drifts {
		out = append(out, fmt.Sprintf("The demand is not stationary: %.1f GPUs in the first half and %.1f in the "+
			"second. Numbers for the next weeks depend on which half they are like.", a.Load.Early, a.Load.Late))
	}
	return append(out, "The cluster is simulated, and its requests come as in the trace whatever they wait. Creating "+
		"and destroying instances takes no time.")
}

// snapshot answers how many GPUs hold a snapshot.
func (p *Page) snapshot() section {
	a := p.Advice
	t := reports.Table{Columns: reports.Left("instances").Right("GPUs")}
	var names []string
	for i, layout := range a.Held.Layouts {
		name := "MIG off"
		if !a.Held.Whole[i] {
			name = strings.Join(nearest.Names(layout, (*mig.Profile).String), " ")
		}
		names = append(names, cmp.Or(name, "free"))
	}
	for _, g := range groupNeighbours(names) {
		t.Row(g.name, g.number)
	}
	s := section{title: "2. How many GPUs, and with which instances?", table: &t}
	s.answer = fmt.Sprintf("First fit with the largest requests first holds all at once on %s; no policy does with "+
		"fewer than %d.", count(a.Needs[0].GPUs, "GPUs"), a.Below)
	if a.Needs[0].GPUs == a.Below {
		s.answer += " So that is the least possible number."
	}
	left := a.Held.Left
	if len(left) == 0 {
		return s
	}
	s.answer += fmt.Sprintf(" On %s it leaves out %s", count(a.GPUs, "GPUs"), count(len(left), "requests"))
	if p.Lines != nil {
		const most = 10
		lines := nearest.Names(left[:min(len(left), most)], p.line)
		s.answer += ", in the lines " + strings.Join(lines, ", ")
		if len(left) > most {
			s.answer += " and others; left.csv of --out has all"
		}
	}
	s.answer += "."
	return s
}

// line returns the line of a request in the file, or [reports.Missing] if it is not known.
func (p *Page) line(request int) string {
	if p.Lines == nil {
		return reports.Missing
	}
	return strconv.Itoa(p.Lines[request])
}

// instances returns the instances of each GPU, in the placement of a snapshot or in the best fixed geometry. A GPU with
// MIG off, and a GPU that a snapshot leaves free, have nil. In a fixed geometry, GPUs with one instance of all slices
// have MIG off: they serve requests for whole GPUs, also for several at once.
func (p *Page) instances() (out [][]*mig.Profile) {
	a := p.Advice
	if a.Question.Snapshot {
		return a.Held.Layouts
	}
	for _, name := range a.Fixed.Geometry { // names of the GPU's own partitions
		var profiles []*mig.Profile
		for _, in := range spec.Must(a.Question.GPU.ParsePartition(name)) {
			if in.Profile.Length < a.Question.GPU.MemorySlices {
				profiles = append(profiles, in.Profile)
			}
		}
		out = append(out, profiles)
	}
	return out
}

// layouts returns the layouts of each kind of node, and of each node, and a line that names the kind of each node.
// Nodes whose GPUs have the same instances in the same order are of one kind. A GPU without instances, also a free one,
// counts as a GPU with MIG off.
func (p *Page) layouts() (kinds, nodes []layout.Named, line string) {
	all := p.instances()
	perNode := p.Advice.Question.PerNode
	if perNode == 0 {
		perNode = max(len(all), 1)
	}
	known := map[string]string{} // the labels of kinds, by the profiles of their GPUs
	for gpus := range slices.Chunk(all, perNode) {
		profiles := fmt.Sprint(gpus)
		if known[profiles] == "" {
			known[profiles] = fmt.Sprintf("advice-%d", len(known)+1)
			kinds = append(kinds, groupGPUs(known[profiles], gpus)...)
		}
		node := layout.Named{Label: fmt.Sprintf("node%d", len(nodes))}
		line += fmt.Sprintf(" %s has %s.", node.Label, known[profiles])
		for _, own := range gpus {
			node.Profiles = append(node.Profiles, own...)
			if own == nil {
				node.Whole++
			}
		}
		nodes = append(nodes, node)
	}
	return kinds, nodes, strings.TrimSpace(line)
}

// groupGPUs returns a layout for each group of neighbouring GPUs of a node that have the same instances.
func groupGPUs(label string, gpus [][]*mig.Profile) (out []layout.Named) {
	for i, profiles := range gpus {
		if i == 0 || !slices.Equal(profiles, gpus[i-1]) {
			out = append(out, layout.Named{Label: label, Profiles: profiles})
		}
		last := &out[len(out)-1]
		last.Devices = append(last.Devices, i)
	}
	return out
}
