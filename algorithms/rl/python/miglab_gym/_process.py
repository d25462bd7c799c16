"""Talks over a pipe to miglab gym, the program that has the environments. PROTOCOL.md describes the messages."""

import json
import os
import subprocess
import tempfile

import numpy as np

PROTOCOL = 1

STEP, STEP_AND_BEGIN, KEEP, BEGIN, SEED = range(5)
"""Orders to an environment."""

_PLAIN = bytes(8)  # the two lengths of a reply that has neither an error nor answers

_PIPE = 1 << 20  # the size of the pipe in bytes; with the system's default, a large frame comes in several parts


class Error(ValueError):
    """A request that the environments refuse. The message says what would be right."""


class Process:
    """Environments of one kind, in a process of their own.

    values and orders are the message that send sends. The other arrays hold the last reply; send overwrites them.
    """

    def __init__(self, program, **request):
        self._process = None
        self._owner = os.getpid()
        self._errors = tempfile.TemporaryFile()
        program = program or os.environ.get("MIGLAB") or "miglab"
        try:
            # In a session of its own, so that an interrupt at the keyboard is for Python alone.
            self._process = subprocess.Popen(
                [program, "gym"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, bufsize=0, start_new_session=True
            )
        except OSError as e:
            self._errors.close()
            raise Error(f"cannot start {program}: {e}; build it with make build, and put it on PATH or set MIGLAB to its path") from e
        try:
            import fcntl

            fcntl.fcntl(self._process.stdout, fcntl.F_SETPIPE_SZ, _PIPE)
        except (ImportError, AttributeError, OSError):
            pass  # it works without, in more system calls
        try:
            self._write(json.dumps({"protocol": PROTOCOL, **request}).encode() + b"\n")
            self._greet(self._line(), request["envs"])
        except BaseException:
            self.close()
            raise

    def _greet(self, greeting, n):
        """Reads the program's first line and makes the arrays for messages to and from n environments."""
        try:
            said = json.loads(greeting)
            protocol = said["protocol"]
        except (ValueError, KeyError, TypeError):
            raise Error(f"the program does not speak the protocol of miglab gym; it says {greeting[:200]!r}") from None
        if protocol != PROTOCOL:
            raise Error(f"the program speaks version {protocol} of the protocol, and this package version {PROTOCOL}; install both from one release")
        self.facts, self.metrics, self.instances = tuple(said["facts"]), tuple(said["metrics"]), said["instances"]
        bounds = np.array(said["bounds"], np.float64)  # null becomes NaN
        counts, self.low, self.high = bounds[:, 0].astype(int), bounds[:, 1], bounds[:, 2]
        self.low = np.repeat(np.where(np.isnan(self.low), -np.inf, self.low), counts).astype(np.float32)
        self.high = np.repeat(np.where(np.isnan(self.high), np.inf, self.high), counts).astype(np.float32)
        parts = [
            ("known", np.float64, (n, len(self.facts))),
            ("measured", np.float64, (n, len(self.metrics))),
            ("observations", np.float32, (n, said["observation"])),
            ("rewards", np.float32, (n,)),
            ("masks", np.bool_, (n, said["actions"])),
            ("done", np.bool_, (n,)),
            ("truncated", np.bool_, (n,)),
        ]
        self._message = bytearray(9 * n)
        self.values = np.frombuffer(self._message, np.int64, n)
        self.orders = np.frombuffer(self._message, np.uint8, n, 8 * n)
        at = 8
        self._frame = bytearray(at + sum(np.dtype(t).itemsize * int(np.prod(shape)) for _, t, shape in parts))
        self._lengths = np.frombuffer(self._frame, np.uint32, 2)
        for name, dtype, shape in parts:
            array = np.frombuffer(self._frame, dtype, int(np.prod(shape)), at).reshape(shape)
            setattr(self, name, array)
            at += array.nbytes
        self._ends = at - 2 * n  # where done begins

    def send(self):
        """Sends values and orders, reads the reply into the arrays, and returns the lines of answers.

        An interrupt in the middle closes the environments: the rest of the reply would be taken for the next one.
        """
        if os.getpid() != self._owner:
            raise Error("the environment was made in another process; make it in the one that uses it")
        try:
            self._write(self._message)
            got = self._process.stdout.readinto(self._frame)
            if got == len(self._frame) and self._frame.startswith(_PLAIN):
                return b""
            problem, answers = self._rest(got)
        except BaseException:
            self.close()
            raise
        if problem:
            raise Error(problem.decode())
        return answers

    def ended(self):
        """Returns whether any episode ended in the last step."""
        return self._frame.find(1, self._ends) >= 0

    def _rest(self, got):
        """Reads the rest of a reply of which got bytes have come. Returns its error and its answers."""
        frame = memoryview(self._frame)
        got += self._read(frame[got:], 8 - got)
        problem, answers = map(bytearray, self._lengths.tolist())
        if problem:
            problem[: got - 8] = frame[8:got]
            self._read(memoryview(problem)[got - 8 :], len(problem) - got + 8)
        else:
            self._read(frame[got:], len(frame) - got)
            self._read(memoryview(answers), len(answers))
        return problem, answers

    def _write(self, message):
        rest = memoryview(message)
        try:
            while rest:
                rest = rest[self._process.stdin.write(rest) :]
        except BrokenPipeError:
            pass  # the program has ended; the next read finds out why

    def _read(self, into, least):
        """Reads at least that many bytes and returns how many it has read."""
        got = 0
        while got < least:
            n = self._process.stdout.readinto(into[got:])
            if not n:
                self._fail()
            got += n
        return got

    def _line(self):
        """Reads a line."""
        line = b""
        while not line.endswith(b"\n"):
            c = self._process.stdout.read(1)
            if not c:
                self._fail()
            line += c
        return line

    def _fail(self):
        """Raises an Error with what the program wrote before it ended."""
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().removeprefix("miglab: ")
        ended = f"was killed by signal {-code}" if code < 0 else f"ended with the exit code {code}"
        raise Error(said if code == 2 and said else f"miglab gym {ended}: {said[-2000:]}")

    @property
    def closed(self):
        """Whether the environments are gone."""
        return self._process is None

    def close(self):
        """Ends the program. Closing twice is no error."""
        process, self._process = self._process, None
        if process is None:
            return
        process.stdin.close()
        process.stdout.close()
        self._errors.close()
        if os.getpid() != self._owner:
            process.returncode = 0  # the program belongs to the process that was forked
            return
        process.terminate()
        process.wait()
