package store

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// syncEvery is how much work a power cut may cost. What was handed to the
// operating system survives the death of the process at once.
const syncEvery = time.Second

// A Record is a row with what goes to the timing shard.
type Record struct {
	Row
	// Took is the wall time of the work; 0 means that it is not known.
	Took time.Duration
}

// timed reports whether the record has a line in a timing shard.
func (r *Record) timed() bool { return r.Kind == "" && r.Took > 0 }

// A Sink takes results as they come: a [Writer] or [Segments]. It is safe for
// concurrent use.
type Sink interface {
	// Append adds records to the store in memory and, now or soon, to files.
	Append(records ...Record) error
	// Close puts everything on disk. Nothing is appended afterwards.
	Close() error
}

// A Writer appends to one shard of a store. It is safe for concurrent use; the
// shard belongs to it until it is closed or its process ends.
type Writer struct {
	store *Store

	mu              sync.Mutex
	results, timing *os.File
	file            int32
	buf             []byte
	synced          time.Time
}

// Writer opens shard index (from 0) of the given number for appending. It is a
// [*BusyError] if another process has it.
func (s *Store) Writer(index, of int) (w *Writer, err error) {
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return nil, err
	}
	w = &Writer{store: s, synced: time.Now()}
	if w.results, err = openShard(s.dir, results, index, of); err != nil {
		return nil, err
	}
	if w.timing, err = openShard(s.dir, timing, index, of); err != nil {
		w.results.Close()
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	w.file = s.file(w.results.Name())
	return w, nil
}

// openShard opens a shard for appending, cuts off a last line that its previous
// writer did not finish, and gives an empty one its header.
func openShard(dir string, k kind, index, of int) (_ *os.File, err error) {
	f, err := os.OpenFile(filepath.Join(dir, k.file(index, of)), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	if err := lock(f); err != nil {
		return nil, err
	}
	size, err := completeSize(f)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	if size == 0 {
		_, err = f.WriteString(k.header() + "\n")
	}
	return f, err
}

// completeSize returns the length of a file up to the end of its last complete line.
func completeSize(f *os.File) (int64, error) {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 4096)
	for end > 0 {
		part := buf[:min(int64(len(buf)), end)]
		if _, err := f.ReadAt(part, end-int64(len(part))); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return end - int64(len(part)) + int64(i) + 1, nil
		}
		end -= int64(len(part))
	}
	return 0, nil
}

// Append adds records to the shard and to the store. They are with the operating
// system when it returns, and on disk within a second of appending or after
// [Writer.Close]. A row that the store has is not written again; one that
// contradicts it is a [*ConflictError], with which Append stops. After any error
// what the store holds in memory may be ahead of the disk.
func (w *Writer) Append(records ...Record) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	news, conflict := w.store.adopt(records, w.file)
	if err := w.write(news); err != nil {
		return err
	}
	return conflict
}

// news is a record that the store did not have.
type news struct {
	key    Key
	record *Record
}

// adopt adds records that are being written to a file to the store in memory, and
// returns those that are news, up to the first that cannot be added.
func (s *Store) adopt(records []Record, file int32) ([]news, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]news, 0, len(records))
	for i := range records {
		r := &records[i]
		r.Error = strings.ToValidUTF8(r.Error, "\uFFFD")
		if err := r.validate(); err != nil {
			return out, err
		}
		k := r.Key()
		isNews, err := s.merge(k, entry{r.Row, file, 0})
		if err != nil {
			return out, err
		}
		if isNews {
			out = append(out, news{k, r})
		}
	}
	return out, nil
}

func (w *Writer) write(rows []news) error {
	if len(rows) == 0 {
		return nil
	}
	// Timing goes first: a process killed in between computes the cell again, and
	// no result is left without its timing.
	w.buf = w.buf[:0]
	for _, n := range rows {
		if n.record.timed() {
			w.buf = appendTiming(w.buf, n.key, n.record.Took)
		}
	}
	if _, err := w.timing.Write(w.buf); err != nil {
		return err
	}
	w.buf = w.buf[:0]
	for _, n := range rows {
		w.buf = appendRow(w.buf, &n.record.Row)
	}
	if _, err := w.results.Write(w.buf); err != nil {
		return err
	}
	if time.Since(w.synced) < syncEvery {
		return nil
	}
	return w.sync()
}

func (w *Writer) sync() error {
	w.synced = time.Now()
	return errors.Join(w.timing.Sync(), w.results.Sync())
}

// Close puts everything on disk and gives the shard up.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.sync(), w.timing.Close(), w.results.Close())
}
