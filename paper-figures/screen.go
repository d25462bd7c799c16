package figures

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"miglab/paper-figures/claim"
	"miglab/paper-figures/verdict"
	"miglab/reports"
)

// curveFile is the figure of a paper's conclusions, without extension.
const curveFile = "conclusions"

// saveCurve draws the conclusions into a folder of results, if there are any.
func (p *PaperRecord) saveCurve(dir string) error {
	if len(p.Conclusions) == 0 {
		return nil
	}
	f := reports.Curve{Title: p.Name + ": conclusions by reading"}
	for _, c := range p.Conclusions {
		row := reports.CurveRow{Name: c.ID, Text: "“" + c.Sentence + "”", Answer: string(c.Answer)}
		row.Dots = Map(c.Dots, func(d Dot) reports.CurveDot {
			return reports.CurveDot{
				Default: d.Default, Aside: d.Aside, State: reports.DotState(d.State), Distance: d.Distance,
			}
		})
		f.Rows = append(f.Rows, row)
	}
	return reports.SaveFigure(filepath.Join(dir, p.Name, curveFile), f)
}

// leading are the conclusions of the first screen: the first three of conclusions.csv that were measured, because
// that file begins with what matters most. The third gives way to the first one that does not hold, if that comes
// later.
func (p *PaperRecord) leading() []Conclusion {
	const few = 3
	measured := slices.DeleteFunc(slices.Clone(p.Conclusions), func(c Conclusion) bool {
		return c.Answer == verdict.CannotRun
	})
	fails := slices.IndexFunc(measured, func(c Conclusion) bool { return c.Answer == verdict.DoesNotHold })
	if fails >= few {
		measured[few-1] = measured[fails]
	}
	return measured[:min(few, len(measured))]
}

// answered is how many of the conclusions have an answer.
func (p *PaperRecord) answered(a verdict.Answer) int {
	return Count(p.Conclusions, func(c Conclusion) bool { return c.Answer == a })
}

// byAnswer lists the conclusions in words, a line an answer and part, each with how many of its readings meet it.
func (p *PaperRecord) byAnswer() (lines []string) {
	for _, a := range append(slices.Clone(verdict.Answers), verdict.Aside) {
		for _, part := range []verdict.Part{"", verdict.SomeReadings, verdict.SomeValues, verdict.SignAlone} {
			var names []string
			for _, c := range p.Conclusions {
				if c.Answer == a && c.Part == part {
					names = append(names, c.named())
				}
			}
			if names != nil {
				line := strings.TrimSpace(fmt.Sprintf("**%s** %s", a, part))
				lines = append(lines, line+": "+strings.Join(names, "; "))
			}
		}
	}
	return lines
}

// named is the conclusion in a list.
func (c Conclusion) named() string {
	text := strings.TrimSpace(c.ID + " " + reports.EscapeMarkdown(c.Short))
	if share := c.share(); share != "" {
		text += " (" + share + ")"
	}
	return text
}

// score counts the answers in words.
func (p *PaperRecord) score() string {
	var counts []string
	all := 0
	for _, a := range verdict.Answers {
		if n := p.answered(a); n > 0 {
			counts, all = append(counts, fmt.Sprintf("%s %d", a, n)), all+n
		}
	}
	return fmt.Sprintf("%d conclusions: %s", all, strings.Join(counts, ", "))
}

// concluded is a table of the conclusions by paper and answer. The format is that of a paper's name.
func (m *Manifest) concluded(format string) string {
	text := countsHead(verdict.Answers, "%s", "paper")
	for i := range m.Papers {
		p := &m.Papers[i]
		text += countsLine(Map(verdict.Answers, p.answered), "0", fmt.Sprintf(format, p.Name))
	}
	return text
}

// causesByTable is a table of the causes of the counted claims that deviate, by paper and artefact.
func (m *Manifest) causesByTable() string {
	text := countsHead(claim.Causes, "`%s`", "paper", "table")
	for _, p := range m.Papers {
		for _, a := range p.Artefacts {
			counts := Map(claim.Causes, func(c claim.Cause) int {
				return Count(a.Rows, func(r Row) bool {
					return r.Counted() && r.Verdict == verdict.Deviates && r.Cause == c
				})
			})
			if slices.Max(counts) > 0 {
				text += countsLine(counts, "", p.Name, fmt.Sprintf("[%s](%s/README.md#%[1]s)", a.Artefact, p.Name))
			}
		}
	}
	return text
}

// countsHead are the first two lines of a table of counts in Markdown: names, and columns of counts with their sum.
func countsHead[C ~string](columns []C, format string, names ...string) string {
	text := "| " + strings.Join(names, " | ") + " | "
	for _, c := range columns {
		text += fmt.Sprintf(format+" | ", c)
	}
	return text + "all |\n" + strings.Repeat("|---", len(names)) + strings.Repeat("|---:", len(columns)+1) + "|\n"
}

