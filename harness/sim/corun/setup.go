package corun

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"miglab/harness/spec"
)

// Slots returns the number of jobs that run at the same time.
func (s Setup) Slots() (n int) {
	for _, gi := range s.GIs {
		for i := range gi.CIs {
			n += max(1, gi.CIs[i].clients())
		}
	}
	return n
}

// String writes a setup as Table VII does, including its separators. MPS clients come before
// their compute instance. A comma separates them from it if it fills its GPU instance. The
// paper has no sign for clients without percentages; String writes (*).
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

// write writes a compute instance. only says that it fills its GPU instance. alone says that a
// compute instance of the GPU instance has no MPS clients, for which Table VII has other separators.
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

// Parse reads a setup in the notation of Table VII. White space between signs is ignored. Between clients and compute
// instances, + and comma mean the same, because the table has both. The error for an unexpected sign names its
// position in bytes, from 1. For an impossible setup Parse returns the error of [Setup.Validate].
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

// A parser reads a setup. err is the first error; the setup is then not used.
type parser struct {
	text string
	at   int // the position in text, in bytes
	err  error
}

// fail sets the error for an unexpected sign.
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

// gi reads a GPU instance: in brackets, its compute instances, each after its clients, and then its share of the
// memory.
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
			c := p.peek()
			if c != '(' && c != '{' {
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

// memory reads the end of a GPU instance. Clients without a compute instance after them belong to the whole GPU.
func (p *parser) memory(gi *GI, ci CI) {
	if ci.clients() > 0 {
		ci.Compute = 1
		gi.CIs = append(gi.CIs, ci)
	}
	gi.Memory = p.number()
	p.expect('m')
	p.expect(']')
}
