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
	"miglab/harness/stats"
	"miglab/reports"
)

// A Page is the advice about a trace, with all that its text names.
type Page struct {
	Advice *advise.Advice
	// File names the trace, and Command is the command line that makes the page.
	File, Command string
	// First says, before all answers, what may make them wrong: jobs that are left out, and types that the file lacks.
	First []string
	// Notes say what the file lacks: rows that cannot be used, and assumptions.
	Notes []string
	// Lines has the line of each request in the file; nil if they are not known. Only snapshots show them.
	Lines []int
	// Types are the types of GPUs that jobs ask for, for gres.conf.
	Types layout.Types
	// Partial says that jobs which hold GPUs are left out, so that more GPUs are needed than the page says.
	Partial bool
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

// Markdown writes the page with a link to its chart.
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
			fmt.Fprintln(b, strings.Join(reports.Folded(text), "\n"))
		}
	}
	paragraph(heading + fmt.Sprintf("Advice for %s: %s%s, %s", p.File,
		count(len(p.Advice.Question.Requests.Requests), "requests"), p.span(), p.Advice.Question.GPU))
	for _, line := range append([]string{p.summary()}, p.First...) {
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
	if markdown {
		ticks := "`" // more than the command has in a row
		for strings.Contains(p.Command, ticks) {
			ticks += "`"
		}
		fmt.Fprintf(b, "\nMade by %s%s%s.\n", ticks, p.Command, ticks)
	}
	return b.Flush()
}

// span says how long a trace is and how long its requests last, which shows a wrong unit; "" for a snapshot.
func (p *Page) span() string {
	q := p.Advice.Question
	if q.Snapshot {
		return ""
	}
	var lifetimes []float64
	for i := range q.Requests.Requests {
		lifetimes = append(lifetimes, float64(float64(q.Requests.Requests[i].Lifespan)*q.Requests.Seconds()))
	}
	median, err := stats.Quantile(lifetimes, 0.5)
	if err != nil {
		return ""
	}
	return fmt.Sprintf(" over %s, median lifetime %s", duration(p.Advice.Span.Block*float64(p.Advice.Span.Blocks)),
		duration(median))
}

// few says that a trace is too short for intervals; "" if it has enough.
func (p *Page) few() string {
	n, span := len(p.Advice.Question.Requests.Requests), p.Advice.Span
	if p.Advice.Question.Snapshot || !span.Few {
		return ""
	}
	return fmt.Sprintf("Too few to decide anything: %s in %s. ", count(n, "requests"),
		duration(span.Block*float64(span.Blocks)))
}

// summary answers how many GPUs are needed, and with which policy.
func (p *Page) summary() string {
	a := p.Advice
	if a.Question.Snapshot {
		return p.fit()
	}
	fewest := a.Needs[len(a.Needs)-1]
	text := fmt.Sprintf("%sFor %s: %s with first fit", p.few(), p.target(), count(a.Needs[0].GPUs, "GPUs"))
	if fewest.GPUs < a.Needs[0].GPUs {
		text += fmt.Sprintf(", %d with %s", fewest.GPUs, fewest.Policy)
	}
	text += fmt.Sprintf(", %d with fixed instances", a.FixedNeed.GPUs)
	if a.Question.Named != nil {
		text += " of every profile that jobs name"
	}
	text += fmt.Sprintf(", at least %d with any policy.", a.Below)
	if p.few() == "" {
		text += " " + p.better()
	}
	return text
}

// better says whether a policy is certainly better than first fit.
func (p *Page) better() string {
	for _, c := range p.Advice.Policies {
		if c.Apart && c.Less.Mean > 0 {
			return fmt.Sprintf("%s waits certainly less than first fit, by %s.", c.Policy, estimate(c.Less))
		}
	}
	return "No policy is certainly better than first fit."
}

