package learn

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"io"
	"slices"
)

// A checkpoint is the state of a trainer between two segments. Owner identifies the trainer.
// Only a trainer with the same owner, and as many counters and vectors of the same lengths, can read it.
type checkpoint struct {
	Owner, Note string
	Counters    []*int64
	Vectors     [][]float32
}

// A CheckpointError says why a checkpoint cannot be used.
type CheckpointError struct{ Is, Want string }

func (e *CheckpointError) Error() string { return fmt.Sprintf("checkpoint %s, want %s", e.Is, e.Want) }

// The format: magic, the checkpoint as package gob encodes it, and the SHA-256 of everything before it.
const magic = "miglab training 3\n"

func (c *checkpoint) write(w io.Writer) error {
	b := bytes.NewBufferString(magic)
	if err := gob.NewEncoder(b).Encode(c); err != nil {
		return err
	}
	_, err := w.Write(withHash(b.Bytes()))
	return err
}

func withHash(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// read sets counters, vectors and the note to the written ones. If it returns an error, they are unchanged.
func (c *checkpoint) read(r io.Reader) error {
	b, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("reading a checkpoint: %w", err)
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return &CheckpointError{"is of another kind or version", fmt.Sprintf("one that begins with %q", magic)}
	}
	body := b[:max(len(magic), len(b)-sha256.Size)]
	var was checkpoint
	if !bytes.Equal(withHash(bytes.Clone(body)), b) ||
		gob.NewDecoder(bytes.NewReader(body[len(magic):])).Decode(&was) != nil {
		return &CheckpointError{"is truncated or corrupt", "one whose SHA-256 agrees with its content"}
	}
	if was.Owner != c.Owner {
		return &CheckpointError{fmt.Sprintf("is of %q", was.Owner), fmt.Sprintf("one of %q", c.Owner)}
	}
	if len(was.Counters) != len(c.Counters) || !slices.Equal(lengths(was.Vectors), lengths(c.Vectors)) {
		return &CheckpointError{
			fmt.Sprintf("holds %d counters and vectors of %v", len(was.Counters), lengths(was.Vectors)),
			fmt.Sprintf("%d and %v for %q", len(c.Counters), lengths(c.Vectors), c.Owner),
		}
	}
	for i, n := range was.Counters {
		*c.Counters[i] = *n
	}
	for i, v := range was.Vectors {
		copy(c.Vectors[i], v)
	}
	c.Note = was.Note
	return nil
}

func lengths(vectors [][]float32) (out []int) {
	for _, v := range vectors {
		out = append(out, len(v))
	}
	return out
}
