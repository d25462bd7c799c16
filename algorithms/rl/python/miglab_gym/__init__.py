"""miglab's environments for scheduling on NVIDIA MIG, in the shape of Gymnasium's API.

Environments are written in Go; this package needs numpy and the library that

    CGO_ENABLED=1 go build -buildmode=c-shared -o libmiglabgym.so ./harness/cmd/miglabgym

builds. It is looked for where MIGLAB_GYM_LIBRARY says, else beside this file.

A rollout of 4 days of the deadline report, each job on a random free slice:

>>> import miglab_gym
>>> envs = miglab_gym.VectorEnv("deadline", 4)
>>> observations, info = envs.reset(seed=1)
>>> envs.action_space.seed(1)
>>> late = []
>>> while len(late) < 4:
...     actions = envs.action_space.sample(envs.action_masks())
...     observations, rewards, terminated, truncated, info = envs.step(actions)
...     if terminated.any():
...         late.extend(info["late_percent"][terminated])
>>> 35 < sum(late) / len(late) < 65
True

The same days, each job on the largest free slice (88 features, of which the sizes
of the slices are those from 65 on, and the busy ones from 45 on):

>>> observations, info = envs.reset(seed=1)
>>> greedy = []
>>> while len(greedy) < 4:
...     sizes = observations[:, 65:85] - 2 * observations[:, 45:65]
...     observations, rewards, terminated, truncated, info = envs.step(sizes.argmax(axis=1))
...     if terminated.any():
...         greedy.extend(info["late_percent"][terminated])
>>> sum(greedy) < sum(late)
True
>>> envs.close()

Environments and their options, all keyword arguments:

    deadline  the deadline report's queue: dataset ("deadline/relaxed"), gpu ("A100"),
              original (False: the report's original observation of 64 features),
              sparse (False: the original reward, at the end alone),
              released (False: scales, bins and last reward of the authors' notebook),
              energy ("": in the reward; or "as-released", "right")
    own       our own formulation of batch scheduling: workload ("WIDETIMES"), gpu,
              reconfiguration ("sequential", "parallel", "free"), tasks (14),
              start (0: the probability of beginning on a GPU at work)
    batch     the DRL paper's MDP: workload, gpu, reconfiguration, tasks (N), levels
              (0: M, continuous time), encoding ("float", "one-hot"), direct (False),
              stream (0: tasks an episode), random_start (False), released (False)

Episodes end by themselves: terminated, never truncated, and a terminal state is
worth 0. Python processes that use this package must not fork; let multiprocessing
spawn.
"""

from ._library import Error
from .environments import Env, VectorEnv
from .spaces import Box, Discrete, MultiDiscrete

__all__ = ["Box", "Discrete", "Env", "Error", "MultiDiscrete", "VectorEnv"]
