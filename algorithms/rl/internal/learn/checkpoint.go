package learn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// A Checkpoint is the state of a trainer between two segments. Algorithm, Network and Seed
// identify the trainer. Reading needs the same ones and the same lengths.
type Checkpoint struct {
	Algorithm, Network string
	Seed               uint64
	Counters           []*int64
	Vectors            [][]float32
}

// A CheckpointError says why a checkpoint cannot be used.
type CheckpointError struct{ Is, Want string }

func (e *CheckpointError) Error() string {
	return fmt.Sprintf("checkpoint %s, want %s", e.Is, e.Want)
}

// The format: magic, two strings with their lengths, the seed, counters and vectors
// with their lengths, all little-endian, and the SHA-256 of everything before it.
const magic = "miglab training 1\n"

// Write writes the checkpoint.
func (c Checkpoint) Write(w io.Writer) error {
	b := []byte(magic)
	for _, s := range [2]string{c.Algorithm, c.Network} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	b = binary.LittleEndian.AppendUint64(b, c.Seed)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Counters)))
	for _, n := range c.Counters {
		b = binary.LittleEndian.AppendUint64(b, uint64(*n))
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(c.Vectors)))
	for _, v := range c.Vectors {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(v)))
		for _, x := range v {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
	}
	_, err := w.Write(withHash(b))
	return err
}

func withHash(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// Read sets counters and vectors to the written values. If it returns an error, they are
// unchanged.
func (c Checkpoint) Read(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("reading a checkpoint: %w", err)
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return &CheckpointError{"is of another kind or version", fmt.Sprintf("one that begins with %q", magic)}
	}
	if len(b) < len(magic)+sha256.Size {
		return &CheckpointError{fmt.Sprintf("ends after %d bytes", len(b)), "a whole one"}
	}
	b, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if is := sha256.Sum256(b); !bytes.Equal(is[:], sum) {
		return &CheckpointError{"is truncated or corrupt", "one whose SHA-256 agrees with its content"}
	}
	if err := c.checkOwner(b[len(magic):]); err != nil {
		return err
	}
	// The identity is that of c, so its length is known.
	want := int64(len(magic) + 4 + len(c.Algorithm) + 4 + len(c.Network) + 8)
	b = b[want:]
	if n := c.size(); len(b) != n {
		return &CheckpointError{fmt.Sprintf("holds %d bytes of state", len(b)), fmt.Sprintf("%d for %q", n, c.Network)}
	}
	b = b[4:]
	for _, n := range c.Counters {
		*n = int64(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	b = b[4:]
	for _, v := range c.Vectors {
		b = b[4:]
		for i := range v {
			v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
		}
		b = b[4*len(v):]
	}
	return nil
}

// size is the length of counters and vectors in bytes.
func (c Checkpoint) size() int {
	n := 4 + 8*len(c.Counters) + 4
	for _, v := range c.Vectors {
		n += 4 + 4*len(v)
	}
	return n
}

// checkOwner compares algorithm, network and seed, at the beginning of b.
func (c Checkpoint) checkOwner(b []byte) error {
	for _, want := range [2]string{c.Algorithm, c.Network} {
		n := uint32(math.MaxUint32)
		if len(b) >= 4 {
			n = binary.LittleEndian.Uint32(b)
		}
		if uint64(len(b)) < 4+uint64(n) {
			return &CheckpointError{"has no owner", fmt.Sprintf("one of %q", want)}
		}
		is := string(b[4 : 4+n])
		if is != want {
			return &CheckpointError{fmt.Sprintf("is of %q", is), fmt.Sprintf("one of %q", want)}
		}
		b = b[4+n:]
	}
	if len(b) < 8 {
		return &CheckpointError{"has no seed", fmt.Sprintf("one of seed %d", c.Seed)}
	}
	if is := binary.LittleEndian.Uint64(b); is != c.Seed {
		return &CheckpointError{fmt.Sprintf("is of seed %d", is), fmt.Sprintf("one of seed %d", c.Seed)}
	}
	return nil
}
