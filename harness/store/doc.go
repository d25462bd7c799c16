// Package store keeps results in a SQLite database, so that no work is done twice. It does
// not know what a result means.
//
// A folder for results has the database results.db, and results-1of4.db and so on where
// several processes share the work. Each has these tables:
//
//	series   one row for each track x dataset x content x gpu x count x algorithm x version x weights x model,
//	         with the checksums of its cells and the order in which series were last written
//	cell     one row for each instance of a series: a kind and an error, or metrics as a JSON array of numbers;
//	         and the wall time, which is never compared
//	names    the names of the metrics as a JSON array, one row for each list that cells share
//	state    one row: the number of series and of writes
//	model    one row for each GPU model that is not in the program's table, as JSON
//	unit     one row for each finished piece of work that is not a cell: its key, a digest of what it depends on, and
//	         its record as JSON
//
// and a view for people, results, with one row for each cell and its metrics as a JSON object. Any SQLite client can
// read it:
//
//	SELECT dataset, algorithm, count(*) AS cells, avg(json_extract(metrics, '$.makespan_s')) AS mean_s
//	FROM results WHERE track = 'batch' GROUP BY dataset, algorithm ORDER BY dataset, mean_s;
//
//	SELECT a.dataset, a.instance, a.metrics ->> 'makespan_s' AS far_s, b.metrics ->> 'makespan_s' AS miso_s
//	FROM results a JOIN results b USING (track, dataset, content, gpu, count, model, instance)
//	WHERE a.algorithm = 'far' AND b.algorithm = 'miso' ORDER BY 1, 2;
//
//	SELECT algorithm, dataset, instance, kind, error FROM results WHERE kind <> ''
//	ORDER BY algorithm, dataset, instance;
//
// A [Writer] commits about once a second. Killing its process loses what was not committed and
// no more. Several processes may write to one database. Two results that disagree about a cell
// are a [*ConflictError]; a result of [KindTimeout] or [KindPanic] gives way to any other.
//
// SQLite does not detect damaged text, or a damaged page that makes a search miss rows. So a series has checksums, one
// for each 128 instances: the sum of the CRC-32C of the cells' columns, joined by NUL, and of their lists of names. A
// commit adds to them, and whoever reads results checks the checksums of its instances. The checksums of a series
// also protect the order of series, its columns have a hash, and the table state says how many series there are.
// [DB.Check] finds other damage. A damaged file is a [*Damage], which says what to do.
package store
