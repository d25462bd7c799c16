package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"miglab/harness/atomicfile"
)

// segmentSize is the length in bytes at which a segment is written at once.
const segmentSize = 4 << 20

// Segments is a [Sink] for folders that machines share, where files cannot be
// locked and appending is not safe. It writes files segment-<name>-<number>.jsonl,
// each of them once, as a whole and by [WriteFile], and beside each, before it, the
// wall times timing-<name>-<number>.jsonl. They have the lines of shards and one
// more, which seals them:
//
//	{"rows":2,"sha256":"<of all lines before, in hexadecimal>"}
//
// A file without its seal, or with one that does not fit, is damaged and counts for
// nothing. No two writers may have the same name at the same time. Segments is safe
// for concurrent use.
type Segments struct {
	store     *Store
	dir, name string
	every     time.Duration

	mu              sync.Mutex
	results, timing segment
	// number is that of the last file and file what the store's entries call it.
	number int
	file   int32
	// timer runs while there are rows that are on no disk.
	timer *time.Timer
	// failed is the first error of writing; nothing is written after it.
	failed error
}

// Segments returns a sink for a folder, which is made when there is something to
// write. A segment is written about so long after its first row came, and at once
// when it has 4 MiB: so much work the death of the process may cost. Numbers go on
// where the folder's files of the name end.
func (s *Store) Segments(dir, name string, every time.Duration) (*Segments, error) {
	w := &Segments{store: s, dir: dir, name: name, every: every, results: segment{kind: results}, timing: segment{kind: timing}}
	for _, begin := range []string{segmentFile, timingFile} {
		paths, err := filesLike(dir, begin+name+"-", ".jsonl")
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			var n int
			if _, err := fmt.Sscanf(strings.TrimPrefix(filepath.Base(path), begin+name+"-"), "%d.jsonl", &n); err == nil {
				w.number = max(w.number, n)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.file = s.file(w.path(segmentFile, w.number+1))
	return w, nil
}

// The beginnings of file names.
const (
	segmentFile = "segment-"
	timingFile  = "timing-"
)

func (w *Segments) path(begin string, number int) string {
	return filepath.Join(w.dir, fmt.Sprintf("%s%s-%06d.jsonl", begin, w.name, number))
}

// Append adds records to the store and to the next segment. A row that the store
// has is not written again; one that contradicts it is a [*ConflictError], with
// which Append stops. An error of writing may be about earlier records; after it
// every call gives the same error, and what the store holds in memory is ahead of
// the disk.
func (w *Segments) Append(records ...Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed != nil {
		return w.failed
	}
	news, conflict := w.store.adopt(records, w.file)
	for _, n := range news {
		w.results.add(func(dst []byte) []byte { return appendRow(dst, &n.record.Row) })
		if n.record.timed() {
			w.timing.add(func(dst []byte) []byte { return appendTiming(dst, n.key, n.record.Took) })
		}
	}
	switch {
	case len(w.results.lines) >= segmentSize:
		if err := w.write(); err != nil {
			return err
		}
	case w.results.rows > 0 && w.timer == nil:
		w.timer = time.AfterFunc(w.every, func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.write() // the next call says what went wrong
		})
	}
	return conflict
}

// Close writes what is on no disk yet.
func (w *Segments) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.write()
}

// write writes the segment, if it has rows.
func (w *Segments) write() error {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	if w.results.rows == 0 || w.failed != nil {
		return w.failed
	}
	w.number++
	// Timing goes first, as in shards.
	if w.timing.rows > 0 {
		w.failed = w.timing.write(w.path(timingFile, w.number))
	}
	if w.failed == nil {
		w.failed = w.results.write(w.path(segmentFile, w.number))
	}
	w.store.mu.Lock()
	defer w.store.mu.Unlock()
	w.file = w.store.file(w.path(segmentFile, w.number+1))
	return w.failed
}

// A segment collects the lines of a file.
type segment struct {
	kind  kind
	lines []byte
	rows  int
}

func (s *segment) add(line func(dst []byte) []byte) {
	if s.rows == 0 {
		s.lines = append(append(s.lines, s.kind.header()...), '\n')
	}
	s.lines = line(s.lines)
	s.rows++
}

// write seals the lines, writes them and begins anew.
func (s *segment) write(path string) error {
	lines := append(s.lines, seal(s.lines, s.rows)...)
	s.lines, s.rows = lines[:0], 0
	return atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(lines)
		return err
	})
}

// seal returns the line that says how many rows the lines have and what they hash to.
func seal(lines []byte, rows int) string {
	return fmt.Sprintf("{\"rows\":%d,\"sha256\":\"%x\"}\n", rows, sha256.Sum256(lines))
}

// Damage is a file that counts for nothing, because it is not as it was written.
type Damage struct {
	Path string
	// Reason is a sentence without its full stop.
	Reason string
}

func (d Damage) String() string { return d.Path + ": " + d.Reason }

// ReadSegments hands over the records of each intact segment whose name begins with
// begin, one segment after the other by file name, and returns those that are
// damaged. A segment without intact wall times has records without. A folder that
// does not exist has none. Errors are those of the file system and of use.
func ReadSegments(dir, begin string, use func(path string, records []Record) error) ([]Damage, error) {
	paths, err := filesLike(dir, segmentFile+begin, ".jsonl")
	if err != nil {
		return nil, err
	}
	var damaged []Damage
	p := newRowParser()
	for _, path := range paths {
		rows, broken, err := readSealed(results, path, p.parse)
		if err != nil {
			return damaged, err
		}
		if broken != nil {
			damaged = append(damaged, Damage{path, broken.Error()})
			continue
		}
		took := map[Key]time.Duration{}
		times, _, err := readSealed(timing, filepath.Join(dir, timingFile+strings.TrimPrefix(filepath.Base(path), segmentFile)), parseTiming)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return damaged, err
		}
		for _, t := range times {
			took[t.key] = t.us.duration()
		}
		records := make([]Record, len(rows))
		for i := range rows {
			records[i] = Record{rows[i], took[rows[i].Key()]}
		}
		if err := use(path, records); err != nil {
			return damaged, err
		}
	}
	return damaged, nil
}

// OpenSegments loads the segments that [ReadSegments] reads into a store. Rows that
// disagree about a cell are a [*ConflictError].
func OpenSegments(dir, begin string) (*Store, []Damage, error) {
	s := &Store{dir: dir, index: map[Key]int32{}}
	damaged, err := ReadSegments(dir, begin, func(path string, records []Record) error {
		file := s.file(path)
		for i := range records {
			const first = 2 // the line after the header
			if _, err := s.merge(records[i].Key(), entry{records[i].Row, file, int32(first + i)}); err != nil {
				return err
			}
		}
		return nil
	})
	return s, damaged, err
}

// readSealed parses the lines of a sealed file. What is wrong with its content is
// broken, what with reading it is err.
func readSealed[T any](k kind, path string, parse func(line string) (T, error)) (rows []T, broken, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	end := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1
	lines := data[:end]
	count := bytes.Count(lines, []byte("\n")) - 1 // without the header
	if string(data[end:]) != seal(lines, count) {
		return nil, fmt.Errorf("the last line does not seal the %d rows before it; the file was cut short or changed", max(count, 0)), nil
	}
	text := string(lines)
	header, text, _ := strings.Cut(text, "\n")
	if err := k.checkHeader(path, header); err != nil {
		return nil, err, nil
	}
	rows = make([]T, 0, count)
	for line := range strings.Lines(text) {
		row, err := parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", len(rows)+2, err), nil
		}
		rows = append(rows, row)
	}
	return rows, nil, nil
}
