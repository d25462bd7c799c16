"""Environments with the interface of Gymnasium's Env and VectorEnv."""

import numpy as np

from . import _process, interface
from ._process import Error
from .interface import AutoresetMode


def integers(actions, count):
    """Returns actions as an array, and raises Error unless they are count integers."""
    actions = np.asarray(actions)
    if actions.shape != (count,) or actions.dtype.kind not in "iu":
        raise Error(f"actions are {actions.dtype} of shape {actions.shape}; give integers of shape ({count},)")
    return actions


class VectorEnv(interface.VectorEnv):
    """num_envs environments of one kind, stepped together.

    autoreset_mode says when an environment whose episode has ended is reset, as in
    Gymnasium 1.1 and later:

    SAME_STEP (the default) in the same step. The reward, info["final_info"] and info["final_obs"] belong to the episode
        that has ended; the observation, the mask and the facts belong to the episode that begins.
    NEXT_STEP in the step after, which ignores the action and gives the reward 0.
    DISABLED by the caller, with reset(options={"reset_mask": mask}).

    The observation of an episode that has ended is all zeros, and no action is allowed. The value of this state is 0.

    invalid says what happens to an action that action_masks does not allow:

    "error" (the default) It raises Error, and no environment does a step.
    "nearest" The allowed action with the nearest number replaces it, the lower one of two.
    "end" The episode is truncated, with the reward 0. Its last observation is the one on which the action was chosen.

    A number outside the action space raises Error in any case.

    Arrays are copies. With copy=False, each step overwrites the arrays of the step before.

    With the seed s, environment i has the episodes of an Env with the seed s + i.

    program is the path of miglab. Without it, the variable MIGLAB has the path, or miglab is on PATH.
    """

    def __init__(
        self, name, num_envs=1, *, seed=None, copy=True, autoreset_mode=AutoresetMode.SAME_STEP, invalid="error", program=None, **options
    ):
        self.closed = True  # until it is open
        if seed is None:
            seed = int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1  # room for + num_envs
        mode = AutoresetMode(autoreset_mode)
        p = _process.Process(program, environment=name, envs=num_envs, seed=_seed(seed), invalid=invalid, options=options)
        self._process, self.closed = p, False

        n, actions = num_envs, p.masks.shape[1]
        self.name, self.options, self.num_envs, self.copy, self.invalid = name, options, n, copy, invalid
        self.facts, self.metrics = p.facts, p.metrics
        self.instances = p.instances or None
        self.metadata, self.autoreset_mode = {"autoreset_mode": mode}, mode
        self.single_observation_space = interface.Box(p.low, p.high, p.low.shape, np.float32)
        self.observation_space = interface.Box(np.tile(p.low, (n, 1)), np.tile(p.high, (n, 1)), (n, *p.low.shape), np.float32)
        self.single_action_space = interface.Discrete(actions)
        self.action_space = interface.MultiDiscrete(np.full(n, actions))

        self._seeds = [seed + i for i in range(n)]
        self._begun = False
        # Which environments wait for a reset.
        self._over = np.zeros(n, np.bool_)
        self._returns = np.zeros(n, np.float64)
        # How many steps there have been, and how many when each episode began.
        self._time, self._since = 0, np.zeros(n, np.int64)

    @property
    def np_random_seed(self):
        """The seeds of the environments' streams."""
        return tuple(self._seeds)

    def reset(self, *, seed=None, options=None):
        """Begins the next episode of each environment's stream, or with a seed, the first one of the seed's stream.

        seed may be a list with a seed, or None, for each environment.
        options={"reset_mask": mask} resets only the environments where mask is True.
        info has the facts of the episodes that begin.
        """
        p = self._open()
        which = self._reset_mask(dict(options or {}))
        p.orders[:] = np.where(which, _process.BEGIN, _process.KEEP)
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, (int, np.integer)) else list(seed)
            if len(seeds) != self.num_envs:
                raise Error(f"there are {len(seeds)} seeds for {self.num_envs} environments")
            for i, own in enumerate(seeds):
                if own is not None and which[i]:
                    p.orders[i], p.values.view(np.uint64)[i] = _process.SEED, _seed(own)
                    self._seeds[i] = int(own)
        p.send()
        self._begun = True
        self._forget(which)
        return self._out(p.observations), self._known(which)

    def _reset_mask(self, options):
        mask = options.pop("reset_mask", None)
        if options:
            raise Error(f"unknown options {list(options)}; reset takes reset_mask, and the others are given when environments are made")
        if mask is None:
            return np.ones(self.num_envs, np.bool_)
        if not isinstance(mask, np.ndarray) or mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise Error(f"reset_mask is {mask!r}; give an array of {self.num_envs} bools, one of them True")
        if not self._begun:
            raise Error("the first reset is of all environments, not of some")
        return mask

    def _forget(self, which):
        """Notes that episodes begin where which is True."""
        self._over[which], self._returns[which], self._since[which] = False, 0, self._time

    def step(self, actions):
        """Returns observations, rewards, terminated, truncated and info.

        Where an episode has ended, info (under SAME_STEP info["final_info"]) has its return
        and length, info["episode"]["r"] and ["l"], its facts, and, unless it is truncated, each of
        metrics. Where one begins, info has its facts. As in Gymnasium, info["_" + key] says where;
        other places are 0.
        """
        p, same = self._open(), self.autoreset_mode is AutoresetMode.SAME_STEP
        waiting = None if same or not self._over.any() else self._over.copy()
        if waiting is not None and self.autoreset_mode is AutoresetMode.DISABLED:
            raise Error(f'environments {np.flatnonzero(waiting).tolist()} are done; reset them with options={{"reset_mask": mask}}')
        known = p.known.copy() if same and self.facts else p.known
        last = p.observations.copy() if same and self.invalid == "end" else None
        self._advance(actions, _process.STEP_AND_BEGIN if same else _process.STEP, waiting)
        info = {} if waiting is None else self._known(waiting)
        if p.ended():
            ended = p.done | p.truncated
            if same:
                info = {"final_info": self._measured(ended) | self._known(ended, known), "_final_info": ended}
                info["final_obs"], info["_final_obs"] = np.full(self.num_envs, None, object), ended
                for i in np.flatnonzero(ended):
                    info["final_obs"][i] = last[i] if p.truncated[i] else np.zeros_like(p.low)
                info |= self._known(ended)
                self._forget(ended)
            else:
                info = self._measured(ended) | self._known(ended if waiting is None else waiting | ended)
        return self._out(p.observations), self._out(p.rewards), self._out(p.done), self._out(p.truncated), info

    def _advance(self, actions, order, begins=None):
        """Sends actions with an order, or begins an episode where begins is True. Returns the lines of answers."""
        p, actions = self._process, integers(actions, self.num_envs)
        if not self._begun:
            raise Error("step before the first reset; call reset first")
        p.values[:], p.orders[:] = actions, order
        if begins is not None:
            p.orders[begins] = _process.BEGIN
        answers = p.send()
        self._time += 1
        p.rewards += 0  # turns -0 into 0
        self._returns += p.rewards
        if begins is not None:
            self._forget(begins)
        if p.ended():
            self._over |= p.done | p.truncated
        return answers

    def _measured(self, where):
        """Returns the info of the episodes that have ended: return, length and metrics."""
        episode = {"r": np.where(where, self._returns, 0), "l": np.where(where, self._time - self._since, 0), "_r": where, "_l": where}
        return _columns(self.metrics, self._process.measured, self._process.done.copy()) | {"episode": episode, "_episode": where}

    def _known(self, where, known=None):
        """Returns the info of facts, those of the present episodes unless known has others."""
        return _columns(self.facts, self._process.known if known is None else known, where)

    def action_masks(self):
        """Returns which actions are allowed, a row for each environment."""
        return self._out(self._open().masks)

    def close_extras(self, **_):
        """Ends the program with the environments; close calls it."""
        self._process.close()

    def _open(self):
        if self._process.closed:
            raise Error("the environment is closed")
        return self._process

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
    """A single environment. After a step that ends the episode, call reset."""

    metadata = {}

    def __init__(self, name, *, seed=None, invalid="error", program=None, **options):
        self._vector = VectorEnv(
            name, 1, seed=seed, autoreset_mode=AutoresetMode.DISABLED, invalid=invalid, program=program, **options
        )
        self.facts, self.metrics = self._vector.facts, self._vector.metrics
        self.observation_space, self.action_space = self._vector.single_observation_space, self._vector.single_action_space

    def reset(self, *, seed=None, options=None):
        """Begins the next episode of the stream, or with a seed, the first one of its stream. info has its facts."""
        super().reset(seed=None if seed is None else int(seed))
        observations, info = self._vector.reset(seed=seed, options=options)
        return observations[0], _first(info)

    def step(self, action):
        """Returns the observation, reward, terminated, truncated and info.

        info is that of VectorEnv.step without "episode", which gymnasium.wrappers.RecordEpisodeStatistics adds.
        """
        if self._vector._over[0]:
            raise Error("the episode is done; call reset")
        if np.ndim(action):
            raise Error(f"the action is {action!r}; give one integer")
        observations, rewards, terminated, truncated, info = self._vector.step(np.asarray([action]))
        info = _first(info)
        info.pop("episode", None)
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def action_masks(self):
        """Returns which actions are allowed."""
        return self._vector.action_masks()[0]

    def close(self):
        """Frees the environment. Closing twice is no error."""
        self._vector.close()

    def __repr__(self):
        return f"Env({self._vector.name!r}, {self._vector.options})"


def _columns(names, values, mask):
    """Returns an array for each name, with zeros where mask is False, and the mask itself as "_" + name."""
    info = {name: np.where(mask, values[:, i], 0) for i, name in enumerate(names)}
    return info | {"_" + name: mask for name in names}


def _first(info):
    """Returns the entries of an info that are about the first environment."""
    return {k: _first(v) if isinstance(v, dict) else v[0] for k, v in info.items() if not k.startswith("_") and info["_" + k][0]}


def _seed(seed):
    if not 0 <= seed < 2**64:
        raise Error(f"seed is {seed}; it is from 0 to 2**64 - 1")
    return int(seed)
