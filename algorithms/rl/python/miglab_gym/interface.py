"""Gymnasium's base classes and spaces (1.1 or later). Where it is not installed, these are classes with the part of its
interface that this package needs."""

import enum

import numpy as np

try:
    from gymnasium import Env, spaces
    from gymnasium.vector import AutoresetMode, VectorEnv

    Box = spaces.Box
    _Discrete, _MultiDiscrete = spaces.Discrete, spaces.MultiDiscrete
except ImportError:

    class AutoresetMode(enum.Enum):
        """When an environment whose episode has ended is reset."""

        NEXT_STEP = "NextStep"
        SAME_STEP = "SameStep"
        DISABLED = "Disabled"

    class Env:
        """A single environment."""

        metadata, spec, render_mode = {}, None, None

        def reset(self, *, seed=None, options=None):
            """Does nothing: environments here have streams of their own."""

        def close(self):
            """Does nothing."""

        @property
        def unwrapped(self):
            """The environment itself."""
            return self

        def __enter__(self):
            return self

        def __exit__(self, *_):
            self.close()

    class VectorEnv:
        """Several environments that are stepped together."""

        metadata, spec, render_mode, closed = {}, None, None, False

        def close(self, **kwargs):
            """Closes the environments. Closing twice is no error."""
            if not self.closed:
                self.close_extras(**kwargs)
                self.closed = True

        @property
        def unwrapped(self):
            """The environments themselves."""
            return self

    class _Space:
        def __init__(self, shape, dtype, seed):
            self.shape, self.dtype = tuple(shape), np.dtype(dtype)
            self.seed(seed)

        def seed(self, seed=None):
            """Restarts the stream that samples are drawn from."""
            self.np_random = np.random.default_rng(seed)

        def __contains__(self, x):
            return self.contains(x)

        def __eq__(self, other):
            return repr(self) == repr(other)

    class Box(_Space):
        """Arrays of a shape with values between two numbers."""

        def __init__(self, low, high, shape, dtype=np.float32, seed=None):
            super().__init__(shape, dtype, seed)
            self.low, self.high = np.full(shape, low, dtype), np.full(shape, high, dtype)

        def __repr__(self):
            return f"Box({self.low.min()}, {self.high.max()}, {self.shape}, {self.dtype})"

        def contains(self, x):
            alike = isinstance(x, np.ndarray) and x.shape == self.shape and x.dtype == self.dtype
            return alike and bool(((x >= self.low) & (x <= self.high)).all())

    class _MultiDiscrete(_Space):
        def __init__(self, nvec, seed=None):
            self.nvec = np.asarray(nvec, np.int64)
            super().__init__(self.nvec.shape, np.int64, seed)

        def __repr__(self):
            return f"MultiDiscrete({self.nvec.tolist()})"

        def sample(self, mask=None):
            """Draws actions, one for each row of mask, in which 1 marks allowed actions; 0 where a row allows none."""
            if mask is None:
                return self.np_random.integers(self.nvec)
            mask = np.asarray(mask)
            return np.where(mask, self.np_random.random(mask.shape), -1).argmax(axis=1)

        def contains(self, x):
            return isinstance(x, np.ndarray) and x.shape == self.shape and bool(((x >= 0) & (x < self.nvec)).all())

    class _Discrete(_Space):
        start = 0

        def __init__(self, n, seed=None):
            self.n = np.int64(n)
            super().__init__((), np.int64, seed)

        def __repr__(self):
            return f"Discrete({self.n})"

        def sample(self, mask=None):
            """Draws an action that mask allows, which is 1 there; 0 if it allows none."""
            if mask is None:
                return self.np_random.integers(self.n)
            return np.where(mask, self.np_random.random(mask.shape), -1).argmax()

        def contains(self, x):
            return isinstance(x, (int, np.integer)) and 0 <= x < self.n


class Discrete(_Discrete):
    """An action from 0 to n-1."""

    def sample(self, mask=None):
        """Draws an action; mask, of any type, says which are allowed."""
        return super().sample(None if mask is None else np.asarray(mask, np.int8))


class MultiDiscrete(_MultiDiscrete):
    """For each of some environments, an action from 0 to n-1."""

    def sample(self, mask=None):
        """Draws actions; mask, an array with a row for each, says which are allowed."""
        return super().sample(None if mask is None else tuple(np.asarray(row, np.int8) for row in mask))
