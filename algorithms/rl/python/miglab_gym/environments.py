"""Environments with the interface of Gymnasium's Env and VectorEnv."""

import ctypes
import json

import numpy as np

from . import _library, interface
from .interface import AutoresetMode


class VectorEnv(interface.VectorEnv):
    """num_envs environments of one kind, stepped together.

    autoreset_mode says when an environment whose episode has ended is reset, as in
    Gymnasium 1.1 and later:

    SAME_STEP (the default) in the same step. The reward is of the episode that has ended, the
        observation, the mask and the facts are of the one that begins. info["final_info"] and
        info["final_obs"] are of the one that has ended.
    NEXT_STEP in the step after. That step ignores the action and gives the reward 0.
    DISABLED by the caller, with reset(options={"reset_mask": mask}).

    The observation of an episode that has ended is all zeros, and no action is allowed:
    nothing is left to decide, and its value is 0.

    Arrays are copies, or with copy=False the same memory in each step.

    Environment i draws its episodes from a stream of its own: with the seed s they are those
    of an Env with the seed s + i.
    """

    def __init__(self, name, num_envs=1, *, seed=None, copy=True, autoreset_mode=AutoresetMode.SAME_STEP, **options):
        self._handle = None
        self.closed = True  # until it is open
        self._library = _library.load()
        handle, text = ctypes.c_int64(), ctypes.c_void_p()
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1  # room for + num_envs
        mode = AutoresetMode(autoreset_mode)
        self._library.make(
            name.encode(), json.dumps(options).encode(), num_envs, _seed(seed), ctypes.byref(handle), ctypes.byref(text)
        )
        self._handle, self.closed = handle.value, False
        shape = json.loads(self._library.take(text.value))

        n, observation, actions = num_envs, shape["observation"], shape["actions"]
        self.name, self.options, self.num_envs, self.copy = name, options, n, copy
        self.facts, self.metrics = tuple(shape["facts"]), tuple(shape["metrics"])
        self.instances = shape["instances"] or None
        self.metadata, self.autoreset_mode = {"autoreset_mode": mode}, mode
        self.single_observation_space = interface.Box(-np.inf, np.inf, (observation,), np.float32)
        self.observation_space = interface.Box(-np.inf, np.inf, (n, observation), np.float32)
        self.single_action_space = interface.Discrete(actions)
        self.action_space = interface.MultiDiscrete(np.full(n, actions))

        self._seeds = [seed + i for i in range(n)]
        self._observations = np.zeros((n, observation), np.float32)
        self._masks = np.zeros((n, actions), np.bool_)
        self._facts = np.zeros((n, len(self.facts)), np.float64)
        self._actions = np.zeros(n, np.int64)
        self._rewards = np.zeros(n, np.float32)
        self._done = np.zeros(n, np.bool_)
        self._metrics = np.zeros((n, len(self.metrics)), np.float64)
        # Which environments wait for a reset.
        self._over = np.zeros(n, np.bool_)
        self._returns = np.zeros(n, np.float64)
        self._lengths = np.zeros(n, np.int64)
        self._shown = [self._observations.ctypes.data, self._masks.ctypes.data]
        self._told = [self._rewards.ctypes.data, self._done.ctypes.data, self._metrics.ctypes.data]

    @property
    def np_random_seed(self):
        """The seeds of the environments' streams."""
        return tuple(self._seeds)

    def reset(self, *, seed=None, options=None):
        """Begins an episode in each environment; with a seed, the first one of it.

        seed may be a list with a seed, or None, for each environment.
        options={"reset_mask": mask} resets only the environments where mask is True.
        info has the facts of the episodes that begin.
        """
        self._open()
        which = self._reset_mask(dict(options or {}))
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else list(seed)
            if len(seeds) != self.num_envs:
                raise _library.Error(f"there are {len(seeds)} seeds for {self.num_envs} environments")
            for i, own in enumerate(seeds):
                if own is not None and (which is None or which[i]):
                    self._library.seed(self._handle, i, _seed(own))
                    self._seeds[i] = int(own)
        self._begin(which)
        return self._out(self._observations), self._known(np.ones(self.num_envs, np.bool_) if which is None else which)

    def _reset_mask(self, options):
        mask = options.pop("reset_mask", None)
        if options:
            raise _library.Error(f"unknown options {list(options)}; reset takes reset_mask, and the others are given when environments are made")
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise _library.Error(f"reset_mask is {mask!r}; give an array of {self.num_envs} bools, one of them True")
        return np.ascontiguousarray(mask)

    def _begin(self, which):
        """Begins episodes where which is True; None means everywhere."""
        self._library.reset(self._handle, None if which is None else which.ctypes.data, *self._shown, self._facts.ctypes.data)
        where = slice(None) if which is None else which
        self._over[where], self._returns[where], self._lengths[where] = False, 0, 0

    def step(self, actions):
        """Returns observations, rewards, terminated, truncated and info.

        Where an episode has ended, info (under SAME_STEP info["final_info"]) has its return
        and length, info["episode"]["r"] and ["l"], its facts, and each of metrics. Where one
        begins, info has its facts. As in Gymnasium, info["_" + key] says where; other places
        are 0.
        """
        self._open()
        waiting = self._over.copy()
        if self.autoreset_mode is AutoresetMode.DISABLED and waiting.any():
            raise _library.Error(f'environments {np.flatnonzero(waiting).tolist()} are done; reset them with options={{"reset_mask": mask}}')
        self._advance(actions)
        done, info = self._done.copy(), {}
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            if done.any():
                info = {"final_info": self._measured(done) | self._known(done), "_final_info": done}
                info["final_obs"], info["_final_obs"] = np.full(self.num_envs, None, object), done
                for i in np.flatnonzero(done):
                    info["final_obs"][i] = self._observations[i].copy()
                self._begin(done)
                info |= self._known(done)
        else:
            if waiting.any():
                self._begin(waiting)
            if done.any():
                info = self._measured(done)
            if waiting.any() or done.any():
                info |= self._known(waiting | done)
        truncated = np.zeros(self.num_envs, np.bool_)
        return self._out(self._observations), self._out(self._rewards), self._out(done), truncated, info

    def _advance(self, actions):
        """Carries actions out where no episode waits for a reset, and resets nothing."""
        actions = np.asarray(actions)
        if actions.shape != self._actions.shape or actions.dtype.kind not in "iu":
            raise _library.Error(
                f"actions are {actions.dtype} of shape {actions.shape}; give integers of shape {self._actions.shape}"
            )
        self._actions[:] = actions
        self._library.step(self._handle, self._actions.ctypes.data, *self._shown, *self._told)
        self._returns += self._rewards
        self._lengths += ~self._over
        self._over |= self._done

    def _measured(self, where):
        info = {name: np.where(where, self._metrics[:, i], 0) for i, name in enumerate(self.metrics)}
        info["episode"] = {"r": np.where(where, self._returns, 0), "l": np.where(where, self._lengths, 0)}
        info["episode"] |= {"_r": where, "_l": where}
        return info | {"_" + name: where for name in info}

    def _known(self, where):
        info = {name: np.where(where, self._facts[:, i], 0) for i, name in enumerate(self.facts)}
        return info | {"_" + name: where for name in info}

    def action_masks(self):
        """Returns which actions are allowed, a row for each environment."""
        self._open()
        return self._out(self._masks)

    def close_extras(self, **_):
        """Frees the environments; close calls it."""
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
        if not getattr(self, "closed", True):
            self.close()

    def __repr__(self):
        return f"VectorEnv({self.name!r}, {self.num_envs}, {self.options})"


