package corun

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

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

// compile makes a regular expression of a pattern in which a space stands for any white space, and N for a number.
func compile(pattern string) *regexp.Regexp {
	return regexp.MustCompile(strings.NewReplacer(" ", `[ \t\r\n]*`, "N", `((?:[0-9]+\.?|\.[0-9])[0-9]*)`).Replace(pattern))
}

var (
	// notation matches a GPU instance with the + after it: its clients and compute instances, and its memory.
	notation = compile(`^ \[(` + item + `(?: [+,]` + item + `)*) , N m \] (\+|$)`)
	// part matches a client or a compute instance.
	part = compile(`\( (?:(\*)|N) \)|\{ N \}`)
)

// item is a client, a compute instance, or a client and the compute instance that it ends with.
const item = ` (?:\( (?:\*|N) \)(?: \{ N \})?|\{ N \})`

// Parse reads a setup in the notation of Table VII. White space between signs is ignored. Between clients and compute
// instances, + and comma mean the same, because the table has both. The error for text in another notation names the
// GPU instance, from 1. For an impossible setup Parse returns the error of [Setup.Validate].
func Parse(text string) (s Setup, err error) {
	for rest, more := text, true; more; {
		found := notation.FindStringSubmatch(rest)
		if found == nil {
			return Setup{}, fmt.Errorf("partition %q: GPU instance %d, from byte %d on, is not written like "+
				"[(0.5)+(0.5),1m] or [(0.1)+(0.9),{0.5},0.5m]", text, len(s.GIs)+1, len(text)-len(rest)+1)
		}
		n := len(found)
		s.GIs = append(s.GIs, parseGI(found[1], found[n-2]))
		rest, more = rest[len(found[0]):], found[n-1] != ""
	}
	if err := s.Validate(); err != nil {
		return Setup{}, err
	}
	return s, nil
}

// parseGI reads the parts and the memory of a GPU instance. Clients without a compute instance after them belong to the
// whole GPU.
func parseGI(parts, memory string) GI {
	gi := GI{Memory: parseNumber(memory)}
	var ci CI
	for _, found := range part.FindAllStringSubmatch(parts, -1) {
		switch {
		case found[1] != "":
			ci.Default++
		case found[2] != "":
			ci.Shares = append(ci.Shares, parseNumber(found[2]))
		default:
			ci.MIG, ci.Compute = true, parseNumber(found[3])
			gi.CIs = append(gi.CIs, ci)
			ci = CI{}
		}
	}
	if ci.clients() > 0 {
		ci.Compute = 1
		gi.CIs = append(gi.CIs, ci)
	}
	return gi
}

// parseNumber reads digits with or without a point. A number that is too large is infinite; Validate refuses it.
func parseNumber(text string) float64 {
	x, _ := strconv.ParseFloat(text, 64)
	return x
}

// MustParse is Parse for setups fixed in the program; it panics on an error.
func MustParse(text string) Setup { return spec.Must(Parse(text)) }
