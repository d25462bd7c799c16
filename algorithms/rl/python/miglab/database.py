"""The results of miglab run."""

import contextlib
import json

FORMAT = 6

COLUMNS = ("track", "dataset", "gpu", "count", "algorithm", "version", "model", "instance", "kind", "error")


def results(path="results", *, frame=None, all=False, **where):
    """Returns the results in a folder or a database: a row for each instance that an algorithm was run on.

    Each row has track, dataset, gpu, count (of GPUs), algorithm, version, model (of reconfiguration), instance, and the
    metrics of its track, such as makespan_s. kind and error are "" unless the algorithm failed. where selects rows, as
    in results(track="batch", algorithm="far"). If an algorithm or program has changed, only the version that wrote last
    counts; all=True returns all versions. The databases are only read.

    Bounds are rows of their own. A batch's gap is 100 * (makespan_s / bound_s - 1) percent, with the bound_s of
    results(track="bound", algorithm="certified") for the same dataset, gpu, count, model and instance.

    The rows are dicts, or a data frame if pandas is installed. frame=True or frame=False asks for one of the two.
    """
    import pathlib

    path = pathlib.Path(path)
    files = sorted(path.glob("results*.db")) if path.is_dir() else [path] if path.exists() else []
    if not files:
        raise FileNotFoundError(f"{path} has no results; compute some with miglab run")
    for name in where:
        if name not in COLUMNS:
            raise TypeError(f"results has no column {name!r}; columns: {', '.join(COLUMNS)}")
    found, newest = {}, {}
    for file in files:
        for series, instance, version, row in _read(file, where):
            found[series, instance, version[1:]] = series, version, row
            newest[series] = max(version, newest.get(series, version))
    if not found:
        _explain(files, where)
    rows = [row for series, version, row in found.values() if all or version[1:] == newest[series][1:]]
    if frame is None or frame:
        try:
            import pandas

            return pandas.DataFrame(rows)
        except ImportError as e:
            if frame:
                raise ImportError("frame=True needs pandas: pip install pandas") from e
    return rows


@contextlib.contextmanager
def _open(file):
    """Opens a database to read it."""
    import sqlite3

    with contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise ValueError(f"{file} has format {version}, and this package reads format {FORMAT}; install both from one release")
        yield db


def _explain(files, where):
    """Raises an error if where has a value that no row has."""
    for name, value in where.items():
        known = set()
        for file in files:
            with _open(file) as db:
                known.update(v for (v,) in db.execute(f"SELECT DISTINCT {name} FROM results"))
        if known and value not in known:
            few = ", ".join(map(repr, sorted(known)[:20]))
            raise ValueError(f"no result has {name}={value!r}; there are {few}{', ...' if len(known) > 20 else ''}")


def _read(file, where):
    """Yields for each row its series (without the version), its instance, its version and the row.

    A version begins with the order of writing, so that the one that wrote last is the largest.
    """
    columns = "track, dataset, content, gpu, count, algorithm, version, weights, model"
    query = f"SELECT results.*, written FROM results JOIN (SELECT {columns}, written FROM series) USING ({columns})"
    query += "".join(f"{' AND' if i else ' WHERE'} results.{name} = ?" for i, name in enumerate(where))
    with _open(file) as db:
        rows = db.execute(query, list(where.values()))
        names = [column[0] for column in rows.description]
        for values in rows:
            row = dict(zip(names, values))
            metrics = json.loads(row.pop("metrics") or "{}")
            version = row.pop("written"), row["version"], row.pop("weights")
            series = row["track"], row["dataset"], row.pop("content"), row["gpu"], row["count"], row["algorithm"], row["model"]
            yield series, row["instance"], version, {**row, **metrics}
