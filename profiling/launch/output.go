package launch

import "fmt"

// clipSize is how many bytes are kept of each end of a program's output.
const clipSize = 64 << 10

// A clip is a writer that keeps the beginning and the end of its input.
type clip struct {
	head, tail []byte
	// left is how many bytes between head and tail are left out.
	left int
}

// Write takes everything.
func (c *clip) Write(p []byte) (int, error) {
	n := len(p)
	room := min(clipSize-len(c.head), n)
	c.head = append(c.head, p[:room]...)
	c.tail = append(c.tail, p[room:]...)
	if len(c.tail) > 2*clipSize { // now and then, not at each write
		c.cut()
	}
	return n, nil
}

// cut shortens the tail to clipSize.
func (c *clip) cut() {
	if more := len(c.tail) - clipSize; more > 0 {
		c.left += more
		c.tail = append(c.tail[:0], c.tail[more:]...)
	}
}

// String returns what was kept, with a line in place of the rest.
func (c *clip) String() string {
	c.cut()
	if c.left == 0 {
		return string(c.head) + string(c.tail)
	}
	return fmt.Sprintf("%s\n[%d bytes left out]\n%s", c.head, c.left, c.tail)
}
