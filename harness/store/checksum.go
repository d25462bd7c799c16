package store

import (
	"fmt"
	"hash/crc32"
	"strconv"
	"strings"
)

// A series has a checksum for each chunk of its instances, so that a part of it can be read and checked. A chunk has
// chunkSize instances, and chunk number lastChunk has all instances from its first on.
const (
	chunkSize = 128
	lastChunk = 1 << 13
	digits    = 16 // the hexadecimal digits of a checksum
)

// chunkSums has, for each chunk of a series, the sum of [hashCell] over its cells. That is the chunk's checksum. Chunks
// behind the last one with cells may be missing.
type chunkSums []int64

// chunkOf returns the chunk of an instance. A damaged, negative instance counts as 0.
func chunkOf(instance int) int { return min(max(instance, 0)/chunkSize, lastChunk) }

// add adds the hash of an instance's cell to its chunk.
func (s *chunkSums) add(instance int, hash int64) {
	for len(*s) <= chunkOf(instance) {
		*s = append(*s, 0)
	}
	(*s)[chunkOf(instance)] += hash
}

// encode returns the column checksums: the sums in hexadecimal digits, one after the other. The number of the series'
// last write is added to the first sum, so that the checksums protect it, too.
func (s chunkSums) encode(written int64) string {
	var out []byte
	for _, sum := range s {
		out = fmt.Appendf(out, "%0*x", digits, uint64(sum+written))
		written = 0
	}
	return string(out)
}

// chunkSum returns the sum of a chunk; 0 if there is none.
func (e *entry) chunkSum(chunk int) int64 {
	if len(e.checksums) < (chunk+1)*digits {
		return 0
	}
	// Damaged digits give another sum.
	sum, _ := strconv.ParseUint(e.checksums[chunk*digits:(chunk+1)*digits], 16, 64)
	if chunk == 0 {
		return int64(sum) - e.written
	}
	return int64(sum)
}

// chunkSums returns the sums of all chunks.
func (e *entry) chunkSums() (out chunkSums) {
	for k := range len(e.checksums) / digits {
		out = append(out, e.chunkSum(k))
	}
	return out
}

// matches reports whether the chunks with the instances first to end-1 have these sums.
func (e *entry) matches(got chunkSums, first, end int) bool {
	chunks := max(len(got), len(e.checksums)/digits)
	for k := chunkOf(first); k < chunks && k <= chunkOf(end-1); k++ {
		sum := int64(0)
		if k < len(got) {
			sum = got[k]
		}
		if sum != e.chunkSum(k) {
			return false
		}
	}
	return e.checksums != "" // A series is written only with cells.
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksumOf returns the CRC-32C of columns joined by NUL, which the tables program, model and unit have as their crc.
func checksumOf(columns ...string) int64 {
	return int64(crc32.Checksum([]byte(strings.Join(columns, "\x00")), castagnoli))
}

// hashCell returns the share of a cell in the checksum of its series: CRC-32C of its columns and of its list of names.
func hashCell(columns []byte, list string) int64 {
	return int64(crc32.Checksum(columns, castagnoli)) + checksumOf(list)
}
