package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"miglab/paper-figures/manifest"
	"miglab/reports"
)

var notInAnchors = regexp.MustCompile(`[^a-z0-9]+`)

// anchor returns the name of the place where a term is explained.
func anchor(t manifest.Term) string {
	return "term-" + strings.Trim(notInAnchors.ReplaceAllString(strings.ToLower(t.Name), "-"), "-")
}

// notLinked matches what a link cannot stand in: headings, rows of tables, tags, code and other links.
const notLinked = "(?m)^[#|].*$|</?[a-z][^>]*>|`[^`]*`|!?\\[[^\\]]*\\]\\([^)]*\\)"

// linkTerms links the first use of each name of a term in a page to its explanation on another page. Of the names that
// begin at a place, the longest counts.
func linkTerms(page string, terms []manifest.Term, to string) string {
	type place struct {
		anchor string
		linked bool
	}
	places, names := map[string]*place{}, []string{}
	for _, t := range terms {
		for name := range strings.SplitSeq(t.Name, ", ") {
			p := &place{anchor: anchor(t)}
			for _, s := range spellings(name) {
				if places[s] == nil {
					places[s], names = p, append(names, regexp.QuoteMeta(s))
				}
			}
		}
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	var out strings.Builder
	last := 0
	found := regexp.MustCompile(strings.Join(append([]string{notLinked}, names...), "|"))
	for _, at := range found.FindAllStringIndex(page, -1) {
		name := page[at[0]:at[1]]
		before, _ := utf8.DecodeLastRuneInString(page[:at[0]])
		after, _ := utf8.DecodeRuneInString(page[at[1]:])
		if p := places[name]; p != nil && !p.linked && !inWord(before) && !inWord(after) {
			fmt.Fprintf(&out, "%s[%s](%s#%s)", page[last:at[0]], name, to, p.anchor)
			last, p.linked = at[1], true
		}
	}
	return out.String() + page[last:]
}

// spellings returns a name, also with a capital, and as Markdown escapes them.
func spellings(name string) []string {
	first, size := utf8.DecodeRuneInString(name)
	capital := string(unicode.ToUpper(first)) + name[size:]
	return []string{name, capital, reports.EscapeMarkdown(name), reports.EscapeMarkdown(capital)}
}

// inWord reports whether a word goes on with the rune.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`_-=?/\&`, r)
}
