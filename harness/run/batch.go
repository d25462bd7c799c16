package run

import (
	"time"

	"miglab/harness/store"
)

// A batch collects one worker's records. Appending them one by one would cost more
// than many algorithms take; keeping them long would lose them with the process.
type batch struct {
	sink    store.Sink
	report  func(n int)
	records []store.Record
	flushed time.Time
}

const (
	batchSize = 64
	batchAge  = 100 * time.Millisecond
)

func (b *batch) add(r store.Record) error {
	b.records = append(b.records, r)
	if len(b.records) < batchSize && time.Since(b.flushed) < batchAge {
		return nil
	}
	return b.flush()
}

func (b *batch) flush() error {
	if len(b.records) == 0 {
		return nil
	}
	err := b.sink.Append(b.records...)
	if err == nil {
		b.report(len(b.records))
	}
	b.records = b.records[:0]
	b.flushed = time.Now()
	return err
}
