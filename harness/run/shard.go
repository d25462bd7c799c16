package run

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"

	"miglab/harness/store"
)

// A Shard is one of several parts into which cells, or other numbered work, are divided among processes or machines.
// All cells of one instance are in the same shard. The zero value contains all work.
type Shard struct {
	Index int // counts from 0
	Of    int // the number of shards; 0 means 1
}

func (s Shard) count() int { return max(s.Of, 1) }

// holds reports whether an instance of the series is in the shard. The shard depends only on the dataset, its content,
// the GPU model and the instance, so that all cells of an instance are in one shard.
func (s Shard) holds(series store.Series, instance int) bool {
	if s.count() == 1 {
		return true
	}
	h := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %d", series.Dataset, series.Content, series.GPU, instance))
	return binary.BigEndian.Uint64(h[:8])%uint64(s.count()) == uint64(s.Index)
}

// Takes reports whether the shard has item i of work that is dealt out in turn.
func (s Shard) Takes(i int) bool { return i%s.count() == s.Index }

// ParseShard reads "i/n", for example 0/2 and 1/2 for two processes.
func ParseShard(text string) (Shard, error) {
	index, of, ok := strings.Cut(text, "/")
	i, errIndex := strconv.Atoi(index)
	n, errOf := strconv.Atoi(of)
	if !ok || errIndex != nil || errOf != nil || n < 1 || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("shard %q: write i/n with i from 0 to n-1, for example 0/2", text)
	}
	return Shard{Index: i, Of: n}, nil
}
