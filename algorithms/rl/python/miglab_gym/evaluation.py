"""Evaluation on the instances that miglab's leaderboards have."""

import json
import os

import numpy as np

from . import _process
from .environments import VectorEnv, integers
from .interface import AutoresetMode


def evaluate(policy, path, *, name, dataset, version=1, environment="own", instances=1000, num_envs=64, **options):
    """Lets a policy for own or batch schedule the first instances of a dataset, or all if it has fewer.

    policy takes observations and masks, a row for each of up to num_envs instances, and
    returns an action for each. Its schedules become a file that miglab checks and ranks:

        miglab run --algorithms far,'exec:python3 -m miglab.replay PATH' --datasets DATASET --instances N --leaderboard

    name and version identify the agent in the file; raise the version when the agent
    changes. Other options are options of the environment, "own" or "batch"; bound is True
    by default. gpu and reconfiguration must be those of the leaderboard.

    Returns a dict with an array for each fact and metric, which has a value for each instance.
    """
    if environment not in ("own", "batch"):
        raise _process.Error(f"evaluate is for own and batch only, not for {environment}; only a program with @miglab.dispatcher is ranked on its days")
    options = {"bound": True, "answers": True} | options
    num_envs = min(num_envs, instances)
    half = f"{path}.{os.getpid()}.tmp"
    with VectorEnv(environment, num_envs, dataset=dataset, autoreset_mode=AutoresetMode.DISABLED, **options) as envs:
        count = min(instances, envs.instances or instances)
        found = {key: np.full(count, np.nan) for key in envs.facts + envs.metrics}
        envs.reset()
        p = envs._process
        at = np.arange(num_envs)  # the instance of each environment
        try:
            with open(half, "wb") as file:
                file.write(json.dumps({"type": "hello", "protocol": 1, "name": name, "version": version}).encode() + b"\n")
                while (active := at < count).any():
                    begins = active & envs._over
                    if begins.any():
                        envs.reset(options={"reset_mask": begins})
                    actions = np.zeros(num_envs, np.int64)
                    actions[active] = integers(policy(p.observations[active], p.masks[active]), active.sum())
                    file.write(envs._advance(actions, np.where(active, _process.STEP, _process.KEEP)))
                    ended = envs._over & active
                    for i in np.flatnonzero(ended):
                        for key, value in zip(envs.facts + envs.metrics, [*p.known[i], *p.measured[i]]):
                            found[key][at[i]] = value
                    at[ended] += num_envs
            os.replace(half, path)
        finally:
            if os.path.exists(half):
                os.remove(half)
    return found

