package task

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"io"
	"math"

	"miglab/harness/mig"
)

// A Payload is the content of one instance of a dataset. Each kind of problem has its own
// type: [Batches], [Requests], [Queue] and [miglab/harness/sim/corun.Window], a window of programs.
type Payload interface {
	// Kind names the contents in messages: "tasks", "requests", "jobs" or "programs".
	Kind() string
	// AddTo adds all fields that affect a result to a digest.
	AddTo(d *Digest)
	// WriteCSV writes the contents as a file for a dataset to read back.
	WriteCSV(w io.Writer, g *mig.GPU) error
}

// A Regime says how the work of a dataset arrives and how it is measured. Leaderboards choose the metric by the regime.
type Regime string

// The regimes.
const (
	Whole  Regime = "whole"  // work is measured from the first task or request to the last
	Steady Regime = "steady" // requests keep a cluster at a constant load, and are measured once it is full
	Timed  Regime = "timed"  // tasks arrive one after the other, and their flow times are measured
	Queued Regime = "queued" // requests wait until a cluster has room for them
)

// A Digest is a hash of values, each written with its length or in a fixed number of bytes.
type Digest struct {
	h   hash.Hash
	buf [8]byte
}

// NewDigest returns the digest of no values.
func NewDigest() *Digest { return &Digest{h: sha256.New()} }

// Int adds a whole number.
func (d *Digest) Int(v int) {
	binary.LittleEndian.PutUint64(d.buf[:], uint64(v))
	d.h.Write(d.buf[:])
}

// Float adds a number by its bits.
func (d *Digest) Float(v float64) { d.Int(int(math.Float64bits(v))) }

// Floats adds numbers and how many there are.
func (d *Digest) Floats(v []float64) {
	d.Int(len(v))
	for _, x := range v {
		d.Float(x)
	}
}

// Text adds a text and its length.
func (d *Digest) Text(s string) {
	d.Int(len(s))
	io.WriteString(d.h, s)
}

// String returns the digest in 16 hexadecimal digits.
func (d *Digest) String() string { return hex.EncodeToString(d.h.Sum(nil)[:8]) }
