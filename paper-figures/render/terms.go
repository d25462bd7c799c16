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

// anchor is the name of the place where a term is explained.
func anchor(t manifest.Term) string {
	return "term-" + strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(t.Name), "-"), "-")
}

// notLinked matches what a link cannot stand in: headings, rows of tables, tags, code and other links.
const notLinked = "(?m)^[#|].*$|</?[a-z][^>]*>|`[^`]*`|!?\\[[^\\]]*\\]\\([^)]*\\)"

// linkTerms links the first use of each term in a page to its explanation on another one. A term may have several
// names.
func linkTerms(page string, terms []manifest.Term, to string) string {
	anchors := map[string]string{}
	var names []string
	for _, t := range terms {
		for name := range strings.SplitSeq(t.Name, ", ") {
			first, size := utf8.DecodeRuneInString(name)
			for _, name := range []string{name, string(unicode.ToUpper(first)) + name[size:]} {
				for _, name := range []string{name, reports.EscapeMarkdown(name)} {
					if anchors[name] == "" {
						anchors[name], names = anchor(t), append(names, regexp.QuoteMeta(name))
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
		target := anchors[name]
		before, _ := utf8.DecodeLastRuneInString(page[:at[0]])
		after, _ := utf8.DecodeRuneInString(page[at[1]:])
		if target == "" || inWord(before) || inWord(after) {
			continue
		}
		fmt.Fprintf(&out, "%s[%s](%s#%s)", page[last:at[0]], name, to, target)
		last = at[1]
		for other, a := range anchors {
			if a == target && strings.EqualFold(strings.ReplaceAll(other, `\`, ""), strings.ReplaceAll(name, `\`, "")) {
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
