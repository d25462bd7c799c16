"""The results of miglab run."""

import contextlib
import json
import pathlib
import sqlite3

FORMAT = 6


def results(path="results", *, frame=None, all=False, **where):
    """Returns the results in a folder or a database: a row for each instance that an algorithm was run on.

    Each row has track, dataset, gpu, count (of GPUs), algorithm, version, model (of reconfiguration), instance, and the
    metrics of its track, such as makespan_s. kind and error are "" unless the algorithm failed. where selects rows, as
    in results(track="batch", algorithm="far"). Of an algorithm or program that has changed, the rows of the version that
    wrote last are returned, or those of all with all=True. Nothing is written.

    The rows are dicts, or a data frame of pandas if it is installed; frame=True or False decides it.
    """
    path = pathlib.Path(path)
    files = sorted(path.glob("results*.db")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"{path} has no results; compute some with miglab run")
    found, newest = {}, {}
    for file in files:
        for identity, version, row in _read(file, where):
            found[*identity, *version[1:]] = identity[:-1], version, row
            newest[identity[:-1]] = max(version, newest.get(identity[:-1], version))
    rows = [row for of, version, row in found.values() if all or version[1:] == newest[of][1:]]
    if frame is None or frame:
        try:
            import pandas

            return pandas.DataFrame(rows)
        except ImportError:
            if frame:
                raise
    return rows


def _read(file, where):
    """Yields of each row what names its instance and algorithm, its version with the order of writing first, and the row."""
    series = "track, dataset, content, gpu, count, algorithm, version, weights, model"
    query = f"SELECT results.*, written FROM results JOIN (SELECT {series}, written FROM series) USING ({series})"
    query += "".join(f"{' AND' if i else ' WHERE'} results.{name} = ?" for i, name in enumerate(where))
    with contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise ValueError(f"{file} has format {version}, and this package reads format {FORMAT}; install both from one release")
        rows = db.execute(query, list(where.values()))
        names = [column[0] for column in rows.description]
        for values in rows:
            row = dict(zip(names, values))
            metrics = json.loads(row.pop("metrics") or "{}")
            version = row.pop("written"), row["version"], row.pop("weights")
            of = row["track"], row["dataset"], row.pop("content"), row["gpu"], row["count"], row["algorithm"], row["model"]
            yield (*of, row["instance"]), version, {**row, **metrics}
