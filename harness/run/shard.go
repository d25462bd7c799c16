package run

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"miglab/harness/store"
)

// A Shard is one of several parts into which cells are divided among processes or machines. All cells of one instance
// are in the same part. The zero value contains all cells.
type Shard struct {
	// Index counts from 0.
	Index int
	// Of is the number of parts; 0 means 1.
	Of int
}

func (s Shard) parts() int { return max(s.Of, 1) }

// holds reports whether an instance of the series is in the part.
func (s Shard) holds(of store.Series, instance int) bool {
	return ShardOf(of, instance, s.parts()) == s.Index
}

// Takes reports whether the part has the work of a number, where work is dealt out in turn.
func (s Shard) Takes(i int) bool { return i%s.parts() == s.Index }

// ShardOf returns the index, from 0 to parts-1, of the part that has an instance of the series. It is
// the same for every algorithm.
func ShardOf(s store.Series, instance, parts int) int {
	if parts == 1 {
		return 0
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", s.Dataset, s.Content, s.GPU, instance))
	return int(binary.BigEndian.Uint64(h[:8]) % uint64(parts))
}

// ParseShard reads "i/n", for example 0/2 and 1/2 for two processes.
func ParseShard(text string) (Shard, error) {
	index, of, ok := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errOf := strconv.Atoi(of)
	if !ok || errIndex != nil || errOf != nil || n < 1 || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("shard %q: write i/n with i from 0 to n-1, for example 0/2", text)
	}
	return Shard{i, n}, nil
}
