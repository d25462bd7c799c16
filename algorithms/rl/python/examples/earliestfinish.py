"""Dispatch: each job on the free slice where it ends first."""
import miglab


@miglab.dispatcher
def earliest_finish(fleet, job):
    return min(fleet.free, key=lambda s: job.on(fleet.slices[s].size))


miglab.main()
