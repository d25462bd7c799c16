"""The optimum of a small batch on one GPU as a mixed-integer programme, solved by CBC.

Task i runs on one node v, an instance of a size at a slice: x_i_v. y_i_j says that i ends before j begins, which one of the two
must if their instances share a slice. Between them, i's instance is destroyed and j's is created, unless it is the same one
(z_i_j_v). This describes all schedules of the models parallel and free, in which operations on disjoint slices do not wait
for each other.

A batch may have up to about six tasks, with --reconfiguration parallel or free; CBC is Debian's coinor-cbc. make test-all
compares the makespans with those of miglab bound --exact."""
import itertools
import os
import subprocess
import tempfile

import miglab


def nodes(problem):
    """Returns an instance and the seconds to create and destroy it for each place where one can be."""
    return [(p.size, start, p.length, p.create_s, p.destroy_s) for p in problem.gpu.profiles for start in p.starts]


def programme(tasks, where):
    """Returns the programme in CPLEX's LP format."""
    n, pairs = range(len(tasks)), list(itertools.permutations(range(len(tasks)), 2))
    create, destroy = max(c for *_, c, _ in where), max(d for *_, d in where)
    horizon = sum(min(t.seconds.values()) + create + destroy for t in tasks)
    may = [[v for v, w in enumerate(where) if t.on(w[0]) <= horizon] for t in tasks]
    rows = []

    def add(terms, least):
        total = {}
        for c, x in terms:
            total[x] = total.get(x, 0) + c
        rows.append(" ".join(f"{c:+.17g} {x}" for x, c in total.items() if c) + f" >= {least:.17g}")

    def takes(i, sign):
        return [(sign * tasks[i].on(where[v][0]), f"x_{i}_{v}") for v in may[i]]

    def on(i, slice_):
        return [f"x_{i}_{v}" for v in may[i] if where[v][1] <= slice_ < where[v][1] + where[v][2]]

    slices = range(max(w[1] + w[2] for w in where))
    for i in n:
        rows.append(" + ".join(f"x_{i}_{v}" for v in may[i]) + " = 1")
        add([(1, f"s_{i}")] + [(-where[v][3], f"x_{i}_{v}") for v in may[i]], 0)
        add([(1, "m"), (-1, f"s_{i}")] + takes(i, -1), 0)
    for slice_ in slices:  # not needed, but the search ends sooner
        add([(1, "m")] + [(-tasks[i].on(where[int(x.split("_")[2])][0]), x) for i in n for x in on(i, slice_)], 0)
    big = horizon + create + destroy
    for i, j in pairs:
        same = [v for v in may[i] if v in may[j]]
        add([(1, f"s_{j}"), (-1, f"s_{i}")] + takes(i, -1) + [(-where[v][4], f"x_{i}_{v}") for v in may[i]]
            + [(-where[v][3], f"x_{j}_{v}") for v in may[j]] + [(where[v][3] + where[v][4], f"z_{i}_{j}_{v}") for v in same]
            + [(-big, f"y_{i}_{j}")], -big)
        for v in same:
            add([(1, f"x_{i}_{v}"), (-1, f"z_{i}_{j}_{v}")], 0)
            add([(1, f"x_{j}_{v}"), (-1, f"z_{i}_{j}_{v}")], 0)
        if i < j:
            for slice_ in slices:
                add([(1, f"y_{i}_{j}"), (1, f"y_{j}_{i}")] + [(-1, x) for x in on(i, slice_) + on(j, slice_)], -1)
    binaries = [f"x_{i}_{v}" for i in n for v in may[i]] + [f"y_{i}_{j}" for i, j in pairs]
    return "\n".join(["minimize", "m", "subject to", *rows, "bounds", f"m <= {horizon:.17g}", "binaries", *binaries, "end", ""])


def solve(text):
    """Returns the values of the variables that are not 0."""
    with tempfile.TemporaryDirectory() as folder:
        model, solution = os.path.join(folder, "model.lp"), os.path.join(folder, "solution")
        with open(model, "w") as f:
            f.write(text)
        subprocess.run(["cbc", model, "ratio", "0", "allow", "0", "integerT", "1e-9", "solve", "solution", solution],
                       check=True, stdout=subprocess.DEVNULL)
        with open(solution) as f:
            if not f.readline().startswith("Optimal"):
                raise ValueError("CBC found no optimum")
            return {line.split()[1]: float(line.split()[2]) for line in f}


@miglab.scheduler(name="milp")
def schedule(problem):
    if problem.gpus > 1 or problem.start or problem.reconfiguration == "sequential" or any(t.release_s for t in problem.tasks):
        raise miglab.Infeasible("only one GPU that is empty, no release times, and reconfiguration parallel or free")
    tasks, where = problem.tasks, nodes(problem)
    value = solve(programme(tasks, where))
    node = {int(x.split("_")[1]): int(x.split("_")[2]) for x, one in value.items() if x[0] == "x" and one > 0.5}
    bar = lambda v, start, end: {"gpu": 0, "size": where[v][0], "slice": where[v][1], "start_s": start, "end_s": end}
    placements, operations, exist = [], [], {}  # exist: until when each instance is busy
    free = {}  # by slice without an instance, since when
    for i in sorted(node, key=lambda i: value.get(f"s_{i}", 0)):
        v = node[i]
        size, first, length, create, _ = where[v]
        if v not in exist:
            for o in [o for o in exist if where[o][1] < first + length and first < where[o][1] + where[o][2]]:
                gone = exist[o] + where[o][4]
                operations.append({"op": "destroy", **bar(o, exist.pop(o), gone)})
                free |= dict.fromkeys(range(where[o][1], where[o][1] + where[o][2]), gone)
            begin = max(free.get(s, 0) for s in range(first, first + length))
            exist[v] = begin + create
            operations.append({"op": "create", **bar(v, begin, exist[v])})
        end = exist[v] + tasks[i].on(size)
        placements.append({"task": tasks[i].name, **bar(v, exist[v], end)})
        exist[v] = end
    return {"placements": placements, "reconfigurations": operations}


miglab.main()
