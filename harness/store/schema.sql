BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS series (
	id INTEGER PRIMARY KEY,
	track TEXT NOT NULL, dataset TEXT NOT NULL, content TEXT NOT NULL, gpu TEXT NOT NULL, count INTEGER NOT NULL,
	algorithm TEXT NOT NULL, version INTEGER NOT NULL, weights TEXT NOT NULL, model TEXT NOT NULL,
	crc INTEGER NOT NULL,
	UNIQUE (track, dataset, content, gpu, count, algorithm, version, weights, model)
) STRICT;
CREATE TABLE IF NOT EXISTS cell (
	series INTEGER NOT NULL, instance INTEGER NOT NULL,
	kind TEXT NOT NULL, error TEXT NOT NULL,
	names INTEGER NOT NULL, numbers TEXT NOT NULL,
	crc INTEGER NOT NULL,
	microseconds REAL,
	PRIMARY KEY (series, instance)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, list TEXT NOT NULL UNIQUE) STRICT;
CREATE VIEW IF NOT EXISTS results AS
	SELECT track, dataset, content, gpu, count, algorithm, version, weights, model, instance, kind, error, CASE kind WHEN '' THEN
		(SELECT json_group_object(value, numbers -> key) FROM names, json_each(list) WHERE names.id = cell.names)
		END AS metrics
	FROM series JOIN cell ON cell.series = series.id;
CREATE TABLE IF NOT EXISTS tally (
	written INTEGER PRIMARY KEY, series INTEGER NOT NULL UNIQUE, cells INTEGER NOT NULL, instances INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS program (
	track TEXT NOT NULL, algorithm TEXT NOT NULL, version INTEGER NOT NULL, weights TEXT NOT NULL, name TEXT NOT NULL,
	PRIMARY KEY (track, algorithm, version, weights)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS model (
	name TEXT PRIMARY KEY, json TEXT NOT NULL, crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unit (
	key TEXT PRIMARY KEY, digest TEXT NOT NULL, record TEXT NOT NULL, crc INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS program_name ON program (name, track, algorithm, version, weights);
PRAGMA user_version = 5;
COMMIT;
