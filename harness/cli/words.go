package cli

import "strings"

// word quotes a text for the shell, if it needs quotes.
func word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("-_=./,:%+@", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Words quotes texts for the shell and joins them by spaces.
func Words(texts []string) string {
	words := make([]string, len(texts))
	for i, text := range texts {
		words[i] = word(text)
	}
	return strings.Join(words, " ")
}
