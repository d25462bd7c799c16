"""The library's functions."""

import ctypes
import functools
import os
import pathlib

_BUILD = "CGO_ENABLED=1 go build -buildmode=c-shared -o libmiglabgym.so ./harness/cmd/miglabgym"

_ARGUMENTS = {
    "make": [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p],
    "seed": [ctypes.c_int64, ctypes.c_int64, ctypes.c_uint64],
    "reset": [ctypes.c_int64] + 4 * [ctypes.c_void_p],
    "step": [ctypes.c_int64] + 6 * [ctypes.c_void_p],
    "answer": [ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p],
    "close": [ctypes.c_int64],
}


class Error(ValueError):
    """What the library refuses; the message says what would be right."""


@functools.lru_cache(maxsize=None)
def load():
    """Returns the library, loaded once."""
    path = os.environ.get("MIGLAB_GYM_LIBRARY") or str(pathlib.Path(__file__).parent / "libmiglabgym.so")
    try:
        return _Library(ctypes.CDLL(path))
    except OSError as e:
        raise ImportError(f"{e}; build the library with\n    {_BUILD}\nand set MIGLAB_GYM_LIBRARY to its path") from e


class _Library:
    """make, seed, reset, step, answer and close; each raises Error."""

    def __init__(self, c):
        self._free = c.miglab_free
        self._free.argtypes, self._free.restype = [ctypes.c_void_p], None
        for name, arguments in _ARGUMENTS.items():
            f = getattr(c, "miglab_" + name)
            f.argtypes, f.restype = arguments, ctypes.c_void_p
            f.errcheck = self._raise
            setattr(self, name, f)

    def _raise(self, result, function, arguments):
        if result:
            raise Error(self.take(result))

    def take(self, pointer):
        """Returns a text of the library's as a str, and frees it."""
        text = ctypes.string_at(pointer).decode()
        self._free(pointer)
        return text
