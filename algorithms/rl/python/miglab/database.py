"""The results of miglab run."""

import contextlib
import json
import pathlib
import sqlite3

FORMAT = 6


def results(path="results", *, frame=None, **where):
    """Returns the results in a folder or a database: a row for each instance that an algorithm was run on.

    Each row has track, dataset, gpu, count (of GPUs), algorithm, version, model (of reconfiguration), instance, and the
    metrics of its track, such as makespan_s. kind and error are "" unless the algorithm failed. where selects rows, as
    in results(track="batch", algorithm="far"). Nothing is written.

    The rows are dicts, or a data frame of pandas if it is installed; frame=True or False decides it.
    """
    path = pathlib.Path(path)
    files = sorted(path.glob("results*.db")) if path.is_dir() else [path]
    if not files:
        raise FileNotFoundError(f"{path} has no results; compute some with miglab run")
    found = {}
    for file in files:
        found.update(_read(file, where))
    if frame is None or frame:
        try:
            import pandas

            return pandas.DataFrame(list(found.values()))
        except ImportError:
            if frame:
                raise
    return list(found.values())


def _read(file, where):
    """Yields what names each row, and the row."""
    query = "SELECT * FROM results" + "".join(f"{' AND' if i else ' WHERE'} {name} = ?" for i, name in enumerate(where))
    with contextlib.closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version != FORMAT:
            raise ValueError(f"{file} has format {version}, and this package reads format {FORMAT}; install both from one release")
        rows = db.execute(query, list(where.values()))
        names = [column[0] for column in rows.description]
        for values in rows:
            row = dict(zip(names, values))
            metrics = json.loads(row.pop("metrics") or "{}")
            identity = tuple(v for k, v in row.items() if k not in ("kind", "error"))
            del row["content"], row["weights"]
            yield identity, {**row, **metrics}
