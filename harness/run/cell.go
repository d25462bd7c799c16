package run

import (
	"fmt"
	"iter"
	"strconv"

	"miglab/harness/store"
)

// A Cell is one unit of work.
type Cell struct {
	Series
	// Version is the algorithm's.
	Version int
	// Instance counts from 0.
	Instance int
}

func appendCell(dst []byte, version, instance int) []byte {
	dst = append(dst, `,"version":`...)
	dst = strconv.AppendInt(dst, int64(version), 10)
	dst = append(dst, `,"instance":`...)
	dst = strconv.AppendInt(dst, int64(instance), 10)
	return append(dst, '}')
}

// JSON returns the cell's canonical JSON: no white space, fields in a fixed order,
// the reconfiguration model by name.
func (c Cell) JSON() string { return string(appendCell(c.appendJSON(nil), c.Version, c.Instance)) }

// Key returns the address of the cell's result: the SHA-256 of its canonical JSON.
func (c Cell) Key() store.Key { return store.KeyOf([]byte(c.JSON())) }

// Keys yields the cells one after the other, each with its key, faster than
// [Cell.Key] one by one where cells of one series follow each other.
func Keys(cells []Cell) iter.Seq2[*Cell, store.Key] {
	return func(yield func(*Cell, store.Key) bool) {
		var current *Series
		var json, buf []byte
		for i := range cells {
			c := &cells[i]
			if current == nil || c.Series != *current {
				current, json = &c.Series, c.appendJSON(json[:0])
			}
			buf = appendCell(append(buf[:0], json...), c.Version, c.Instance)
			if !yield(c, store.KeyOf(buf)) {
				return
			}
		}
	}
}

// String names the cell in messages.
func (c Cell) String() string {
	return fmt.Sprintf("%s (version %d) on %s, instance %d, %d x %s, %s", c.Algorithm, c.Version, c.Dataset, c.Instance, c.Count, c.GPU, c.Model)
}

// instanceKey names what is scheduled, whoever schedules it.
type instanceKey struct {
	dataset, content, gpu string
	instance              int
}

func (c *Cell) instanceKey() instanceKey {
	return instanceKey{c.Dataset, c.Content, c.GPU, c.Instance}
}
