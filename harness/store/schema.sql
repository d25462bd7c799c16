BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS series (
	id INTEGER PRIMARY KEY,
	identity INTEGER NOT NULL UNIQUE,
	track TEXT NOT NULL, dataset TEXT NOT NULL, content TEXT NOT NULL, gpu TEXT NOT NULL, count INTEGER NOT NULL,
	algorithm TEXT NOT NULL, version INTEGER NOT NULL, weights TEXT NOT NULL, model TEXT NOT NULL,
	written INTEGER NOT NULL, checksums TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS state (id INTEGER PRIMARY KEY CHECK (id = 1), series INTEGER NOT NULL, written INTEGER NOT NULL) STRICT;
INSERT OR IGNORE INTO state VALUES (1, 0, 0);
CREATE TABLE IF NOT EXISTS cell (
	series INTEGER NOT NULL, instance INTEGER NOT NULL,
	kind TEXT NOT NULL, error TEXT NOT NULL,
	names INTEGER NOT NULL, numbers TEXT NOT NULL,
	nanoseconds INTEGER NOT NULL,
	PRIMARY KEY (series, instance)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, list TEXT NOT NULL UNIQUE) STRICT;
CREATE VIEW IF NOT EXISTS results AS
	SELECT track, dataset, content, gpu, count, algorithm, version, weights, model, instance, kind, error, CASE kind WHEN '' THEN
		(SELECT json_group_object(value, numbers -> key) FROM names, json_each(list) WHERE names.id = cell.names)
		END AS metrics
	FROM series JOIN cell ON cell.series = series.id;
CREATE TABLE IF NOT EXISTS program (
	track TEXT NOT NULL, algorithm TEXT NOT NULL, version INTEGER NOT NULL, weights TEXT NOT NULL, name TEXT NOT NULL,
	crc INTEGER NOT NULL, PRIMARY KEY (track, algorithm, version, weights)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS model (
	name TEXT PRIMARY KEY, json TEXT NOT NULL, crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unit (
	key TEXT PRIMARY KEY, digest TEXT NOT NULL, record TEXT NOT NULL, crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
PRAGMA user_version = 6;
COMMIT;