class Env(interface.Env):
    """A single environment. Once a step has terminated, reset must follow."""

    metadata = {}

    def __init__(self, name, *, seed=None, **options):
        self._vector = VectorEnv(name, 1, seed=seed, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.facts, self.metrics = self._vector.facts, self._vector.metrics
        self.observation_space, self.action_space = self._vector.single_observation_space, self._vector.single_action_space

    def reset(self, *, seed=None, options=None):
        """Begins an episode; with a seed, the first one of it. info has its facts."""
        super().reset(seed=None if seed is None else int(seed))
        observations, info = self._vector.reset(seed=seed, options=options)
        return observations[0], _first(info)

    def step(self, action):
        """Returns the observation, reward, terminated, truncated and info."""
        if self._vector._over[0]:
            raise _library.Error("the episode is done; call reset")
        observations, rewards, terminated, _, info = self._vector.step(np.asarray([action]))
        return observations[0], float(rewards[0]), bool(terminated[0]), False, _first(info)

    def action_masks(self):
        """Returns which actions are allowed."""
        return self._vector.action_masks()[0]

    def close(self):
        """Frees the environment. Closing twice is no error."""
        self._vector.close()

    def __repr__(self):
        return f"Env({self._vector.name!r}, {self._vector.options})"


def _first(info):
    """Returns the info of the first environment alone."""
    return {k: _first(v) if isinstance(v, dict) else v[0] for k, v in info.items() if not k.startswith("_")}


def _seed(seed):
    if not 0 <= seed < 2**64:
        raise _library.Error(f"seed is {seed}; it is from 0 to 2**64 - 1")
    return int(seed)
