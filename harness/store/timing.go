package store

import (
	"encoding/hex"
	"math"
	"strconv"
	"time"
)

func appendTiming(dst []byte, k Key, took time.Duration) []byte {
	dst = append(dst, `{"key":"`...)
	dst = hex.AppendEncode(dst, k[:])
	dst = append(dst, `","us":`...)
	dst = strconv.AppendFloat(dst, float64(took)/float64(time.Microsecond), 'f', -1, 64)
	return append(dst, "}\n"...)
}

type timingLine struct {
	key Key
	us  Microseconds
}

func parseTiming(line string) (timingLine, error) {
	s := scanner{line: line}
	var t timingLine
	s.literal(`{"key":`)
	start := s.at
	key := s.text()
	if n, err := hex.Decode(t.key[:], []byte(key[:min(len(key), 2*len(t.key))])); err != nil || 2*n != len(key) || n != len(t.key) {
		s.at = start
		s.expected("a key of 64 hexadecimal digits")
	}
	s.literal(`,"us":`)
	t.us = Microseconds(s.float())
	s.literal("}")
	s.end()
	return t, s.err
}

// Microseconds is a wall time.
type Microseconds float64

// duration undoes what appendTiming did.
func (us Microseconds) duration() time.Duration {
	return time.Duration(math.Round(float64(us) * float64(time.Microsecond)))
}

// Timings reads the timing shards: how long the work of each cell took, of those
// that have metrics. Of several times for one cell the least counts, the one
// that was disturbed least. A power cut may have lost some. Errors are as those
// of [Open].
func (s *Store) Timings() (map[Key]Microseconds, error) {
	paths, err := timing.shards(s.dir)
	if err != nil {
		return nil, err
	}
	blocks, err := read(timing, paths, func() func(string) (timingLine, error) { return parseTiming })
	if err != nil {
		return nil, err
	}
	out := make(map[Key]Microseconds, s.Len())
	for _, b := range blocks {
		for _, t := range b.rows {
			if have, ok := out[t.key]; !ok || t.us < have {
				out[t.key] = t.us
			}
		}
	}
	return out, nil
}
