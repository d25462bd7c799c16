package corun

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
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
// table has both. The error names the position in bytes, from 1.
func Parse(text string) (Setup, error) {
	p := parser{text: text, starts: map[[3]int]int{}}
	s := p.setup()
	if p.err != nil {
		return Setup{}, p.err
	}
	return s, nil
}

// MustParse is Parse for setups fixed in the program; it panics on an error.
func MustParse(text string) Setup {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

type parser struct {
	text string
	at   int
	err  error
	// starts are where the GPU instances, the compute instances and the clients begin.
	starts map[[3]int]int
}

func (p *parser) fail(at int, format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf("partition %q, position %d: %s", p.text, at+1, fmt.Sprintf(format, args...))
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

func (p *parser) found() string {
	if p.peek() == 0 {
		return "the end"
	}
	c, _ := utf8.DecodeRuneInString(p.text[p.at:])
	return strconv.QuoteRune(c)
}

// mark remembers that a part of the setup begins here.
func (p *parser) mark(gi, ci, client int) {
	p.peek()
	p.starts[[3]int{gi, ci, client}] = p.at
}

func (p *parser) expect(c byte) {
	if p.peek() != c {
		p.fail(p.at, "found %s where %q belongs", p.found(), c)
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
		p.fail(start, "found %s where a number such as 0.5 belongs", p.found())
	}
	return x
}

func (p *parser) setup() (s Setup) {
	for p.err == nil {
		s.GIs = append(s.GIs, p.gi(len(s.GIs)))
		if p.peek() == 0 {
			break
		}
		p.expect('+')
	}
	if p.err == nil {
		if f := s.fault(); f != nil {
			p.fail(p.starts[[3]int{f.gi, f.ci, f.client}], "%s", f.reason)
		}
	}
	return s
}

func (p *parser) gi(g int) (gi GI) {
	p.mark(g, -1, -1)
	p.expect('[')
	var ci CI
	for p.err == nil {
		c := len(gi.CIs)
		switch p.peek() {
		case '(':
			if ci.clients() == 0 {
				p.mark(g, c, -1)
			}
			p.client(&ci, g, c)
			if p.peek() == '{' {
				continue
			}
		case '{':
			p.at++
			p.mark(g, c, -1)
			ci.MIG = true
			ci.Compute = p.number()
			p.expect('}')
			gi.CIs = append(gi.CIs, ci)
			ci = CI{}
		default:
			p.fail(p.at, "found %s where a client in () or a compute instance in {} belongs", p.found())
		}
		if p.peek() == ',' && p.memoryFollows() {
			p.memory(&gi, ci)
			return gi
		}
		if c := p.peek(); c != '+' && c != ',' {
			p.fail(p.at, "found %s where '+' or ',' belongs", p.found())
			return gi
		}
		p.at++
	}
	return gi
}

// memoryFollows reports whether the comma that comes next ends the list of compute
// instances, and passes over it if so.
func (p *parser) memoryFollows() bool {
	comma := p.at
	p.at++
	if c := p.peek(); c == '(' || c == '{' {
		p.at = comma
		return false
	}
	return true
}

// client reads one MPS client.
func (p *parser) client(ci *CI, g, c int) {
	start := p.at
	p.at++
	if p.peek() == '*' {
		p.at++
		ci.Default++
	} else {
		p.mark(g, c, len(ci.Shares))
		ci.Shares = append(ci.Shares, p.number())
	}
	p.expect(')')
	if ci.Default > 0 && len(ci.Shares) > 0 {
		p.fail(start, "clients with and without percentages do not go together")
	}
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
