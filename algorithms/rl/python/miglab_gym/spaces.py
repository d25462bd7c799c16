"""Spaces, as far as environments here need them."""

import numpy as np


class Box:
    """Arrays of a shape; without bounds."""

    def __init__(self, shape, dtype=np.float32):
        self.shape, self.dtype = tuple(shape), np.dtype(dtype)

    def __repr__(self):
        return f"Box({self.shape}, {self.dtype})"

    def contains(self, x):
        return isinstance(x, np.ndarray) and x.shape == self.shape and x.dtype == self.dtype


class MultiDiscrete:
    """For each of some environments, an action from 0 to n-1."""

    def __init__(self, nvec, seed=None):
        self.nvec, self.dtype = np.asarray(nvec, np.int64), np.dtype(np.int64)
        self.shape = self.nvec.shape
        self.seed(seed)

    def __repr__(self):
        return f"MultiDiscrete({self.nvec})"

    def seed(self, seed=None):
        self._rng = np.random.default_rng(seed)

    def sample(self, mask=None):
        """Draws actions; mask says which are allowed, a row for each."""
        if mask is None:
            return self._rng.integers(self.nvec)
        return np.where(mask, self._rng.random(mask.shape), -1).argmax(axis=-1)

    def contains(self, x):
        return isinstance(x, np.ndarray) and x.shape == self.shape and bool(np.all((0 <= x) & (x < self.nvec)))


class Discrete:
    """An action from 0 to n-1."""

    def __init__(self, n, seed=None):
        self.n, self.dtype, self.shape = int(n), np.dtype(np.int64), ()
        self._one = MultiDiscrete([n], seed)

    def __repr__(self):
        return f"Discrete({self.n})"

    def seed(self, seed=None):
        self._one.seed(seed)

    def sample(self, mask=None):
        """Draws an action; mask says which are allowed."""
        return int(self._one.sample(None if mask is None else np.asarray(mask, bool)[np.newaxis])[0])

    def contains(self, x):
        return isinstance(x, (int, np.integer)) and 0 <= x < self.n
