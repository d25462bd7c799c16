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
    in results(track="batch", algorithm="far"). If an algorithm or program has changed, only the version that wrote last
    counts; all=True returns all versions. The databases are only read.

    The rows are dicts, or a data frame if pandas is installed. frame=True or frame=False asks for one of the two.
    """
    path = pathlib.Path(path)
    files = sorted(path.glob("results*.db")) if path.is_dir() else [path] if path.exists() else []
    if not files:
        raise FileNotFoundError(f"{path} has no results; compute some with miglab run")
    found, newest = {}, {}
    for file in files:
        for series, instance, version, row in _read(file, where):
            found[series, instance, version[1:]] = series, version, row
            newest[series] = max(version, newest.get(series, version))
    rows = [row for series, version, row in found.values() if all or version[1:] == newest[series][1:]]
    if frame is None or frame:
        try:
            import pandas

            return pandas.DataFrame(rows)
        except ImportError:
            if frame:
                raise
    return rows


def _read(file, where):
    """Yields for each row its series (without the version), its instance, its version and the row.

    A version begins with the order of writing, so that the one that wrote last is the largest.
    """
    columns = "track, dataset, content, gpu, count, algorithm, version, weights, model"
    query = f"SELECT results.*, written FROM results JOIN (SELECT {columns}, written FROM series) USING ({columns})"
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
            series = row["track"], row["dataset"], row.pop("content"), row["gpu"], row["count"], row["algorithm"], row["model"]
            yield series, row["instance"], version, {**row, **metrics}
