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
	anchors := map[string]string{} // of the names that are not linked yet
	names := map[byte][]string{}   // by their first bytes
	for _, t := range terms {
		for _, name := range spellings(t) {
			if anchors[name] == "" {
				anchors[name] = anchor(t)
				names[name[0]] = append(names[name[0]], name)
			}
		}
	}
	for _, some := range names {
		slices.SortFunc(some, func(a, b string) int { return len(b) - len(a) })
	}
	zones := notLinked.FindAllStringIndex(page, -1)
	var out strings.Builder
	last := 0
	for at := 0; at < len(page); {
		if len(zones) > 0 && at >= zones[0][0] {
			at, zones = max(at, zones[0][1]), zones[1:]
			continue
		}
		name := nameAt(page, at, names[page[at]], anchors)
		if name == "" {
			_, size := utf8.DecodeRuneInString(page[at:])
			at += size
			continue
		}
		target := anchors[name]
		fmt.Fprintf(&out, "%s[%s](%s#%s)", page[last:at], name, to, target)
		at += len(name)
		last = at
		for other, a := range anchors {
			if a == target && strings.EqualFold(strings.ReplaceAll(other, `\`, ""), strings.ReplaceAll(name, `\`, "")) {
				delete(anchors, other)
			}
		}
	}
	return out.String() + page[last:]
}

// spellings returns the names of a term, also with a capital, and as Markdown escapes them.
func spellings(t manifest.Term) (out []string) {
	for name := range strings.SplitSeq(t.Name, ", ") {
		first, size := utf8.DecodeRuneInString(name)
		capital := string(unicode.ToUpper(first)) + name[size:]
		out = append(out, name, capital, reports.EscapeMarkdown(name), reports.EscapeMarkdown(capital))
	}
	return out
}

// nameAt returns the first of the names that stands at a place of the page, as a whole word and with an anchor, or "".
func nameAt(page string, at int, names []string, anchors map[string]string) string {
	before, _ := utf8.DecodeLastRuneInString(page[:at])
	if inWord(before) {
		return ""
	}
	for _, name := range names {
		if anchors[name] == "" || !strings.HasPrefix(page[at:], name) {
			continue
		}
		after, _ := utf8.DecodeRuneInString(page[at+len(name):])
		if !inWord(after) {
			return name
		}
	}
	return ""
}

// inWord reports whether a word goes on with the rune.
func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`_-=?/\&`, r)
}
