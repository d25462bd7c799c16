package learn

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
)

// A Checkpoint is the state of a trainer between two segments. Owner identifies the trainer.
// Only a trainer with the same owner can read it, which has the same counters and vectors.
type Checkpoint struct {
	Owner    string
	Counters []*int64
	Vectors  [][]float32
}

// A CheckpointError says why a checkpoint cannot be used.
type CheckpointError struct{ Is, Want string }

func (e *CheckpointError) Error() string {
	return fmt.Sprintf("checkpoint %s, want %s", e.Is, e.Want)
}

// The format: magic, the owner and the note with their lengths, counters and vectors, all
// little-endian, and the SHA-256 of everything before it.
const magic = "miglab training 2\n"

// Write writes the checkpoint with a note.
func (c Checkpoint) Write(w io.Writer, note string) error {
	b := []byte(magic)
	for _, s := range [2]string{c.Owner, note} {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
		b = append(b, s...)
	}
	for _, n := range c.Counters {
		b = binary.LittleEndian.AppendUint64(b, uint64(*n))
	}
	for _, v := range c.Vectors {
		b, _ = binary.Append(b, binary.LittleEndian, v) // never fails for numbers
	}
	_, err := w.Write(withHash(b))
	return err
}

func withHash(b []byte) []byte {
	sum := sha256.Sum256(b)
	return append(b, sum[:]...)
}

// Read sets counters and vectors to the written values and returns the note. If it returns an
// error, they are unchanged.
func (c Checkpoint) Read(r io.Reader) (note string, err error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return "", fmt.Errorf("reading a checkpoint: %w", err)
	}
	if !bytes.HasPrefix(b, []byte(magic)) {
		return "", &CheckpointError{"is of another kind or version", fmt.Sprintf("one that begins with %q", magic)}
	}
	body := b[:max(len(magic), len(b)-sha256.Size)]
	if !bytes.Equal(withHash(bytes.Clone(body)), b) {
		return "", &CheckpointError{"is truncated or corrupt", "one whose SHA-256 agrees with its content"}
	}
	owner, b := cutText(body[len(magic):])
	if owner != c.Owner {
		return "", &CheckpointError{fmt.Sprintf("is of %q", owner), fmt.Sprintf("one of %q", c.Owner)}
	}
	note, b = cutText(b)
	if n := c.size(); len(b) != n {
		return "", &CheckpointError{fmt.Sprintf("holds %d bytes of state", len(b)), fmt.Sprintf("%d for %q", n, owner)}
	}
	for _, n := range c.Counters {
		*n = int64(binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	for _, v := range c.Vectors {
		n, _ := binary.Decode(b, binary.LittleEndian, v) // b is long enough
		b = b[n:]
	}
	return note, nil
}

// cutText cuts a text from the beginning of b; it is empty if b is too short for it.
func cutText(b []byte) (string, []byte) {
	if len(b) < 4 {
		return "", nil
	}
	n, b := uint64(binary.LittleEndian.Uint32(b)), b[4:]
	if n > uint64(len(b)) {
		return "", nil
	}
	return string(b[:n]), b[n:]
}

// size is the length of counters and vectors in bytes.
func (c Checkpoint) size() int {
	n := 8 * len(c.Counters)
	for _, v := range c.Vectors {
		n += 4 * len(v)
	}
	return n
}
