"""miglab's environments for scheduling on NVIDIA MIG, with the interface of Gymnasium.

This package starts the program miglab, which has the environments, and needs numpy. program=PATH or the variable MIGLAB
says where the program is; otherwise it must be on PATH. Where Gymnasium 1.1 or later is installed, environments and
spaces are of its classes; otherwise they are of classes with the same interface.

A rollout of 4 days of the deadline report, each job on a random free slice:

>>> import miglab_gym
>>> envs = miglab_gym.VectorEnv("deadline", 4)
>>> observations, info = envs.reset(seed=1)
>>> _ = envs.action_space.seed(1)
>>> late = []
>>> while len(late) < 4:
...     actions = envs.action_space.sample(envs.action_masks())
...     observations, rewards, terminated, truncated, info = envs.step(actions)
...     if terminated.any():
...         late.extend(info["final_info"]["late_percent"][terminated])
>>> 35 < sum(late) / len(late) < 65
True

The same days, each job on the largest free slice:

>>> observations, info = envs.reset(seed=1)
>>> greedy = []
>>> while len(greedy) < 4:
...     sizes = observations[:, 65:85] - 2 * observations[:, 45:65]
...     observations, rewards, terminated, truncated, info = envs.step(sizes.argmax(axis=1))
...     if terminated.any():
...         greedy.extend(info["final_info"]["late_percent"][terminated])
>>> sum(greedy) < sum(late)
True
>>> envs.close()

The first batches of a leaderboard, each task on the GPU as a whole, beside the certified
lower bound and FAR's makespan. The file has the schedules, which miglab checks and ranks
(miglab run --algorithms far,'exec:python3 -m miglab.replay whole.jsonl' --datasets WIDETIMES --instances 20 --leaderboard):

>>> import os, tempfile
>>> path = os.path.join(tempfile.mkdtemp(), "whole.jsonl")
>>> found = miglab_gym.evaluate(
...     lambda observations, masks: masks.argmax(axis=1), path,
...     name="whole", dataset="WIDETIMES", instances=20, far=True)
>>> bool((found["certified_bound_s"] <= found["far_makespan_s"]).all())
True
>>> bool((found["far_makespan_s"] < found["makespan_s"]).all())
True
>>> with open(path) as file:
...     len(file.readlines())
21

Environments and their options, all keyword arguments, with defaults in brackets:

    deadline  the deadline report's queue: dataset ("deadline/relaxed"), gpu ("A100"),
              instances (False): the days 0, 1, ... of miglab run, whose late_percent
              and tardiness_min are then the metrics of the episodes, in place of drawn days,
              original (False): the report's original observation of 64 features,
              sparse (False): the original reward, at the end alone,
              released (False): scales, bins and last reward of the authors' notebook,
              first, penalty (False): observation and reward of the authors' earlier notebooks,
              energy (""): the energy in the reward, none, "as-released" or "right"
    own       our own formulation of batch scheduling: workload ("WIDETIMES", as drawn with
              "WIDETIMES?gen=released-train", psup, leave or order), gpu ("A100"),
              reconfiguration ("sequential", or "parallel", "free"), tasks (14),
              start (0): the probability of beginning on a busy GPU
    batch     the DRL paper's MDP: workload, gpu, reconfiguration as for own, tasks (14): N,
              levels (0): M, or 0 for continuous time, encoding ("float", or "one-hot"),
              direct (False): a reconfiguration waits for its slices, stream (0): the tasks of
              an episode, 0 means N, random_start (False): begins in a random busy partition,
              released (False): as the paper's released code

Options of own and batch for comparing:

    bound     (False) info has certified_bound_s, the lower bound from which leaderboards
              measure gaps. It takes about 4 ms a batch. Of a GPU that is busy at the start
              it is the area bound
    far       (False) info has far_makespan_s, the makespan of the scheduler FAR
    dataset   replaces workload: episodes are the instances of a dataset, in order, and
              info has the number of each as instance. "profile:tasks.csv?draw=14" draws
              batches of the tasks of your own file. Environment i of n has i, i+n, i+2n, ...

Observations, actions and rewards. A GPU has K slices and instances of S sizes, ascending (A100: 7, and 5: 1, 2, 3, 4, 7);
N is tasks and M is levels. The indices are those of an A100 and the default options. In own and batch, slices are
renamed so that equivalent states look the same. A row without a task is zeros.

own: its I instances are, on an A100, I = 13: 7 4 2 1 1 2 1 1 3 2 1 1 1; on an A30, I = 7: 4 2 1 1 2 1 1 (sizes). Action
a runs the task of row a // I on instance a % I. The unit of time is a lower bound of the batch: the larger of its least
area over K and of the longest of its tasks' least times. Instants count from the first free slice on. Values end at 8.
The rewards of an episode add up to -10 times the makespan beyond the lower bound of the first observation, in the unit.

    index    count  low  high  value
    0        1      0    N     n, the number of tasks left
    1:8      K      -8   8     when each slice is free
    8:21     I      -8   8     1 for each instance that exists, else 0
    21:34    I      -8   8     when a task could start on each instance
    34       1      -8   8     a lower bound of the makespan
    35       1      -8   8     the makespan so far
    36       1      -8   8     the least area (size times time) of the tasks left, over K
    37       1      -8   8     n / 14
    38       1      -8   8     ten times the time to create and destroy an instance of the smallest size
    39       1      -8   8     when the last operation ends, if reconfiguration is sequential
    40       1      -8   8     1 / (n + 1)
    41:279   N*R    -8   8     a row of R = 3*S + 2 values for each task left, by time on size 1, the longest first:
    row 0:5    S    -8   8     the time on each size
    row 5:10   S    -8   8     the area on each size over the least area, minus 1
    row 10:15  S    -8   8     the earliest end on each size, minus the lower bound of the makespan
    row 15     1    -8   8     the least area over K
    row 16     1    -8   8     the least time

batch: its P partitions are, on an A100, 0 to 12: 7 4-3 4-2-1 4-1-1-1 2-2-3 2-2-2-1 2-2-1-1-1 2-1-1-3 2-1-1-2-1
2-1-1-1-1-1 1-1-1-1-3 1-1-1-1-2-1 1-1-1-1-1-1-1; on an A30, 0 to 3: 4 2-2 2-1-1 1-1-1-1. Action 0 lets time pass, action
1 + c changes to partition c, and action 1 + P + K*j + m runs a task of row j on instance m of the partition, from the
left. Times are over the longest time of the episode's tasks. A reward is minus the time that passes,
also while an agent waits or reconfigures without need, which is no part of the makespan. With released, times, counts
and partitions have another divisor, and rewards are in levels.

    index    count  low  high  value
    0        1      0    1     the partition over P; one-hot: P values
    1:8      K      0    inf   the time until each slice is idle
    -        1      0    1     only if direct: 1 while no reconfiguration is allowed, else 0
    8:78     N*R    -1   1     a row of R = S values for each class of equal tasks, in the same order:
    row 0:5    S    -1   1     the time on each size, or -1 if the task does not fit; one-hot: M values for each
    row -      1    0    1     only with levels: the number of tasks over N

deadline: its episode is a day of about 4000 decisions. Action a puts the waiting job with the earliest deadline on the
free slice a of n = 20. Times are in minutes. A time t is shown as t / (t + 3), the time to a
deadline as t / (|t| + 3), and a job's times are on small slices (the mean of sizes 1 and 2), medium ones (the mean of 3
and 4) and 7. Bins of these times begin at 0, 1/4, 1/2, 1, 2, 4, 8, 16, 32 and 64, those of times to the deadline at
-inf, -8, -2, 0, 1/2, 1, 2, 4, 8 and 16. A reward is 0.01 * size / 7, plus 0.05 if the job will end in time, plus, for
each job that ends before the next decision, 0.1 if it is in time, else -0.2 a minute of tardiness. The last one adds
10 * (1 - late / jobs) - tardiness / jobs. With sparse, all rewards are 0 but the last, which is
-(tardiness + w * energy) / (w * jobs + 1) with w = 2.25e-5 and energy in watt-minutes. evaluate does not take deadline.

    index    count  low  high  value
    0        1      -1   1     the time to the deadline of the job
    1:4      3      0    1     its times on small slices, medium slices and size 7
    4        1      0    1     its time on size 7 over the time to its deadline, which counts as at least 0.01; at most 1
    5:15     10     0    1     the shares of the waiting jobs by bins of the time to the deadline
    15:45    30     0    1     the same by bins of the times on small slices, medium slices and size 7
    45:65    n      0    1     1 for each busy slice, else 0
    65:85    n      0    1     the size of each slice over 7
    85       1      0    1     w / (w + 16) for w jobs that wait
    86       1      0    1     the share of free slices
    87       1      0    1     the size of the largest free slice over 7

Episodes end by themselves (terminated); the value of a terminal state is 0. An action that is not allowed is an error.
With invalid="nearest" it is replaced, and with invalid="end" it truncates the episode. Gymnasium's check_env takes
such actions, and refuses an episode that is truncated in the first step, so use "nearest":

    gymnasium.utils.env_checker.check_env(miglab_gym.Env("batch", invalid="nearest"))

An environment belongs to the process that made it; after a fork, make another one.
"""

from ._process import Error
from .environments import Env, VectorEnv
from .evaluation import evaluate
from .interface import AutoresetMode, Box, Discrete, MultiDiscrete

__all__ = ["AutoresetMode", "Box", "Discrete", "Env", "Error", "MultiDiscrete", "VectorEnv", "evaluate"]