// sections returns the answers in their order.
func (p *Page) sections() []section {
	if p.Advice.Question.Snapshot {
		return []section{p.snapshotDemand(), p.snapshot()}
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

// whole returns a sentence about the requests for whole GPUs, with a space before it; "" if there are none.
func (p *Page) whole() string {
	i := slices.IndexFunc(p.Advice.Profiles, func(d advise.Demand) bool { return d.Profile == p.Advice.Whole })
	if i < 0 {
		return ""
	}
	d := p.Advice.Profiles[i]
	text := fmt.Sprintf(" %d requests need a whole GPU", d.Requests)
	if d.Requests == 1 {
		text = " 1 request needs a whole GPU"
	}
	if d.Several > 0 {
		text += fmt.Sprintf(", %d of them several at once", d.Several)
	}
	return text + ": MIG must be off on the GPUs that serve them."
}

// name returns the name of a profile.
func (p *Page) name(profile *mig.Profile) string {
	if profile == p.Advice.Whole {
		return "whole GPU"
	}
	return profile.String()
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

// peakMeasure says how the largest number of GPUs in use is counted.
const peakMeasure = "by memory or compute slices, whichever are more"

// demandTitle is the title of the first section, of traces and of snapshots.
const demandTitle = "1. What does the trace ask for?"

// demand answers what a trace asks for: requests by profile, and the GPUs that they would keep busy.
func (p *Page) demand() section {
	load, profiles := p.Advice.Load, p.Advice.Profiles
	t := reports.Table{
		Columns: reports.Left("profile").Right("requests", "% of requests", "mean s", "GPU hours",
			"% of hours"),
		Notes: []string{"GPU hours and GPUs on the mean: by memory slices; at most: " + peakMeasure},
	}
	hours := sumHours(profiles)
	for _, d := range profiles {
		ofRequests := 100 * float64(d.Requests) / float64(len(p.Advice.Question.Requests.Requests))
		t.Row(p.name(d.Profile), d.Requests, reports.Cells(1, ofRequests, d.Mean, d.GPUHours, 100*d.GPUHours/hours))
	}
	mean := 0.0
	for _, v := range load.Memory {
		mean += v / float64(len(load.Memory))
	}
	answer := fmt.Sprintf("If no request waited, the trace would keep %.1f GPUs busy on the mean and %.1f at most.%s",
		mean, load.Peak, p.whole())
	figure := reports.Lines{
		Title: fmt.Sprintf("Mean demand in %d parts of the time, if no request waited", len(load.Hours)),
		X:     reports.Axis{Label: "Time since the first arrival [h]"}, Y: reports.Axis{Label: "GPUs"},
		Series: []reports.Series{
			{Name: "memory slices", X: load.Hours, Y: load.Memory},
			{Name: "compute slices", X: load.Hours, Y: load.Compute},
		},
	}
	return section{title: demandTitle, answer: answer, table: &t, figure: figure, name: "load"}
}

// snapshotDemand answers what a snapshot asks for: instances by profile. GPU hours are in proportion to slices there.
func (p *Page) snapshotDemand() section {
	profiles := p.Advice.Profiles
	t := reports.Table{
		Columns: reports.Left("profile").Right("instances", "% of instances", "% of slices"),
		Notes:   []string{"% of slices: of the memory slices; the GPUs above: " + peakMeasure},
	}
	hours, instances := sumHours(profiles), 0
	for _, d := range profiles {
		instances += d.Instances
	}
	for _, d := range profiles {
		ofInstances := 100 * float64(d.Instances) / float64(instances)
		t.Row(p.name(d.Profile), d.Instances, reports.Cells(1, ofInstances, 100*d.GPUHours/hours))
	}
	answer := fmt.Sprintf("All at once, the requests need the slices of %.1f GPUs.%s", p.Advice.Load.Peak, p.whole())
	return section{title: demandTitle, answer: answer, table: &t}
}

// sumHours returns the GPU hours of all profiles.
func sumHours(profiles []advise.Demand) (hours float64) {
	for _, d := range profiles {
		hours += d.GPUHours
	}
	return hours
}

// policies answers which policy has the shortest waits. The policies are sorted by their mean waits.
func (p *Page) policies() section {
	a := p.Advice
	t := reports.Table{
		Columns: reports.Left("policy").Right("mean wait s", "from", "to", "less than ff s", "from", "to").
			Left("than ff").Right("p95 s"),
		Notes: []string{
			"from, to: the 95 % interval of the number before them",
			fmt.Sprintf("better, worse: certainly, with Bonferroni's correction for %s; too short: the trace, to tell",
				count(len(a.Policies)-1, "differences")),
			"no policy has a mean wait of less than " + duration(a.WaitAtLeast),
			"ff is first fit; Kubernetes has dra-first-fit, and HAMi has the hami policies; no scheduler compared here " +
				"has the others",
			"in Slurm answer 4 counts",
		},
	}
	for _, c := range a.Policies {
		than := reports.Missing
		if c.Policy != advise.FirstFit {
			than = verdict(c)
		}
		t.Row(c.Policy, cells(c.Mean), cells(c.Less), than, reports.Cells(1, c.P95))
	}
	return section{title: "2. Which policy?", table: &t, answer: p.policyAnswer()}
}

// policyAnswer says which policy is best.
func (p *Page) policyAnswer() string {
	a := p.Advice
	best, on := a.Policies[0], count(a.GPUs, "GPUs")
	other := func(c advise.Compared) bool { return c.Wait != best.Wait || c.P95 != best.P95 }
	if len(a.Policies) > 1 && !slices.ContainsFunc(a.Policies, other) {
		text := fmt.Sprintf("On %s, all %d policies have the same waits, %s on the mean", on, len(a.Policies),
			duration(best.Wait))
		if p.few() != "" {
			return text + ": the trace cannot tell them apart."
		}
		return text + ": for this trace the policy does not matter."
	}
	text := fmt.Sprintf("%s On %s, %s has the shortest mean wait, %s", p.better(), on, best.Policy, estimate(best.Mean))
	if best.Policy != advise.FirstFit && !best.Apart {
		text += fmt.Sprintf("; that is %s less than first fit", estimate(best.Less))
	}
	return text + "."
}

// verdict compares a policy with first fit.
func verdict(c advise.Compared) string {
	switch {
	case c.Less.Short:
		return "too short"
	case !c.Apart:
		return "not certain"
	case c.Less.Mean > 0:
		return "better"
	}
	return "worse"
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
	t := reports.Table{
		Columns: reports.Left("by").Right("GPUs", "mean wait s", "from", "to", "p95 s").Left("fewer GPUs"),
		Notes: []string{
			"do not suffice: each smaller number that is not proven too few was simulated, and waits too long",
			"may suffice: not all of these were simulated",
		},
	}
	t.Row("any policy", fmt.Sprint("at least ", a.Below), reports.Missing, reports.Missing, reports.Missing,
		reports.Missing, "proven too few")
	var above []string
	for _, n := range append(slices.Clone(a.Needs), a.FixedNeed) {
		if a.Question.Wait >= 0 && n.Mean.Blocks > 0 && n.Mean.High > a.Question.Wait {
			above = append(above, n.Policy)
		}
		how := "do not suffice"
		if !n.Least {
			how = "may suffice"
		}
		if n.Gap {
			how += "; one more waits too long"
		}
		t.Row(n.Policy, n.GPUs, cells(n.Mean), reports.Cells(1, n.Outcome.P95), how)
	}
	first := a.Needs[0]
	s := section{title: "3. How many GPUs?", table: &t}
	s.answer = fmt.Sprintf("First fit waits %s on %s.", estimate(first.Mean), count(first.GPUs, "GPUs"))
	if len(above) > 0 {
		s.answer += fmt.Sprintf(" The interval reaches above the target, so that the GPUs may be too few, for: %s.",
			strings.Join(above, ", "))
	}
	return s
}

// fixed answers which instances each GPU should have if instances never change.
func (p *Page) fixed() section {
	f := p.Advice.Fixed
	s := section{title: "4. Which fixed geometry?"}
	if f.Geometry == nil || f.Outcome.Error != "" {
		s.answer = fmt.Sprintf("No fixed geometry of %s was found that serves all requests.", count(f.GPUs, "GPUs"))
		return s
	}
	s.table = p.layoutTable()
	s.table.Notes = []string{"delay: from arrival to end, less the lifetime in the trace"}
	if p.Advice.Question.PerNode == 0 {
		s.table.Notes = append(s.table.Notes,
			"the files of --out have one node; --pernode says how many GPUs a node has")
	}
	among, missing := "of requested profiles", p.missing(f)
	if p.Advice.Question.Named != nil && missing == "" {
		among = "with every profile that jobs name"
	}
	cost, how := f.Cost, "more"
	if cost.Mean < 0 {
		cost.Mean, cost.Low, cost.High = -cost.Mean, -cost.High, -cost.Low
		how = "less"
	}
	s.answer = fmt.Sprintf("On %s, the best geometry found %s delays a request by %s on the mean, %s %s than %s, "+
		"which changes instances.", count(f.GPUs, "GPUs"), among, estimate(f.Mean), estimate(cost), how,
		p.Advice.Policies[0].Policy)
	if missing != "" {
		s.answer += fmt.Sprintf(" It has no %s, which Slurm rejects and Kubernetes leaves pending: these jobs must "+
			"ask for larger instances, or the cluster needs more GPUs.", missing)
	}
	return s
}

// missing lists the profiles that jobs name and a fixed geometry lacks; "" if it has all.
func (p *Page) missing(f advise.Fixed) string {
	have := slices.Concat(f.Geometry...)
	var lacking []string
	for _, d := range p.Advice.Profiles {
		has := func(in mig.Instance) bool { return in.Profile == d.Profile }
		if slices.Contains(p.Advice.Question.Named, d.Profile) && !slices.ContainsFunc(have, has) {
			lacking = append(lacking, fmt.Sprintf("%s (%s)", d.Profile, count(d.Requests, "requests")))
		}
	}
	return strings.Join(lacking, ", ")
}

// order answers in which order a driver should list the devices of a GPU.
func (p *Page) order() section {
	o := p.Advice.Order
	s := section{title: "5. In which order should a DRA driver list its devices?"}
	s.answer = fmt.Sprintf("By ascending starts: none of the %d orders tried is certainly better.", o.Tried)
	if o.Better() {
		s.answer = fmt.Sprintf("By starts in the order %s, the best of %d tried on the first half of the time: in the "+
			"second half its mean wait is certainly less than with ascending starts, by %s.", fmt.Sprint(o.Chosen),
			o.Tried, estimate(o.Saved))
	}
	return s
}

// moving answers how much moves of running requests gain, by their cost.
func (p *Page) moving() section {
	s := section{title: "6. What would moving gain?"}
	t := reports.Table{
		Columns: reports.Left("a move costs s").Right("moves", "less delay s", "from", "to"),
		Notes: []string{
			fmt.Sprintf("less delay: of %s, which moves requests, than of %s, from arrival to end with the pauses",
				advise.Mover, advise.Still),
		},
	}
	if len(p.Advice.Moving) == 0 {
		s.answer = "Not answered: a simulation with moves failed."
		return s
	}
	s.table = &t
	longest := p.Advice.Moving[len(p.Advice.Moving)-1].Cost
	s.answer = "No gain is certain for moves that stop a request for up to " + duration(longest) + "."
	gain := true // at all costs so far
	for _, m := range p.Advice.Moving {
		t.Row(m.Cost, m.Moves, cells(m.Less))
		gain = gain && m.Apart && m.Less.Mean > 0
		if gain {
			s.answer = fmt.Sprintf("Moves that stop a request for up to %s certainly gain: the mean time from arrival "+
				"to end is then %s less.", duration(m.Cost), estimate(m.Less))
		}
	}
	return s
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
		out = append(out, "The trace is too short for intervals.")
	default:
		out = append(out, fmt.Sprintf("It is one trace. Intervals come from %d blocks of %s; they "+
			"say nothing about other clusters or other weeks.", span.Blocks, duration(span.Block)))
		if slices.ContainsFunc(a.Policies, func(c advise.Compared) bool {
			return c.Mean.Short || c.Less.Short
		}) {
			out = append(out, "Some waits or differences are similar in neighbouring blocks: the blocks are too "+
				"short, and those intervals too narrow. Take at least twice the time, and 12 days or more.")
		}
	}
	if a.Load.Drifts {
		out = append(out, fmt.Sprintf("The demand is not stationary: %.1f GPUs in the first half and %.1f in the "+
			"second. Numbers for the next weeks depend on which half they are like.", a.Load.Early, a.Load.Late))
	}
	if slices.ContainsFunc(a.Profiles, func(d advise.Demand) bool { return d.Several > 0 }) {
		out = append(out, "A request for several GPUs takes any GPUs that are free, on several nodes too. A "+
			"cluster that keeps it on one node makes it wait longer.")
	}
	return append(out, "The cluster is simulated, and its requests come as in the trace whatever they wait. Creating "+
		"and destroying instances takes no time.")
}

// snapshot answers which instances hold a snapshot, and which requests find no room.
func (p *Page) snapshot() section {
	a := p.Advice
	s := section{title: "2. With which instances?", table: p.layoutTable()}
	omitted := a.Held.Omitted
	if len(omitted) == 0 {
		s.answer = fmt.Sprintf("On %s:", count(a.GPUs, "GPUs"))
		if a.Question.PerNode > 0 {
			s.answer = fmt.Sprintf("On %s, each request on one node if a node can hold it:", count(a.GPUs, "GPUs"))
		}
		return s
	}
	text := fmt.Sprintf("On %s no room was found for %s", count(a.GPUs, "GPUs"), count(len(omitted), "requests"))
	if p.Lines != nil {
		const most = 10
		lines := nearest.Names(omitted[:min(len(omitted), most)], p.line)
		text += ", in the lines " + strings.Join(lines, ", ")
		if len(omitted) > most {
			text += " and others; left.csv of --out has all"
		}
	}
	s.answer = text + "."
	return s
}

// fit says how many GPUs hold a snapshot.
func (p *Page) fit() string {
	need := p.Advice.Needs[0]
	text := "All requests at once fit on " + count(need.GPUs, "GPUs")
	switch {
	case p.Partial:
		return text + "; those that are left out need more."
	case need.Least:
		return text + " and on no fewer."
	}
	return fmt.Sprintf("%s; at least %d are needed.", text, p.Advice.Below)
}

// line returns the line of a request in the file, or [reports.Missing] if it is not known.
func (p *Page) line(request int) string {
	if p.Lines == nil {
		return reports.Missing
	}
	return strconv.Itoa(p.Lines[request])
}

// instances returns the instances of each GPU, in the placement of a snapshot or in the best fixed geometry. A GPU with
// MIG off has [advise.Advice.Whole], and one that a snapshot leaves free has nil.
func (p *Page) instances() (out [][]*mig.Profile) {
	a := p.Advice
	out = slices.Clone(a.Held.Layouts)
	for _, layout := range a.Fixed.Geometry {
		var profiles []*mig.Profile
		for _, in := range layout {
			profiles = append(profiles, in.Profile)
		}
		out = append(out, profiles)
	}
	return out
}

// layoutTable lists the instances of the GPUs. Neighbours with the same instances share a row.
func (p *Page) layoutTable() *reports.Table {
	var names []string
	for _, profiles := range p.instances() {
		name := strings.Join(nearest.Names(profiles, p.name), " ")
		if slices.Contains(profiles, p.Advice.Whole) {
			name = "MIG off"
		}
		names = append(names, cmp.Or(name, "free"))
	}
	t := reports.Table{Columns: reports.Left("instances").Right("GPUs")}
	for equal := range reports.Grouped(names, func(name *string) string { return *name }) {
		t.Row(equal[0], len(equal))
	}
	return &t
}

// layouts returns the layouts of each kind of node, and of each node, and a line that names the kind of each node.
// Nodes whose GPUs have the same instances in the same order are of one kind. A GPU without instances, also a free one,
// counts as a GPU with MIG off.
func (p *Page) layouts() (kinds, nodes []layout.Named, line string) {
	all := p.instances()
	for i, profiles := range all {
		if slices.Contains(profiles, p.Advice.Whole) {
			all[i] = nil
		}
	}
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
