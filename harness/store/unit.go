package store

// A Unit is the record of a finished piece of work that is not a cell.
type Unit struct {
	Key, Digest string // Key names the work, and Digest identifies everything that the record depends on
	Record      string // JSON
}

const keepUnit = "REPLACE INTO unit VALUES (?, ?, ?, ?)"

// KeepUnit commits a record at once. It replaces an earlier record of the same key.
func (w *Writer) KeepUnit(u Unit) error {
	_, err := w.file.db.Exec(keepUnit, u.Key, u.Digest, u.Record, checksumOf(u.Key, u.Digest, u.Record))
	return explainError(w.file.path, err)
}

// Units returns the records whose keys begin with a prefix, database by database, each by key. Several databases may
// have records of the same key. Units returns a [*Damage], or an error of SQLite or of the file system.
func (db *DB) Units(prefix string) (out []Unit, err error) {
	const find = "SELECT key, digest, record, crc FROM unit WHERE key >= ?1 AND key < ?1 || '\U0010FFFF' ORDER BY key"
	err = db.query(find, []any{prefix}, func(f *file, v []any) error {
		u := Unit{columnOr[string](v[0]), columnOr[string](v[1]), columnOr[string](v[2])}
		out = append(out, u)
		if checksumOf(u.Key, u.Digest, u.Record) != columnOr[int64](v[3]) {
			return f.damage("the checksum of %q is wrong", u.Key)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
