package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// A scanner reads one line strictly: it accepts the spelling that the writer uses
// and no other, because two spellings of a cell would be two cells. After the
// first error it stays where it is and every method does nothing.
type scanner struct {
	line string
	at   int
	err  error
}

func (s *scanner) expected(what string) {
	if s.err == nil {
		s.err = fmt.Errorf("column %d: expected %s", s.at+1, what)
	}
}

// accept consumes the text if it comes next.
func (s *scanner) accept(text string) bool {
	if s.err != nil || !strings.HasPrefix(s.line[s.at:], text) {
		return false
	}
	s.at += len(text)
	return true
}

func (s *scanner) literal(text string) {
	if !s.accept(text) {
		s.expected(text)
	}
}

func (s *scanner) end() {
	if s.err == nil && s.at < len(s.line) {
		s.expected("the end of the line")
	}
}

// plain reports whether a byte stands for itself in a JSON string and is ASCII.
func plain(c byte) bool { return c >= ' ' && c < 0x80 && c != '"' && c != '\\' }

// text reads a JSON string and returns what it means.
func (s *scanner) text() string {
	start := s.at
	s.literal(`"`)
	for simple := true; s.err == nil && s.at < len(s.line); s.at++ {
		switch c := s.line[s.at]; {
		case plain(c):
		case c == '"':
			s.at++
			if simple {
				return s.line[start+1 : s.at-1]
			}
			return s.escaped(start)
		case c == '\\' && s.at+1 < len(s.line):
			s.at++
			simple = false
		default:
			simple = false
		}
	}
	s.expected("a string")
	return ""
}

// escaped decodes the string from start on that holds more than plain characters.
func (s *scanner) escaped(start int) string {
	quoted := s.line[start:s.at]
	var decoded string
	if err := json.Unmarshal([]byte(quoted), &decoded); err != nil || string(AppendString(nil, decoded)) != quoted {
		s.at = start
		s.expected("a JSON string with as few escapes as possible")
	}
	return decoded
}

// number reads a JSON number and returns its text.
func (s *scanner) number() string {
	start := s.at
	s.accept("-")
	if !s.accept("0") {
		s.digits()
	}
	if s.accept(".") {
		s.digits()
	}
	if s.accept("e") || s.accept("E") {
		if !s.accept("+") {
			s.accept("-")
		}
		s.digits()
	}
	return s.line[start:s.at]
}

func (s *scanner) digits() {
	start := s.at
	for s.err == nil && s.at < len(s.line) && s.line[s.at] >= '0' && s.line[s.at] <= '9' {
		s.at++
	}
	if s.at == start {
		s.expected("a digit")
	}
}

// float reads a number that float64 can hold.
func (s *scanner) float() float64 {
	start := s.at
	text := s.number()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil && s.err == nil {
		s.at = start
		s.expected("a number below 1.8e308")
	}
	return v
}

// object reads a flat JSON object. A value is a string, given as what it means, or
// a number, given as it is written.
func (s *scanner) object(field func(name, value string)) {
	s.literal("{")
	for i := 0; s.err == nil && !s.accept("}"); i++ {
		if i > 0 {
			s.literal(",")
		}
		name := s.text()
		s.literal(":")
		var value string
		if strings.HasPrefix(s.line[s.at:], `"`) {
			value = s.text()
		} else {
			value = s.number()
		}
		if s.err == nil {
			field(name, value)
		}
	}
}

// AppendString appends a JSON string in the one spelling that cells may use:
// characters stand for themselves where JSON lets them, except U+2028 and U+2029.
// What is no UTF-8 becomes U+FFFD.
func AppendString(dst []byte, text string) []byte {
	for i := range len(text) {
		if !plain(text[i]) {
			return appendEscaped(dst, text)
		}
	}
	dst = append(dst, '"')
	dst = append(dst, text...)
	return append(dst, '"')
}

func appendEscaped(dst []byte, text string) []byte {
	var b strings.Builder
	e := json.NewEncoder(&b)
	// With HTML escapes, "n=1&seed=2" would not read as it is typed.
	e.SetEscapeHTML(false)
	if err := e.Encode(strings.ToValidUTF8(text, "\uFFFD")); err != nil {
		panic("store: " + err.Error()) // strings always have a JSON form
	}
	return append(dst, strings.TrimSuffix(b.String(), "\n")...)
}
