"""Evaluation on the instances that miglab's leaderboards have."""

import ctypes
import json
import os

import numpy as np

from .environments import VectorEnv
from .interface import AutoresetMode


def evaluate(policy, path, *, name, dataset, version=1, environment="own", instances=1000, num_envs=64, **options):
    """Has a policy schedule the first instances of a dataset, or all that it has.

    policy takes observations and masks, a row for each of up to num_envs instances, and
    returns an action for each. Its schedules become a file that miglab checks and ranks:

        miglab run --algorithms far,answers:PATH --datasets DATASET --leaderboard

    name and version say in the file which agent it is; raise the version when the agent
    changes. Other options are those of the environment, "own" or "batch", with
    bound=True, if nothing else is said. The conditions are the leaderboard's: gpu and
    reconfiguration.

    Returns an array for each fact and metric, with a value for each instance.
    """
    options = {"bound": True} | options
    num_envs = min(num_envs, instances)
    half = f"{path}.{os.getpid()}.tmp"
    with VectorEnv(environment, num_envs, dataset=dataset, autoreset_mode=AutoresetMode.DISABLED, **options) as envs:
        count = min(instances, envs.instances or instances)
        found = {key: np.full(count, np.nan) for key in envs.facts + envs.metrics}
        envs.reset()
        at = np.arange(num_envs)  # the instance of each environment
        try:
            with open(half, "w", encoding="utf-8") as file:
                file.write(json.dumps({"type": "hello", "protocol": 1, "name": name, "version": version}) + "\n")
                while (active := at < count).any():
                    actions = np.zeros(num_envs, np.int64)
                    actions[~active] = envs._masks[~active].argmax(axis=1)
                    actions[active] = policy(envs._observations[active], envs._masks[active])
                    envs._advance(actions)
                    done = envs._done & active
                    for i in np.flatnonzero(done):
                        file.write(_answer(envs, i))
                        for key, value in zip(envs.facts + envs.metrics, [*envs._facts[i], *envs._metrics[i]]):
                            found[key][at[i]] = value
                    at[done] += num_envs
                    if (again := done & (at < count)).any():
                        envs._begin(again)
            os.replace(half, path)
        finally:
            if os.path.exists(half):
                os.remove(half)
    return found


def _answer(envs, i):
    line = ctypes.c_void_p()
    envs._library.answer(envs._handle, int(i), ctypes.byref(line))
    return envs._library.take(line.value)
