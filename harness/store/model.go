package store

import (
	"cmp"
	"fmt"
	"slices"
)

// A Model is a GPU model that is not in the program's table, so that it must be kept with the results on it.
type Model struct {
	Name, JSON string // Name is its name in series, and JSON its definition
	File       string // the database that has the model, or says where the model comes from
}

const keepModel = "INSERT INTO model VALUES (?, ?, ?) ON CONFLICT DO NOTHING"

// ModelError says that two places have different GPU models of one name.
type ModelError struct {
	Name          string
	First, Second string // the databases
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("%s and %s have different GPU models %s; give one of them another name in its gpu.json, and "+
		"compute its results again", e.First, e.Second, e.Name)
}

// Keep commits a GPU model at once. A different model of the same name is a [*ModelError]. Keep also returns the errors
// of SQLite and of the file system.
func (w *Writer) Keep(m Model) error {
	if _, err := w.file.db.Exec(keepModel, m.Name, m.JSON, checksumOf(m.Name, m.JSON)); err != nil {
		return explainError(w.file.path, err)
	}
	all, err := w.file.models()
	if err == nil && slices.ContainsFunc(all, func(o Model) bool { return o.Name == m.Name && o.JSON != m.JSON }) {
		err = &ModelError{m.Name, w.file.path, m.File}
	}
	return err
}

// models returns the GPU models of one database.
func (f *file) models() (out []Model, err error) {
	err = f.query("SELECT name, json, crc FROM model", nil, func(v []any) error {
		m := Model{columnOr[string](v[0]), columnOr[string](v[1]), f.path}
		out = append(out, m)
		if checksumOf(m.Name, m.JSON) != columnOr[int64](v[2]) {
			return f.damage("the checksum of the GPU model %s is wrong", m.Name)
		}
		return nil
	})
	return out, err
}

// Models returns the GPU models by name. It returns a [*ModelError], a [*Damage], or an error of SQLite or of the file
// system.
func (db *DB) Models() (out []Model, err error) {
	for _, f := range db.all() {
		own, err := f.models()
		if err != nil {
			return nil, err
		}
		for _, m := range own {
			i := slices.IndexFunc(out, func(o Model) bool { return o.Name == m.Name })
			switch {
			case i < 0:
				out = append(out, m)
			case out[i].JSON != m.JSON:
				return nil, &ModelError{m.Name, out[i].File, m.File}
			}
		}
	}
	slices.SortFunc(out, func(a, b Model) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}
