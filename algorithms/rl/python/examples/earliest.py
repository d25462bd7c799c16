"""Batch: the longest task first, each on the half of a GPU with the least work."""
import miglab


@miglab.scheduler
def earliest(problem):
    half = max(p.size for p in problem.gpu.profiles if len(p.starts) > 1)
    plan = problem.instances(half)
    for task in sorted(problem.tasks, key=lambda t: -t.on(half)):
        min(plan, key=lambda i: i.end).add(task)
    return plan


miglab.main()
