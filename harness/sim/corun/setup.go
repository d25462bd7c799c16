package corun

import (
	"fmt"
	"strconv"
	"strings"
)

// SetupError says where a partition string is wrong.
type SetupError struct {
	Text string
	// Position counts bytes from 1.
	Position int
	// Reason says what is wrong there and what would be right.
	Reason string
}

func (e *SetupError) Error() string {
	return fmt.Sprintf("partition %q, position %d: %s", e.Text, e.Position, e.Reason)
}

// Slots returns how many jobs run at the same time.
func (s *Setup) Slots() (n int) {
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
func (s *Setup) String() string {
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
		case i > 0 && alone && !only:
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
// table has both. What is wrong is a *SetupError.
func Parse(text string) (Setup, error) {
	p := parser{text: text}
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
}

func (p *parser) fail(at int, format string, args ...any) {
	if p.err == nil {
		p.err = &SetupError{p.text, at + 1, fmt.Sprintf(format, args...)}
	}
}

// peek returns the next sign, 0 at the end.
func (p *parser) peek() byte {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
	if p.at == len(p.text) || p.err != nil {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) found() string {
	if c := p.peek(); c != 0 {
		return strconv.QuoteRune(rune(c))
	}
	return "the end"
}

func (p *parser) expect(c byte) {
	if p.peek() != c {
		p.fail(p.at, "found %s where %q belongs", p.found(), c)
		return
	}
	p.at++
}

// share reads a number over 0 and up to 1.
func (p *parser) share() float64 {
	p.peek()
	start := p.at
	for p.at < len(p.text) && strings.IndexByte("0123456789.", p.text[p.at]) >= 0 {
		p.at++
	}
	x, err := strconv.ParseFloat(p.text[start:p.at], 64)
	switch {
	case err != nil:
		p.fail(start, "found %s where a number such as 0.5 belongs", p.found())
	case !(x > 0 && x <= 1):
		p.fail(start, "%s is no share; it has to be over 0 and at most 1", p.text[start:p.at])
	}
	return x
}

// slack is what sums of decimal shares may be over 1 for rounding.
const slack = 1e-9

func (p *parser) setup() (s Setup) {
	memory, compute := 0.0, 0.0
	for p.err == nil {
		start := p.at
		gi := p.gi()
		memory += gi.Memory
		for _, c := range gi.CIs {
			compute += c.Compute
		}
		s.GIs = append(s.GIs, gi)
		switch {
		case memory > 1+slack:
			p.fail(start, "the GPU instances have %s of the memory together; there is 1", number(memory))
		case gi.CIs[0].MIG && compute > 0.875+slack:
			p.fail(start, "the compute instances have %s of the GPU together; MIG leaves 0.875, seven of eight GPCs", number(compute))
		case !gi.CIs[0].MIG && len(s.GIs) > 1 || !s.GIs[0].CIs[0].MIG && len(s.GIs) > 1:
			p.fail(start, "a GPU that MIG does not divide is one instance; compute instances stand in braces")
		case p.peek() == 0:
			return s
		}
		p.expect('+')
	}
	return s
}

func (p *parser) gi() (gi GI) {
	p.expect('[')
	var ci CI
	sum := 0.0
	for p.err == nil {
		switch p.peek() {
		case '(':
			start := p.at
			p.at++
			if p.peek() == '*' {
				p.at++
				ci.Default++
			} else {
				ci.Shares = append(ci.Shares, p.share())
				sum += ci.Shares[len(ci.Shares)-1]
			}
			p.expect(')')
			switch {
			case ci.Default > 0 && len(ci.Shares) > 0:
				p.fail(start, "clients with and without percentages do not go together")
			case sum > 1+slack:
				p.fail(start, "the clients have %s of their instance together; at most 1", number(sum))
			}
		case '{':
			p.at++
			ci.MIG = true
			start := p.at
			ci.Compute = p.share()
			if g := ci.Compute * 8; g != float64(int(g)) {
				p.fail(start, "%s is no whole number of GPCs; one is 0.125", number(ci.Compute))
			}
			p.expect('}')
			gi.CIs = append(gi.CIs, ci)
			ci, sum = CI{}, 0
		default:
			gi.Memory = p.share()
			p.expect('m')
			p.expect(']')
			p.finish(&gi, ci)
			return gi
		}
		if c := p.peek(); c == '+' || c == ',' {
			p.at++
		} else if c != '{' {
			p.fail(p.at, "found %s where '+', ',' or '{' belongs", p.found())
		}
	}
	return gi
}

// finish adds clients that no compute instance followed: those of the whole GPU.
func (p *parser) finish(gi *GI, ci CI) {
	switch {
	case ci.clients() == 0 && len(gi.CIs) == 0:
		p.fail(p.at-1, "nothing runs in the instance; clients stand in (), compute instances in {}")
	case ci.clients() == 0:
	case len(gi.CIs) > 0:
		p.fail(p.at-1, "the last clients have no compute instance")
	default:
		ci.Compute = 1
		gi.CIs = append(gi.CIs, ci)
	}
}
