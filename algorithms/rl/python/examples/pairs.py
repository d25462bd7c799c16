"""Corun: the job that needs the most compute shares the GPU with the job that needs the most memory, and so on."""
import miglab


@miglab.corunner
def pairs(window):
    order = sorted(window.jobs, key=lambda j: j.compute - j.memory)
    groups = []
    while len(order) > 1 and window.concurrency > 1:
        groups.append(([order.pop(0), order.pop()], "[(0.5)+(0.5),1m]"))
    return groups + [([job], "[(1),1m]") for job in order]


miglab.main()
