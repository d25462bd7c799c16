package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Markers of the part of README.md that the tool writes.
const (
	readmeBegin = "<!-- claims: written by `make readme`; do not edit -->\n"
	readmeEnd   = "<!-- /claims -->"
)

// UpdateReadme replaces the summary of claims in a README. Artefacts with many numbers, or
// with numbers that cannot be run, have one line in it; the others have a line per number.
func UpdateReadme(readme string, rows []Row) (string, error) {
	before, rest, ok := strings.Cut(readme, readmeBegin)
	_, after, end := strings.Cut(rest, readmeEnd)
	if !ok || !end {
		return "", fmt.Errorf("README.md lacks the lines %q and %q", strings.TrimSpace(readmeBegin), readmeEnd)
	}
	return before + readmeBegin + Summary(rows) + readmeEnd + after, nil
}

// Summary is a Markdown table of claim, published, measured, verdict.
func Summary(rows []Row) string {
	const many = 10
	var b strings.Builder
	n := Count(rows)
	fmt.Fprintf(&b, "%d published numbers: %d REPRODUCED, %d DEVIATES, %d NOT RUNNABLE, %d INPUT.\n\n",
		n[Reproduced]+n[Deviates]+n[NotRunnable]+n[FromPaper], n[Reproduced], n[Deviates], n[NotRunnable], n[FromPaper])
	b.WriteString("| paper | claim | published | measured | verdict |\n|---|---|---:|---:|---|\n")
	for i := 0; i < len(rows); {
		j := i
		var own []Row
		for ; j < len(rows) && rows[j].Paper == rows[i].Paper && rows[j].Artefact == rows[i].Artefact; j++ {
			if !rows[j].isReading() {
				own = append(own, rows[j])
			}
		}
		if len(own) > many || Count(own)[NotRunnable] > 1 {
			fmt.Fprintf(&b, "| %s | %s, %d numbers | | %s | %s |\n", rows[i].Paper, rows[i].Artefact, len(own), meanError(own), verdicts(own))
		} else {
			for _, r := range own {
				unit := ""
				if r.Unit != "" {
					unit = " " + r.Unit
				}
				measured := ""
				if v, err := strconv.ParseFloat(r.Measured, 64); err == nil {
					// One digit more than is printed.
					_, decimals, _ := strings.Cut(r.Published, ".")
					measured = strconv.FormatFloat(v, 'f', len(decimals)+1, 64) + unit
				}
				fmt.Fprintf(&b, "| %s | %s: %s | %s%s | %s | %s |\n", r.Paper, r.Artefact, r.Claim, r.Published, unit, measured, r.Verdict)
			}
		}
		i = j
	}
	b.WriteString("\n")
	return b.String()
}

// meanError gives the mean distance between measured and published values. It is empty if
// none was measured, if all are inputs, or if they differ in kind.
func meanError(rows []Row) string {
	var sum float64
	n := 0
	for _, r := range rows {
		if r.Unit != rows[0].Unit || strings.Contains(r.Claim, "(at ") {
			return ""
		}
		if r.Verdict != Reproduced && r.Verdict != Deviates {
			continue
		}
		published, errP := strconv.ParseFloat(r.Published, 64)
		measured, errM := strconv.ParseFloat(r.Measured, 64)
		if errP == nil && errM == nil {
			sum += math.Abs(measured - published)
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("mean error %.3g", sum/float64(n))
}

// verdicts says how many rows have each verdict, for example "17 of 18 REPRODUCED".
func verdicts(rows []Row) string {
	n := Count(rows)
	var parts []string
	for _, v := range []Verdict{Reproduced, Deviates, NotRunnable, FromPaper} {
		if n[v] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[v], v))
		}
	}
	return strings.Join(parts, ", ")
}
