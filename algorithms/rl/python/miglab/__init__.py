"""Schedulers for NVIDIA MIG in Python, for the program miglab, which times, checks and ranks them.

A file with a decorated function and a call of main is an algorithm:

    import miglab

    @miglab.scheduler
    def halves(problem):
        plan = problem.partition("3-3")
        for task in problem.tasks:
            min(plan, key=lambda i: i.ends(task)).add(task)
        return plan

    miglab.main()

    $ miglab run --algorithms far,'exec:python3 halves.py' --datasets WIDETIMES --instances 20 --leaderboard

scheduler is for the tracks batch and stream, placer, dispatcher and corunner for the others (FUNCTIONS, at the end).
Their arguments have their fields as attributes, such as task.release_s; harness/external/PROTOCOL.md has the details.
results reads what miglab run has written.
"""

from .database import results
from .problems import Cluster, Fleet, Infeasible, Instance, Job, Problem, Record, Task, Window
from .program import corunner, dispatcher, main, placer, scheduler

__all__ = [
    "Cluster", "Fleet", "Infeasible", "Instance", "Job", "Problem", "Record", "Task", "Window",
    "corunner", "dispatcher", "main", "placer", "results", "scheduler",
]  # fmt: skip
