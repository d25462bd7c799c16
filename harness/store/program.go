package store

// A Program is a version of an algorithm outside miglab on a track.
type Program struct {
	Track, Algorithm string
	Version          int
	// Weights names the content of the program's files.
	Weights string
}

// Program returns the program of the series.
func (s *Series) Program() Program { return Program{s.Track, s.Algorithm, s.Version, s.Weights} }

const nameProgram = "INSERT INTO program VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name"

// Name keeps the name that a program gives itself, at once. A later name replaces it. Errors are
// those of the file system.
func (w *Writer) Name(p Program, name string) error {
	_, err := w.file.db.Exec(nameProgram, cleanText(p.Track), cleanText(p.Algorithm), p.Version, cleanText(p.Weights),
		cleanText(name))
	return explainError(w.file.path, err)
}

// Names returns the names that programs give themselves. Results that were computed before names
// were kept have none.
func (db *DB) Names() (map[Program]string, error) {
	out := map[Program]string{}
	type named struct {
		Program
		name string
	}
	for _, f := range db.all() {
		ways := [2]string{"INDEXED BY sqlite_autoindex_program_1", "INDEXED BY program_name"}
		all, err := readTwice(f, "program", "track, algorithm, version, weights, name", ways, func(v []any) named {
			p := Program{
				Track:     columnOr[string](v[0]),
				Algorithm: columnOr[string](v[1]),
				Version:   int(columnOr[int64](v[2])),
				Weights:   columnOr[string](v[3]),
			}
			return named{p, columnOr[string](v[4])}
		})
		if err != nil {
			return nil, err
		}
		for _, p := range all {
			out[p.Program] = p.name
		}
	}
	return out, nil
}