// countsLine is a line of the table, with a text for counts of 0.
func countsLine(counts []int, zero string, names ...string) string {
	sum, text := 0, "| "+strings.Join(names, " | ")+" | "
	for _, n := range counts {
		sum += n
		if n == 0 {
			text += zero + " | "
		} else {
			text += strconv.Itoa(n) + " | "
		}
	}
	return text + strconv.Itoa(sum) + " |\n"
}

// conclusionsTable is a table of all conclusions of the paper.
func (p *PaperRecord) conclusionsTable() (string, error) {
	t := Table{Table: reports.Table{
		Columns: reports.Left("id", "sentence", "section", "answer", "numbers", "in words", "what the readings vary"),
	}}
	for _, c := range p.Conclusions {
		t.Row(c.ID, "“"+c.Sentence+"”", c.Section, c.answerInFull(), c.Numbers, c.inWords(), c.Varied)
	}
	return t.encoded("markdown")
}

// answerInFull is the answer with the part that holds.
func (c Conclusion) answerInFull() string {
	return strings.TrimSpace(string(c.Answer) + " " + string(c.Part))
}

// inWords is the sentence about the conclusion and why it came out so.
func (c Conclusion) inWords() string { return strings.TrimSpace(c.Plain + " " + c.Because) }

// share is how many of the readings meet the conclusion, and of the values under the default if no reading does.
func (c Conclusion) share() string {
	switch {
	case c.Readings == 0:
		return ""
	case c.Part == verdict.SomeValues:
		return fmt.Sprintf("%d of %d values", c.Right, c.Values)
	}
	return fmt.Sprintf("%d of %d", c.Met, c.Readings)
}

// brief is what the first screen says of the numbers. Those of a model hang on its constants, so that words say with
// which of them it is met.
func (c Conclusion) brief() string {
	switch {
	case c.Answer == verdict.InTheModel:
		return c.Plain
	case c.Numbers == "":
		return ""
	}
	return "Measured: " + c.Numbers + "."
}

// linkedTables links the tables that a page names as "(see table)", and those of times, which are beside the page.
func linkedTables(page string) string {
	page = regexp.MustCompile(`the table (timing[\w-]*)`).ReplaceAllString(page, "the table [$1](../$1.md)")
	return regexp.MustCompile(`\(see ([\w-]+)\)`).ReplaceAllString(page, "(see [$1](#$1))")
}

// ordered are the artefacts in the order of the page. Those that compare nothing but the paper's inputs come last.
func (p *PaperRecord) ordered() []Record {
	var out, inputs []Record
	for _, a := range p.Artefacts {
		measured := func(r Row) bool { return r.Default && r.Verdict != verdict.Input }
		if len(a.Rows) > 0 && !slices.ContainsFunc(a.Rows, measured) {
			inputs = append(inputs, a)
		} else {
			out = append(out, a)
		}
	}
	return append(out, inputs...)
}

// comparisons are the tables that compare claim by claim, or the others.
func (a *Record) comparisons(which bool) []Table {
	return slices.DeleteFunc(slices.Clone(a.Tables), func(t Table) bool {
		return (t.File == claimsFile(a.Artefact)) != which
	})
}

// anchor is the name of the place where a term is explained.
func (t Term) anchor() string {
	return "term-" + strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(t.Name), "-"), "-")
}

// notLinked matches what a link cannot stand in: headings, tags, code and other links.
const notLinked = "(?m)^#.*$|</?[a-z][^>]*>|`[^`]*`|!?\\[[^\\]]*\\]\\([^)]*\\)"

// linked links the first use of each term in a page to its explanation. A term may have several names.
func linked(page string, terms []Term) string {
	anchors := map[string]string{}
	var names []string
	for _, t := range terms {
		for name := range strings.SplitSeq(t.Name, ", ") {
			first, size := utf8.DecodeRuneInString(name)
			for _, name := range []string{name, string(unicode.ToUpper(first)) + name[size:]} {
				for _, name := range []string{name, reports.EscapeMarkdown(name)} {
					if anchors[name] == "" {
						anchors[name], names = t.anchor(), append(names, regexp.QuoteMeta(name))
					}
				}
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	pattern := regexp.MustCompile(notLinked + "|" + strings.Join(names, "|"))
	var out strings.Builder
	last := 0
	for _, at := range pattern.FindAllStringIndex(page, -1) {
		name := page[at[0]:at[1]]
		anchor := anchors[name]
		before, _ := utf8.DecodeLastRuneInString(page[:at[0]])
		after, _ := utf8.DecodeRuneInString(page[at[1]:])
		if anchor == "" || inWord(before) || inWord(after) {
			continue
		}
		fmt.Fprintf(&out, "%s[%s](#%s)", page[last:at[0]], name, anchor)
		last = at[1]
		for other, a := range anchors {
			if a == anchor && strings.EqualFold(strings.ReplaceAll(other, `\`, ""), strings.ReplaceAll(name, `\`, "")) {
				delete(anchors, other)
			}
		}
	}
	return out.String() + page[last:]
}

// inWord reports whether a word goes on with the rune.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`_-=?/\&`, r)
}
