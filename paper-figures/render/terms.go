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
var notLinked = regexp.MustCompile("(?m)^[#|].*$|</?[a-z][^>]*>|`[^`]*`|!?\\[[^\\]]*\\]\\([^)]*\\)")

// linkTerms links the first use of each name of a term in a page to its explanation on another page. Of the names that
// begin at a place, the longest counts.
func linkTerms(page string, terms []manifest.Term, to string) string {
	type place struct {
		anchor string
		linked bool
	}
	places, names := map[string]*place{}, map[byte][]string{} // names by their first byte
	for _, t := range terms {
		for name := range strings.SplitSeq(t.Name, ", ") {
			p := &place{anchor: anchor(t)}
			for _, s := range spellings(name) {
				if places[s] == nil {
					places[s], names[s[0]] = p, append(names[s[0]], s)
				}
			}
		}
	}
	for _, n := range names {
		slices.SortFunc(n, func(a, b string) int { return len(b) - len(a) })
	}
	var out strings.Builder
	last, skips := 0, append(notLinked.FindAllStringIndex(page, -1), []int{len(page), len(page)})
	for at := 0; at < len(page); {
		if at >= skips[0][0] {
			at, skips = max(at, skips[0][1]), skips[1:]
			continue
		}
		name, begins := "", func(n string) bool { return strings.HasPrefix(page[at:], n) }
		if i := slices.IndexFunc(names[page[at]], begins); i >= 0 {
			name = names[page[at]][i]
		}
		before, _ := utf8.DecodeLastRuneInString(page[:at])
		after, _ := utf8.DecodeRuneInString(page[at+len(name):])
		if p := places[name]; p != nil && !p.linked && !inWord(before) && !inWord(after) {
			fmt.Fprintf(&out, "%s[%s](%s#%s)", page[last:at], name, to, p.anchor)
			last, p.linked = at+len(name), true
		}
		at += max(1, len(name))
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
