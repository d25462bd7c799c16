package store

import "strconv"

// A Program is a version of an algorithm outside miglab on a track.
type Program struct {
	Track, Algorithm string
	Version          int
	Weights          string // identifies the content of the program's files
}

// Program returns the program of the series.
func (s *Series) Program() Program {
	return Program{Track: s.Track, Algorithm: s.Algorithm, Version: s.Version, Weights: s.Weights}
}

const nameProgram = "INSERT INTO program VALUES (?, ?, ?, ?, ?, ?)" +
	" ON CONFLICT DO UPDATE SET name = excluded.name, crc = excluded.crc"

// Name commits the name that a program gives itself, at once. A later name replaces it. Name returns the errors of
// SQLite and of the file system.
func (w *Writer) Name(p Program, name string) error {
	p.Track, p.Algorithm, p.Weights = cleanText(p.Track), cleanText(p.Algorithm), cleanText(p.Weights)
	name = cleanText(name)
	_, err := w.file.db.Exec(nameProgram, p.Track, p.Algorithm, p.Version, p.Weights, name, p.checksum(name))
	return explainError(w.file.path, err)
}

func (p *Program) checksum(name string) int64 {
	return checksumOf(p.Track, p.Algorithm, strconv.Itoa(p.Version), p.Weights, name)
}

// Names returns the names that programs give themselves. A program whose results are older than names has no entry.
func (db *DB) Names() (map[Program]string, error) {
	out := map[Program]string{}
	err := db.query("SELECT * FROM program", nil, func(f *file, v []any) error {
		p := Program{
			Track:     columnOr[string](v[0]),
			Algorithm: columnOr[string](v[1]),
			Version:   int(columnOr[int64](v[2])),
			Weights:   columnOr[string](v[3]),
		}
		out[p] = columnOr[string](v[4])
		if p.checksum(out[p]) != columnOr[int64](v[5]) {
			return f.damage("the checksum of the program %s is wrong", p.Algorithm)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
