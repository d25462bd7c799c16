package corun

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"miglab/harness/spec"
)

// Slots returns how many jobs run at the same time.
func (s Setup) Slots() (n int) {
	for _, gi := range s.GIs {
		for i := range gi.CIs {
			n += max(1, gi.CIs[i].clients())
		}
	}
	return n
}

// String writes a setup as Table VII does, down to its separators: within a GPU
// instance that one compute instance fills, MPS clients stand before a comma; beside
// others, before the braces. Clients without percentages, for which the paper has no
// sign, are (*).
func (s Setup) String() string {
	var b strings.Builder
	for g := range s.GIs {
		if g > 0 {
			b.WriteByte('+')
		}
		b.WriteByte('[')
		gi := &s.GIs[g]
		alone := false // a compute instance without MPS
		for c := range gi.CIs {
			alone = alone || gi.CIs[c].MIG && gi.CIs[c].clients() == 0
		}
		for c := range gi.CIs {
			if c > 0 {
				b.WriteByte('+')
			}
			gi.CIs[c].write(&b, len(gi.CIs) == 1, alone)
		}
		fmt.Fprintf(&b, ",%sm]", number(gi.Memory))
	}
	return b.String()
}

func (c *CI) clients() int { return max(len(c.Shares), c.Default) }

// write writes a compute instance. only says that it fills its GPU instance, and alone
// that another one there has no MPS clients, for which Table VII has other separators.
func (c *CI) write(b *strings.Builder, only, alone bool) {
	for i := range c.clients() {
		switch {
		case i > 0 && alone:
			b.WriteByte(',')
		case i > 0:
			b.WriteByte('+')
		}
		if c.Default > 0 {
			b.WriteString("(*)")
		} else {
			fmt.Fprintf(b, "(%s)", number(c.Shares[i]))
		}
	}
	if c.MIG {
		if only && c.clients() > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(b, "{%s}", number(c.Compute))
	}
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// Parse reads a setup in the notation of Table VII; white space may stand between
// signs, and + and comma between clients and compute instances mean the same, as the
// table has both. A sign that does not belong is named with its position in bytes, from 1.
// A setup that is not possible is the error of [Setup.Validate].
func Parse(text string) (Setup, error) {
	p := parser{text: text}
	s := p.setup()
	if p.err == nil {
		p.err = s.Validate()
	}
	if p.err != nil {
		return Setup{}, p.err
	}
	return s, nil
}

// MustParse is Parse for setups fixed in the program; it panics on an error.
func MustParse(text string) Setup { return spec.Must(Parse(text)) }

type parser struct {
	text string
	at   int
	err  error
}

// fail says that another sign belongs here.
func (p *parser) fail(want string) {
	found := "the end"
	if p.peek() != 0 {
		c, _ := utf8.DecodeRuneInString(p.text[p.at:])
		found = strconv.QuoteRune(c)
	}
	if p.err == nil {
		p.err = fmt.Errorf("partition %q, position %d: found %s where %s belongs", p.text, p.at+1, found, want)
	}
}

// peek returns the next sign, 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.at]) >= 0 {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) expect(c byte) {
	if p.peek() != c {
		p.fail(strconv.QuoteRune(rune(c)))
		return
	}
	p.at++
}

func (p *parser) number() float64 {
	p.peek()
	start := p.at
	for p.at < len(p.text) && strings.IndexByte("0123456789.", p.text[p.at]) >= 0 {
		p.at++
	}
	x, err := strconv.ParseFloat(p.text[start:p.at], 64)
	if err != nil {
		p.at = start
		p.fail("a number such as 0.5")
	}
	return x
}

func (p *parser) setup() (s Setup) {
	for p.err == nil {
		s.GIs = append(s.GIs, p.gi())
		if p.peek() == 0 {
			break
		}
		p.expect('+')
	}
	return s
}

func (p *parser) gi() (gi GI) {
	p.expect('[')
	var ci CI
	for p.err == nil {
		switch p.peek() {
		case '(':
			p.client(&ci)
			if p.peek() == '{' {
				continue
			}
		case '{':
			p.at++
			ci.MIG = true
			ci.Compute = p.number()
			p.expect('}')
			gi.CIs = append(gi.CIs, ci)
			ci = CI{}
		default:
			p.fail("a client in () or a compute instance in {}")
		}
		switch p.peek() {
		case ',':
			p.at++
			if c := p.peek(); c != '(' && c != '{' {
				p.memory(&gi, ci)
				return gi
			}
		case '+':
			p.at++
		default:
			p.fail("'+' or ','")
		}
	}
	return gi
}

// client reads one MPS client.
func (p *parser) client(ci *CI) {
	p.at++
	if p.peek() == '*' {
		p.at++
		ci.Default++
	} else {
		ci.Shares = append(ci.Shares, p.number())
	}
	p.expect(')')
}

// memory reads the end of a GPU instance. Clients that no compute instance followed are
// those of the whole GPU.
func (p *parser) memory(gi *GI, ci CI) {
	if ci.clients() > 0 {
		ci.Compute = 1
		gi.CIs = append(gi.CIs, ci)
	}
	gi.Memory = p.number()
	p.expect('m')
	p.expect(']')
}
