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

// The table of the names that programs give themselves is made with the first name. A database
// without it has the same format.
const (
	programTable = "CREATE TABLE IF NOT EXISTS program (track TEXT NOT NULL, algorithm TEXT NOT NULL, version INTEGER NOT NULL, weights TEXT NOT NULL, name TEXT NOT NULL," +
		" PRIMARY KEY (track, algorithm, version, weights)) STRICT, WITHOUT ROWID"
	nameProgram = "INSERT INTO program VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name"
)

// Name keeps the name that a program gives itself, at once. A later name replaces it. Errors are
// those of the file system.
func (w *Writer) Name(p Program, name string) error {
	if _, err := w.file.db.Exec(programTable); err != nil {
		return explain(w.file.path, err)
	}
	_, err := w.file.db.Exec(nameProgram, text(p.Track), text(p.Algorithm), p.Version, text(p.Weights), text(name))
	return explain(w.file.path, err)
}

// Names returns the names that programs give themselves. Results that were computed before names
// were kept have none.
func (db *DB) Names() (map[Program]string, error) {
	out := map[Program]string{}
	for _, f := range db.all() {
		there := false
		err := f.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'program'", nil, func([]any) error {
			there = true
			return nil
		})
		if err == nil && there {
			err = f.query("SELECT track, algorithm, version, weights, name FROM program", nil, func(v []any) error {
				out[Program{as[string](v[0]), as[string](v[1]), int(as[int64](v[2])), as[string](v[3])}] = as[string](v[4])
				return nil
			})
		}
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
