"""Decorators that make functions algorithms, and the loop that answers miglab's questions."""

import atexit
import collections.abc
import functools
import json
import os
import sys
import traceback

from .problems import Cluster, Fleet, Infeasible, Instance, Problem, Window, record

PROTOCOL = 2

_algorithms = {}  # by track


class _Algorithm:
    """A function with its name and version. A subclass has a method for each type of question that it answers."""

    protocol = PROTOCOL

    def __init__(self, function, name, version):
        self.function, self.name, self.version = function, name, version

    def wrong(self, found, want):
        """Returns the error about what the function returned."""
        return TypeError(f"{self.function.__name__} returned {found!r:.80}; it must return {want}")


class _Scheduler(_Algorithm):
    def instance(self, **question):
        self.problem = Problem(**question)
        return self._plan()

    def tasks(self, tasks, start=(), **_):
        self.problem.tasks, self.problem.start = tasks, start
        return self._plan()

    def _plan(self):
        found = self.function(self.problem)
        if isinstance(found, dict):
            end = max((p["end_s"] for p in found.get("placements", ())), default=0)
            common = {"gpu": self.problem.gpu.name, "algorithm": self.name, "reconfiguration": self.problem.reconfiguration}
            return {"type": "schedule", "schedule": {**common, "makespan_s": end, **found}}
        plan = list(found) if isinstance(found, collections.abc.Iterable) else [None]
        if not all(isinstance(i, Instance) for i in plan):
            raise self.wrong(found, "a plan, a list of miglab.Instance, or a schedule, a dict")
        uses = [{"gpu": i.gpu, "size": i.size, "slice": i.slice, "tasks": [t.name for t in i.tasks], "not_before_s": i.not_before_s} for i in plan if i.tasks]
        return {"type": "plan", "plan": uses}


class _Placer(_Algorithm):
    def cluster(self, **question):
        self.state = Cluster(**question)
        return {"type": "ready"}

    def request(self, profile, changes, **_):
        self.state.change(changes)
        found = self.function(self.state, self.state.gpu.profiles[profile])
        if found is None:
            return {"type": "reject"}
        if not isinstance(found, (tuple, list)) or len(found) != 2:
            raise self.wrong(found, "(gpu, slice), or None to reject the request")
        gpu, start = found
        return {"type": "place", "gpu": gpu, "slice": start}


class _GangPlacer(_Placer):
    protocol = 3

    def __init__(self, function, name, version, gangs):
        super().__init__(function, name, version)
        self.gangs = gangs

    def gang(self, where, members, changes, **_):
        self.state.change(changes)
        for member in members:
            member.profile = self.state.gpu.profiles[member.profile]
            member.media = getattr(member, "media", False)
        found = self.gangs(self.state, members, where == "gpu")
        if found is None:
            return {"type": "reject"}
        return {"type": "places", "places": [{"gpu": gpu, "slice": start} for gpu, start in found]}


class _Dispatcher(_Algorithm):
    def fleet(self, **question):
        self.state = Fleet(**question, waiting={})
        return {"type": "ready"}

    def job(self, now_min, arrived, job, free, **_):
        self.state.now_min, self.state.free = now_min, free
        self.state.waiting.update((a.job, a) for a in arrived)
        found = self.function(self.state, self.state.waiting[job])
        del self.state.waiting[job]
        if found is None:
            raise self.wrong(found, "the number of a slice of fleet.free")
        return {"type": "dispatch", "slice": found}


class _Corunner(_Algorithm):
    def window(self, **question):
        groups = self.function(Window(**question))
        return {"type": "plan", "groups": [{"jobs": [getattr(j, "number", j) for j in jobs], "partition": p} for jobs, p in groups]}


def scheduler(function=None, *, name=None, version=1):
    """Makes a function a scheduler of the tracks batch and stream.

    The function gets a Problem and returns a plan, a list of Instance, which miglab times: instances that share slices
    run in the order of the list. Instances without tasks are left out. Or it returns a schedule, a dict with placements
    and reconfigurations as in PROTOCOL.md.

    name is what leaderboards show; raise version whenever answers change. Other decorators have them, too.
    """
    return _register(_Scheduler, ("batch", "stream"), function, name, version)


