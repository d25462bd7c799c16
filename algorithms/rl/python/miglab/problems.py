"""The arguments of decorated functions: the questions of harness/external/PROTOCOL.md, with fields as attributes."""

import math


class Infeasible(ValueError):
    """Says that a function has no answer to an instance. miglab stores the message."""


class Durations(dict):
    """Durations by size, without the sizes that do not fit."""

    def __missing__(self, size):
        raise KeyError(f"no duration on size {size}, only on {' '.join(map(str, self))}; on({size}) is infinity there")


class Record:
    """A JSON object of a question. Its fields are attributes."""

    def __init__(self, **fields):
        self.__dict__.update(fields)

    def __getattr__(self, name):
        known = ", ".join(n for n in dir(self) if not n.startswith("_"))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}; it has {known}")

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class Task(Record):
    """A task of a batch, with name, release_s (it starts no earlier) and seconds (by size, as in seconds[2])."""

    gpu = None  # of the present problem

    def on(self, size):
        """Returns the seconds on instances of a size, or infinity if the task does not fit them."""
        if size not in self.seconds and self.gpu:
            _profile(self.gpu, size)
        return self.seconds.get(size, math.inf)


class Job(Record):
    """A job of a fleet, with job (its number), arrival_min, deadline_min and minutes (by size)."""

    def on(self, size):
        """Returns the minutes on slices of a size, or infinity if the job does not fit them."""
        return self.minutes.get(size, math.inf)


def record(fields):
    """Returns a JSON object as a Record, or as Durations if its names are sizes."""
    if all(name.isdigit() for name in fields):
        return Durations((int(name), value) for name, value in fields.items())
    kind = Task if "seconds" in fields else Job if "minutes" in fields else Record
    return kind(**fields)


def _profile(gpu, size):
    for profile in gpu.profiles:
        if profile.size == size:
            return profile
    raise ValueError(f"{gpu.name} has no instances of size {size}; sizes: {' '.join(str(p.size) for p in gpu.profiles)}")


def _partitions(gpu, free=0):
    """Returns the names of the partitions of a GPU's slices from free on."""
    names, ends = [], []  # an instance that begins where a smaller one fits before it leaves a gap
    for profile in gpu.profiles:
        start = next((s for s in profile.starts if s >= free), None)
        if start is not None and not any(end <= start for end in ends):
            ends.append(start + profile.length)
            names += [f"{profile.size}-{rest}".rstrip("-") for rest in _partitions(gpu, ends[-1])]
    return names or [""]


class Instance:
    """An instance of a plan, with its tasks in order.

    end is when its last task ends if creating and destroying takes no time, and if no instance of the plan that shares
    its slices comes before it: such instances run one after the other. The instance is not created, and no instance is
    destroyed for it, before not_before_s.
    """

    def __init__(self, gpu, size, slice, tasks=(), not_before_s=0, end=0):
        self.gpu, self.size, self.slice = gpu, size, slice
        self.tasks, self.not_before_s, self.end = [], not_before_s, max(end, not_before_s)
        for task in tasks:
            self.add(task)

    def ends(self, task):
        """Returns what end becomes when a task is added: infinity if the task does not fit."""
        return max(self.end, task.release_s) + task.on(self.size)

    def add(self, task):
        """Runs a task after the others. It raises Infeasible if the task does not fit."""
        if self.size not in task.seconds:
            raise Infeasible(f"task {task.name} does not fit size {self.size}")
        self.end = self.ends(task)
        self.tasks.append(task)

    def __repr__(self):
        return f"Instance(gpu={self.gpu}, size={self.size}, slice={self.slice}, tasks={[t.name for t in self.tasks]})"


class Problem(Record):
    """A batch, with gpu (the model), gpus (their number), reconfiguration, start and tasks.

    gpu has name, compute_slices, memory_slices and profiles. A profile has size (compute slices), length (memory slices),
    starts (the memory slices at which it may begin), create_s and destroy_s. start lists the instances that exist, with
    gpu, size, slice and busy_until_s.

    A later batch of a stream comes in the same problem: tasks are the new ones, and start is what the plans have left.
    """

    def __init__(self, **fields):
        super().__init__(**fields)
        Task.gpu = self.gpu

    def instances(self, size):
        """Returns an instance for each place of a size: GPU by GPU, from left to right."""
        return [self._instance(g, size, start) for g in range(self.gpus) for start in _profile(self.gpu, size).starts]

    def partitions(self):
        """Returns the names of all partitions of a GPU into instances, such as "4-2-1", large instances first."""
        return _partitions(self.gpu)[::-1]

    def partition(self, sizes):
        """Returns the instances of a partition, "4-2-1" or [4, 2, 1], from left to right, on each GPU.

        If no partition has the sizes in this order, they mean the first of partitions() that has them in another one.
        """
        places, free = [], 0
        sizes = sizes if isinstance(sizes, str) else "-".join(map(str, sizes))
        for size in map(int, sizes.split("-")):
            start = next((s for s in _profile(self.gpu, size).starts if s >= free), None)
            if start is None:
                for name in self.partitions():
                    if sorted(name.split("-")) == sorted(sizes.split("-")):
                        return self.partition(name)
                raise ValueError(f"{self.gpu.name} has no partition {sizes}; partitions: {' '.join(self.partitions())}")
            places.append((size, start))
            free = start + _profile(self.gpu, size).length
        return [self._instance(g, *place) for g in range(self.gpus) for place in places]

    def _instance(self, gpu, size, slice):
        busy, end = 0, slice + _profile(self.gpu, size).length
        for s in self.start:
            if s.gpu == gpu and s.slice < end and slice < s.slice + _profile(self.gpu, s.size).length:
                busy = max(busy, s.busy_until_s)
        return Instance(gpu, size, slice, end=busy)


class Cluster(Record):
    """A cluster, with gpu, gpus and masks: by GPU, the memory slices in use (bit k for slice k).

    gpu has the fields of Problem.gpu; its profiles have a name, such as "1g.6gb", and no seconds. Fields that are None
    unless known: demand (the share of each profile in the requests), per_node (GPUs of a node), geometry (by GPU, the
    instances that it keeps, as "4@0 2@4") and waiting.

    media says by GPU whether its media extensions are in use.
    """

    demand = per_node = geometry = waiting = None

    def __init__(self, **fields):
        super().__init__(**fields)
        self.masks, self.media = [0] * self.gpus, [False] * self.gpus
        for number, profile in enumerate(self.gpu.profiles):
            profile.number = number
            profile.windows = [(s, ((1 << profile.length) - 1) << s) for s in profile.starts]

    def change(self, changes):
        """Takes over the changes of a question."""
        for change in changes:
            self.masks[change.gpu] = change.mask
            self.media[change.gpu] = getattr(change, "media", False)

    def spots(self, profile):
        """Yields the GPU and slice of each place where an instance fits now: GPU by GPU, from left to right."""
        if not isinstance(profile, Record):
            raise TypeError(f"spots takes a profile, such as cluster.gpu.profiles[0], not {profile!r}")
        for gpu, mask in enumerate(self.masks):
            for start, window in profile.windows:
                if not mask & window and (self.geometry is None or f"{profile.size}@{start}" in self.geometry[gpu].split()):
                    yield gpu, start


class Fleet(Record):
    """A fleet, with slices (their sizes), watts, now_min, free (numbers of slices) and waiting (jobs, by number)."""


class Window(Record):
    """A window, with concurrency, kappa, delta, release and jobs, which have their number in it as number."""

    def __init__(self, **fields):
        super().__init__(**fields)
        for number, job in enumerate(self.jobs):
            job.number = number
