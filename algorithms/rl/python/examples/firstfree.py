"""Stream: each task in order of arrival, on the instance of a fixed partition where it ends first."""
import miglab


@miglab.scheduler
def first_free(problem):
    plan = problem.partition("2-1-1" if problem.gpu.name == "A30" else "4-2-1")
    for task in problem.tasks:
        min(plan, key=lambda i: i.ends(task)).add(task)
    return plan


miglab.main()
