package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Format is the version of the shards' format that this program writes and reads.
const Format = 1

// A kind of shard is the first word of its file name, and stands in its first line.
type kind string

const (
	results kind = "results"
	timing  kind = "timing"
)

func (k kind) header() string { return fmt.Sprintf("{\"miglab\":%q,\"format\":%d}", string(k), Format) }

func (k kind) file(index, of int) string { return fmt.Sprintf("%s-%dof%d.jsonl", k, index, of) }

// shards lists the store's shards of the kind by name.
func (k kind) shards(dir string) ([]string, error) {
	return filesLike(dir, string(k)+"-", ".jsonl")
}

// checkHeader judges a shard's first line.
func (k kind) checkHeader(path, line string) error {
	var h struct {
		Miglab string
		Format int
	}
	if err := json.Unmarshal([]byte(line), &h); err != nil || h.Miglab != string(k) {
		return &LineError{path, 1, fmt.Sprintf("the first line is not %s", k.header()), "put that line there if the rest is intact, or delete the file"}
	}
	if h.Format != Format {
		return &FormatError{path, h.Format}
	}
	return nil
}

// blockSize is how much of a shard one goroutine parses at a time.
const blockSize = 1 << 20

// A block is the lines of one part of a shard, parsed.
type block[T any] struct {
	path string
	// line is the number of the first line.
	line int
	// rows holds one value for each line.
	rows []T
	err  error
}

// read parses all lines of the shards but the headers, in parallel by blocks, and
// returns the blocks in order. newParser makes one parser for each block. Where
// several lines are bad, the error is about the first.
func read[T any](k kind, paths []string, newParser func() func(string) (T, error)) ([]*block[T], error) {
	var blocks []*block[T]
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	var failed error
	for _, path := range paths {
		if failed = lines(k, path, func(first int, text string) {
			b := &block[T]{path: path, line: first}
			blocks = append(blocks, b)
			g.Go(func() error { b.parse(text, newParser()); return nil })
		}); failed != nil {
			break
		}
	}
	g.Wait() // the blocks carry the errors
	for _, b := range blocks {
		if b.err != nil {
			return nil, b.err
		}
	}
	return blocks, failed
}

func (b *block[T]) parse(text string, parse func(string) (T, error)) {
	for line := range strings.Lines(text) {
		row, err := parse(strings.TrimSuffix(line, "\n"))
		if err != nil {
			b.err = &LineError{b.path, b.line + len(b.rows), err.Error(), "delete the line; its cell will be computed again"}
			return
		}
		b.rows = append(b.rows, row)
	}
}

// lines hands over the complete lines after the header in blocks. A last line
// without its end was cut short when its writer was killed, and is left out.
func lines(k kind, path string, use func(first int, text string)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	header, err := in.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := k.checkHeader(path, strings.TrimSuffix(header, "\n")); err != nil {
		return err
	}
	line := 2
	buf := make([]byte, 0, blockSize)
	for {
		if cap(buf) == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)[:len(buf)]
		}
		n, err := in.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		eof := errors.Is(err, io.EOF)
		if err != nil && !eof {
			return err
		}
		if len(buf) < cap(buf) && !eof {
			continue
		}
		end := bytes.LastIndexByte(buf, '\n') + 1
		if end > 0 {
			use(line, string(buf[:end]))
			line += bytes.Count(buf[:end], []byte{'\n'})
		}
		if eof {
			return nil
		}
		buf = buf[:copy(buf, buf[end:])]
	}
}
