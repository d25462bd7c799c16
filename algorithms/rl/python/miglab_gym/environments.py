"""Environments in the shape of Gymnasium's Env and VectorEnv."""

import ctypes
import json

import numpy as np

from . import _library
from .spaces import Box, Discrete, MultiDiscrete


class VectorEnv:
    """num_envs environments of one kind, stepped together.

    An environment that terminates is reset in the same step (Gymnasium's
    AutoresetMode.SAME_STEP): the reward and info are of the episode that has ended,
    the observation and mask of the one that begins. There is no final observation:
    nothing is left to decide, and to bootstrap.

    Arrays are copies, or with copy=False the same memory in each step.

    Environment i draws its episodes from a stream of its own: with the seed s they
    are those of an Env with the seed s + i.
    """

    metadata = {"autoreset_mode": "SameStep"}

    def __init__(self, name, num_envs=1, *, seed=None, copy=True, **options):
        self._handle = None
        self._library = _library.load()
        handle, text = ctypes.c_int64(), ctypes.c_void_p()
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0])
        self._library.make(
            name.encode(), json.dumps(options).encode(), num_envs, _seed(seed), ctypes.byref(handle), ctypes.byref(text)
        )
        self._handle = handle.value
        shape = json.loads(self._library.take(text.value))

        n, observation, actions = num_envs, shape["observation"], shape["actions"]
        self.name, self.options, self.num_envs, self.copy = name, options, n, copy
        self.metrics = tuple(shape["metrics"])
        self.single_observation_space, self.observation_space = Box((observation,)), Box((n, observation))
        self.single_action_space, self.action_space = Discrete(actions), MultiDiscrete(np.full(n, actions))

        self._observations = np.zeros((n, observation), np.float32)
        self._masks = np.zeros((n, actions), np.bool_)
        self._actions = np.zeros(n, np.int64)
        self._rewards = np.zeros(n, np.float32)
        self._done = np.zeros(n, np.bool_)
        self._metrics = np.zeros((n, len(self.metrics)), np.float64)
        shown = [self._observations.ctypes.data, self._masks.ctypes.data]
        told = [self._rewards.ctypes.data, self._done.ctypes.data, self._metrics.ctypes.data]
        self._reset = [self._handle, *shown]
        self._step = [self._handle, self._actions.ctypes.data, *shown, *told]
        self._returns = np.zeros(n, np.float64)
        self._lengths = np.zeros(n, np.int64)

    def reset(self, *, seed=None, options=None):
        """Begins an episode in each environment; with a seed, the first one of it."""
        if options:
            raise _library.Error("options are given when environments are made, not when they are reset")
        self._open()
        if seed is not None:
            self._library.seed(self._handle, _seed(seed))
        self._library.reset(*self._reset)
        self._returns[:], self._lengths[:] = 0, 0
        return self._out(self._observations), {}

    def step(self, actions):
        """Returns observations, rewards, terminated, truncated and info.

        Where an episode has ended, info["episode"] has its return "r" and length "l",
        and info has each of metrics; other places are NaN or 0. As in Gymnasium,
        info["_" + key] says where. info is empty where none has ended.
        """
        self._open()
        actions = np.asarray(actions)
        if actions.shape != self._actions.shape or actions.dtype.kind not in "iu":
            raise _library.Error(
                f"actions are {actions.dtype} of shape {actions.shape}; give integers of shape {self._actions.shape}"
            )
        self._actions[:] = actions
        self._library.step(*self._step)
        self._returns += self._rewards
        self._lengths += 1
        info = self._episodes() if self._done.any() else {}
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._out(self._observations), self._out(self._rewards), self._out(self._done), truncated, info

    def _episodes(self):
        done = self._done.copy()
        info = {"episode": {"r": np.where(done, self._returns, 0), "l": np.where(done, self._lengths, 0)}, "_episode": done}
        for i, name in enumerate(self.metrics):
            info[name], info["_" + name] = self._metrics[:, i].copy(), done
        self._returns[done], self._lengths[done] = 0, 0
        return info

    def action_masks(self):
        """Returns which actions are allowed, a row for each environment."""
        self._open()
        return self._out(self._masks)

    def close(self):
        """Frees the environments. Closing twice is no error."""
        if self._handle is not None:
            self._library.close(self._handle)
            self._handle = None

    def _open(self):
        if self._handle is None:
            raise _library.Error("the environment is closed")

    def _out(self, array):
        return array.copy() if self.copy else array

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()

    def __repr__(self):
        return f"VectorEnv({self.name!r}, {self.num_envs}, {self.options})"


class Env:
    """A single environment.

    Once a step has terminated, reset must follow. The observation of that step is
    all zeros, and no action is allowed.
    """

    metadata = {}

    def __init__(self, name, *, seed=None, **options):
        self._vector = VectorEnv(name, 1, seed=seed, **options)
        self.metrics = self._vector.metrics
        self.observation_space, self.action_space = self._vector.single_observation_space, self._vector.single_action_space
        # The vector has begun the next episode already when one is done.
        self._done, self._next = False, None

    def reset(self, *, seed=None, options=None):
        """Begins an episode; with a seed, the first one of it."""
        if self._next is None or seed is not None or options:
            observations, _ = self._vector.reset(seed=seed, options=options)
        else:
            observations = self._next
        self._done, self._next = False, None
        return observations[0], {}

    def step(self, action):
        """Returns the observation, reward, terminated, truncated and info."""
        if self._done:
            raise _library.Error("the episode is done; call reset")
        observations, rewards, terminated, _, infos = self._vector.step([action])
        if not terminated[0]:
            return observations[0], float(rewards[0]), False, False, {}
        self._done, self._next = True, observations
        info = {name: infos[name][0] for name in self.metrics}
        info["episode"] = {"r": infos["episode"]["r"][0], "l": infos["episode"]["l"][0]}
        return np.zeros_like(observations[0]), float(rewards[0]), True, False, info

    def action_masks(self):
        """Returns which actions are allowed."""
        mask = self._vector.action_masks()[0]
        return np.zeros_like(mask) if self._done else mask

    def close(self):
        """Frees the environment. Closing twice is no error."""
        self._vector.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"Env({self._vector.name!r}, {self._vector.options})"


def _seed(seed):
    if not 0 <= seed < 2**64:
        raise _library.Error(f"seed is {seed}; it is from 0 to 2**64 - 1")
    return seed