def placer(function=None, *, gangs=None, name=None, version=1):
    """Makes a function a placer: it gets a Cluster and the profile of a request, and returns (gpu, slice), or None to reject it.

    gangs is a function for requests for several instances at once or for media extensions. It gets a Cluster, a list of
    members, each with profile and media (it needs the media extensions of its GPU, which cluster.media has in use), and
    whether all must be on one GPU. It returns a list of (gpu, slice), one for each member, or None.
    """
    kind = functools.partial(_GangPlacer, gangs=gangs) if gangs else _Placer
    return _register(kind, ("placement",), function, name, version)


def dispatcher(function=None, *, name=None, version=1):
    """Makes a function a dispatcher: it gets a Fleet and a Job, and returns the number of a slice of fleet.free."""
    return _register(_Dispatcher, ("dispatch",), function, name, version)


def corunner(function=None, *, name=None, version=1):
    """Makes a function an algorithm of the track corun: it gets a Window and returns groups, each (jobs, partition)."""
    return _register(_Corunner, ("corun",), function, name, version)


def _register(kind, tracks, function, name, version):
    def register(f):
        if f.__module__ == "__main__":
            atexit.register(_remind)
        for track in tracks:
            if track in _algorithms:
                raise ValueError(f"{f.__name__}: {_algorithms[track].function.__name__} is for the track {track} already")
            _algorithms[track] = kind(f, name or f.__name__.replace("_", "-"), version)
        return f

    return register(function) if function else register


def _remind():
    print(f"{sys.argv[0]}: the last line must be miglab.main()", file=sys.stderr)


def main():
    """Answers the questions of miglab until they end. It is the last line of a program, below the decorated functions.

    What functions print goes to standard error. If a function raises an exception other than Infeasible, the kind of the
    instance's row in the results is crashed, and its error is the last line of the traceback.
    """
    atexit.unregister(_remind)
    if sys.stdin.isatty():
        sys.exit(f"miglab starts this program: miglab run --algorithms 'exec:python3 {sys.argv[0]}' --datasets ...")
    sys.stdout.reconfigure(line_buffering=True)  # a print comes before the traceback that follows it
    with open(os.dup(1), "w", encoding="utf-8") as out:
        os.dup2(2, 1)  # also for libraries that are not Python's
        algorithm = None
        for line in sys.stdin.buffer:
            question = vars(json.loads(line, object_hook=record))
            kind = question.pop("type")
            if kind == "hello":
                algorithm = _algorithms.get(question["track"])
                answer = _hello(algorithm)
            else:
                answer = _answer(algorithm, kind, question)
            out.write(answer + "\n")
            out.flush()


def _hello(algorithm):
    if algorithm is None:
        return json.dumps({"type": "error", "message": f"only {', '.join(_algorithms) or 'files with a decorated function'}"})
    return json.dumps({"type": "hello", "protocol": algorithm.protocol, "name": algorithm.name, "version": algorithm.version})


def _answer(algorithm, kind, question):
    """Returns the answer to a question. After an exception, the message is the last line of the traceback."""
    number = question.pop("id")
    try:
        return json.dumps({"id": number, **getattr(algorithm, kind)(**question)}, allow_nan=False, default=_plain)
    except Infeasible as e:
        refusal = {"type": "error", "message": str(e)}
    except Exception as e:
        begin = e.__traceback__
        while begin and begin.tb_frame.f_code.co_filename == __file__:
            begin = begin.tb_next
        traceback.print_exception(type(e), e, begin or e.__traceback__)
        last = "".join(traceback.format_exception_only(type(e), e)).strip().rpartition("\n")[2]
        refusal = {"type": "crashed", "message": last}
    return json.dumps({"id": number, **refusal})


def _plain(value):
    """Returns a number of NumPy as Python's."""
    if hasattr(value, "item"):
        return value.item()
    raise TypeError(f"{value!r} is not a number, a string, a list or a dict")
