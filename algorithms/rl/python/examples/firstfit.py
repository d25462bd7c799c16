"""Placement: each request on the first GPU with room, at the first slice where it fits."""
import miglab


@miglab.placer
def first_fit(cluster, profile):
    return next(cluster.spots(profile), None)


miglab.main()
