package launch

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// However the output comes, both its ends stay, and what is left out is counted.
func TestClip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{0, 1, clipSize - 1, clipSize, clipSize + 1, 2 * clipSize, 2*clipSize + 1, 5*clipSize + 7}).Draw(t, "size")
		var b strings.Builder
		for i := range size {
			b.WriteByte("0123456789abcdefghijk"[i%21])
		}
		text := b.String()
		var c clip
		for rest := text; rest != ""; {
			n := min(rapid.IntRange(1, 3*clipSize).Draw(t, "chunk"), len(rest))
			if written, err := c.Write([]byte(rest[:n])); written != n || err != nil {
				t.Fatalf("wrote %d of %d, %v", written, n, err)
			}
			rest = rest[n:]
			if len(c.head)+len(c.tail) > 4*clipSize+n {
				t.Fatalf("keeps %d bytes", len(c.head)+len(c.tail))
			}
		}
		got := c.String()
		if size <= 2*clipSize {
			if got != text {
				t.Fatalf("%d bytes came back as %d", size, len(got))
			}
			return
		}
		want := text[:clipSize] + "\n[" + strconv.Itoa(size-2*clipSize) + " bytes left out]\n" + text[size-clipSize:]
		if got != want {
			t.Fatalf("of %d bytes it kept %d, want %d", size, len(got), len(want))
		}
	})
}

func TestLineAt(t *testing.T) {
	long := strings.Repeat("é", 300)
	for _, c := range []struct {
		text string
		i    int
		want string
	}{
		{"", 0, ""},
		{"one", 3, "one"},
		{"one\ntwo\nthree", 5, "two"},
		{"one\n\ttwo\r\nthree", 5, "two"},
		{"bad\x00\x1b[0m\xffend", 0, "bad  [0m end"},
		{"x\n" + long, 4, strings.Repeat("é", 200) + "..."},
	} {
		if got := lineAt(c.text, c.i); got != c.want {
			t.Errorf("lineAt(%q, %d) = %q, want %q", c.text, c.i, got, c.want)
		}
	}
}
