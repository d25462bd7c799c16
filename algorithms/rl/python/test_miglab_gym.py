"""Tests. MIGLAB is the path of the program:

MIGLAB=../../../bin/miglab python3 -m unittest -v test_miglab_gym
"""

import doctest
import functools
import importlib.util
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

import miglab_gym
from miglab_gym import AutoresetMode, Env, Error, VectorEnv

# Small enough that episodes end soon, but for deadline, where a day has about 4150 decisions.
KINDS = {
    "deadline": {},
    "own": {"tasks": 5},
    "batch": {"tasks": 4, "levels": 14, "encoding": "one-hot", "direct": True},
}

HERE = os.path.dirname(os.path.abspath(__file__))


def running(pid):
    """Returns whether a process is there that is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in "XZ"
    except OSError:
        return False


def rollout(envs, steps, seed):
    """Takes random actions and returns all that is seen."""
    choices = np.random.default_rng(seed)
    seen = [envs.reset(seed=seed)[0], envs.action_masks()]
    for _ in range(steps):
        mask = envs.action_masks()
        actions = np.where(mask, choices.random(mask.shape), -1).argmax(axis=1)
        observations, rewards, terminated, truncated, _ = envs.step(actions)
        seen += [actions, observations, rewards, terminated, truncated, envs.action_masks()]
    return seen


def each(num_envs, **more):
    """Runs a test with environments of each kind."""

    def decorate(test):
        @functools.wraps(test)
        def run(self):
            for name, options in KINDS.items():
                with self.subTest(name), VectorEnv(name, num_envs, **options, **more) as envs:
                    test(self, envs)

        return run

    return decorate


class Test(unittest.TestCase):
    @each(3)
    def test_shapes(self, envs):
        observations, info = envs.reset(seed=1)
        n, k = envs.single_observation_space.shape[0], envs.single_action_space.n
        self.assertTrue(envs.observation_space.contains(observations))
        self.assertEqual((observations.shape, info), ((3, n), {}))
        for _ in range(30):
            mask = envs.action_masks()
            self.assertEqual((mask.shape, mask.dtype), ((3, k), np.bool_))
            self.assertTrue(mask.any(axis=1).all())
            actions = envs.action_space.sample(mask)
            self.assertTrue(envs.action_space.contains(actions))
            observations, rewards, terminated, truncated, _ = envs.step(actions)
            self.assertTrue(envs.observation_space.contains(observations))
            self.assertTrue(np.isfinite(observations).all() and np.isfinite(rewards).all())
            self.assertEqual((rewards.shape, rewards.dtype), ((3,), np.float32))
            self.assertEqual((terminated.dtype, truncated.any()), (np.bool_, False))

    def test_deadline_shape(self):
        for original, features in (False, 88), (True, 64):
            with Env("deadline", original=original) as env:
                self.assertEqual((env.observation_space.shape, env.action_space.n), ((features,), 20))

    def test_deadline_mask_is_what_is_free(self):
        with VectorEnv("deadline", 2) as envs:
            envs.reset(seed=1)
            for _ in range(200):
                observations, *_ = envs.step(envs.action_space.sample(envs.action_masks()))
                np.testing.assert_array_equal(envs.action_masks(), observations[:, 45:65] == 0)

    @each(3)
    def test_a_seed_decides(self, envs):
        first, again, other = rollout(envs, 60, 7), rollout(envs, 60, 7), rollout(envs, 60, 8)
        for a, b in zip(first, again):
            np.testing.assert_array_equal(a, b)
        self.assertTrue(any(not np.array_equal(a, b) for a, b in zip(first, other)))

    @each(1)
    def test_no_seed_goes_on(self, envs):
        first, _ = envs.reset(seed=3)
        second, _ = envs.reset()
        again, _ = envs.reset(seed=3)
        np.testing.assert_array_equal(first, again)
        self.assertFalse(np.array_equal(first, second))

    @each(3)
    def test_single_environments_agree(self, envs):
        singles = [Env(envs.name, **envs.options) for _ in range(3)]
        observations, _ = envs.reset(seed=11)
        for i, env in enumerate(singles):
            np.testing.assert_array_equal(env.reset(seed=11 + i)[0], observations[i])
        episodes = 0
        for _ in range(9000 if envs.name == "deadline" else 100):
            masks = envs.action_masks()
            actions = envs.action_space.sample(masks)
            observations, rewards, terminated, _, infos = envs.step(actions)
            for i, env in enumerate(singles):
                np.testing.assert_array_equal(env.action_masks(), masks[i])
                observation, reward, done, truncated, info = env.step(actions[i])
                self.assertEqual((reward, done, truncated), (rewards[i], terminated[i], False))
                if done:
                    episodes += 1
                    self.assertFalse(observation.any() or env.action_masks().any())
                    final = infos["final_info"]
                    self.assertTrue(infos["_final_info"][i] and infos["_final_obs"][i])
                    np.testing.assert_array_equal(infos["final_obs"][i], observation)
                    self.assertNotIn("episode", info)
                    self.assertTrue(final["_episode"][i])
                    for name in envs.metrics:
                        self.assertEqual(info[name], final[name][i])
                        self.assertTrue(final["_" + name][i])
                    with self.assertRaisesRegex(Error, "call reset"):
                        env.step(0)
                    observation, _ = env.reset()
                np.testing.assert_array_equal(observation, observations[i])
        self.assertGreaterEqual(episodes, 6)

    def test_episodes(self):
        with VectorEnv("own", 4, tasks=3) as envs:
            envs.reset(seed=2)
            total = np.zeros(4)
            for t in range(12):
                _, rewards, terminated, _, info = envs.step(envs.action_space.sample(envs.action_masks()))
                total += rewards
                self.assertEqual(terminated.all(), t % 3 == 2)
                self.assertEqual(info == {}, t % 3 != 2)
                if info := info.get("final_info"):
                    np.testing.assert_array_equal(info["episode"]["l"], 3)
                    np.testing.assert_allclose(info["episode"]["r"], total)
                    self.assertTrue((info["makespan_s"] > 0).all())
                    total[:] = 0

    def test_deadline_reward_adds_up(self):
        with Env("deadline", sparse=True, energy="as-released") as env:
            env.reset(seed=1)
            done, steps = False, 0
            while not done:
                _, reward, done, _, info = env.step(env.action_space.sample(env.action_masks()))
                steps += 1
                self.assertTrue(done or reward == 0)
            energy, tardiness = info["energy_as_released_wmin"], info["tardiness_min"] * steps
            self.assertAlmostEqual(reward * (steps * 2.25e-5 + 1) / -(tardiness + 2.25e-5 * energy), 1, places=5)

    def test_copies(self):
        for copy in True, False:
            with VectorEnv("own", 2, copy=copy) as envs:
                first, _ = envs.reset(seed=1)
                second, *_ = envs.step(envs.action_space.sample(envs.action_masks()))
                self.assertEqual(first is second, not copy)
                self.assertEqual(np.array_equal(first, second), not copy)

    def test_illegal_actions_change_nothing(self):
        with VectorEnv("deadline", 2) as envs:
            first = rollout(envs, 60, 1)
            masks = envs.action_masks()
            free, busy = masks.argmax(axis=1), (~masks).argmax(axis=1)
            self.assertFalse(masks[1, busy[1]])
            for actions, message in (
                ([free[0], busy[1]], f"environment 1 does not allow action {busy[1]}; choose one of \\[{free[1]} "),
                ([-1, free[1]], "environment 0 does not allow action -1"),
                ([20, free[1]], "environment 0 does not allow action 20"),
                ([0.0, np.nan], "actions are float64"),
                ([2**62, free[1]], f"environment 0 does not allow action {2**62}"),
                ([0], "shape \\(1,\\)"),
            ):
                with self.assertRaisesRegex(Error, message):
                    envs.step(actions)
            after = envs.step(free)[0]
            rollout(envs, 60, 1)
            np.testing.assert_array_equal(envs.step(free)[0], after)
            self.assertFalse(np.array_equal(first[-5], after))

    def test_an_action_is_an_integer(self):
        with Env("own", tasks=5) as env:
            env.reset(seed=1)
            with self.assertRaisesRegex(Error, r"the action is array\(\[1\]\); give one integer"):
                env.step(np.array([1]))

    def test_no_reward_is_minus_zero(self):
        with VectorEnv("batch", 8, seed=1) as envs:
            envs.reset()
            for _ in range(20):
                rewards = envs.step(envs.action_masks().argmax(axis=1))[1]
                self.assertFalse(np.signbit(rewards[rewards == 0]).any())

    def test_invalid_actions(self):
        """Any action is accepted under "nearest" and "end", in all kinds, and nothing is outside the spaces."""
        for name, options in KINDS.items():
            for invalid in "nearest", "end":
                with self.subTest(name, invalid=invalid), VectorEnv(name, 3, invalid=invalid, seed=1, **options) as envs:
                    observations, _ = envs.reset()
                    rng = np.random.default_rng(1)
                    cut = 0
                    for _ in range(100):
                        before, masks = observations, envs.action_masks()
                        actions = rng.integers(envs.single_action_space.n, size=3)
                        invalids = ~masks[np.arange(3), actions]
                        observations, rewards, _, truncated, info = envs.step(actions)
                        self.assertTrue(envs.observation_space.contains(observations))
                        np.testing.assert_array_equal(truncated, invalids & (invalid == "end"))
                        self.assertFalse(rewards[truncated].any())
                        for i in np.flatnonzero(truncated):
                            cut += 1
                            np.testing.assert_array_equal(info["final_obs"][i], before[i])
                            self.assertFalse(info["final_info"]["_" + envs.metrics[0]][i] or info["final_info"][envs.metrics[0]][i])
                    self.assertEqual(cut > 0, invalid == "end")

    def test_bounds(self):
        """Bounds are finite where they are known."""
        with Env("deadline") as day, Env("own") as own, Env("batch") as batch:
            for env in day, own, batch:
                self.assertTrue((env.observation_space.low < env.observation_space.high).all())
                self.assertTrue(np.isfinite(env.observation_space.low).all())
            self.assertTrue(np.isfinite(day.observation_space.high).all() and np.isfinite(own.observation_space.high).all())
            self.assertEqual(np.isinf(batch.observation_space.high).sum(), 7)  # the remaining times

    def test_programs_that_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            for says, message in (
                ("echo '{\"protocol\":2}'", "the program speaks version 2 of the protocol, and this package version 1"),
                ("echo hello", "does not speak the protocol .* b'hello"),
                ("echo 'miglab: no such thing' >&2; exit 2", "^no such thing$"),
                ("exec false", "ended with the exit code 1"),
                (None, "cannot start .*/miglab: "),
            ):
                program = os.path.join(folder, "miglab")
                if says is None:
                    os.remove(program)
                else:
                    with open(program, "w", encoding="utf-8") as file:
                        file.write("#!/bin/sh\n" + says)
                    os.chmod(program, 0o755)
                with self.subTest(message), self.assertRaisesRegex(Error, message):
                    Env("own", program=program)
        with Env("own") as env:
            env.reset(seed=1)
            env._vector._process._process.kill()
            with self.assertRaisesRegex(Error, "was killed by signal 9"):
                env.step(env._vector._process.masks[0].argmax())
            with self.assertRaisesRegex(Error, "closed"):
                env.reset()

    def test_the_program_ends_with_python(self):
        for death in "", "; os.kill(os.getpid(), 9)":
            code = f"import miglab_gym, os; e = miglab_gym.Env('own'); e.reset(); print(e._vector._process._process.pid, flush=True){death}"
            said = subprocess.run([sys.executable, "-B", "-c", code], stdout=subprocess.PIPE, check=not death, cwd=HERE).stdout
            deadline = time.monotonic() + 20
            while running(int(said)):
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)

    def test_a_fork_does_not_disturb(self):
        with Env("own") as env, Env("own") as twin:
            first, _ = env.reset(seed=1)
            twin.reset(seed=1)
            if (child := os.fork()) == 0:
                try:
                    env.reset()
                except Error as e:
                    env.close()
                    os._exit(0 if "made in another process" in str(e) else 1)
                os._exit(2)
            self.assertEqual(os.waitpid(child, 0)[1], 0)
            action = env.action_masks().argmax()
            np.testing.assert_array_equal(env.step(action)[0], twin.step(action)[0])

    def test_an_interrupt_closes(self):
        """The frame that was about to come is not taken for a later one."""
        with Env("own", dataset="WIDETIMES", bound=True) as env:

            def interrupt(*_):
                raise KeyboardInterrupt

            before = signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try:
                with self.assertRaises(KeyboardInterrupt):
                    while True:
                        env.reset()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
            with self.assertRaisesRegex(Error, "closed"):
                env.reset()

    def test_mistakes(self):
        for make, message in (
            (lambda: Env("deadlin"), 'unknown environment "deadlin"; did you mean "deadline"'),
            (lambda: Env("deadline", sparce=True), 'unknown field "sparce"'),
            (lambda: Env("deadline", energy="rigth"), 'did you mean "right"'),
            (lambda: Env("deadline", dataset="deadline/relax"), "did you mean"),
            (lambda: Env("deadline", gpu="A30"), "A30"),
            (lambda: Env("own", tasks=0), "tasks is 0; it is from 1 to"),
            (lambda: Env("own", gpu="A101"), 'did you mean "A100"'),
            (lambda: Env("own", start=2), "start is 2; it is a probability"),
            (lambda: Env("batch", encoding="one-hot"), "one-hot encoding needs levels"),
            (lambda: Env("batch", reconfiguration="slow"), "unknown"),
            (lambda: VectorEnv("own", 0), "from 1 to 65536"),
            (lambda: VectorEnv("own", 65536, tasks=1000), "values; there may be"),
            (lambda: Env("own", seed=-1), "seed is -1"),
            (lambda: Env("own", invalid="nearst"), 'did you mean "nearest"'),
            (lambda: VectorEnv("own", num_envs=2.5), "the first line: envs: "),
            (lambda: Env("own").reset(options={"tasks": 3}), "unknown options \\['tasks'\\]; reset takes reset_mask"),
            (lambda: VectorEnv("own", 2).reset(options={"reset_mask": np.array([1, 0])}), "give an array of 2 bools"),
            (lambda: VectorEnv("own", 2).reset(options={"reset_mask": np.array([True, False])}), "the first reset is of all"),
            (lambda: VectorEnv("own", 2).reset(seed=[1]), "there are 1 seeds for 2 environments"),
            (lambda: Env("own", dataset="WIDETIMES?n=20").reset(), "instance 0 of drl/WIDETIMES\\?n=20: .* there is room for 14"),
            (lambda: Env("own").step(0), "call reset first"),
            (lambda: miglab_gym.evaluate(None, "d.jsonl", name="d", dataset="deadline/relaxed", environment="deadline"), "for own and batch only"),
        ):
            with self.subTest(message), self.assertRaisesRegex(Error, message):
                make()

    def test_autoreset_modes_agree(self):
        """Under each mode the same actions give the same episodes."""
        options = {"tasks": 3, "bound": True, "seed": 5}
        with (
            VectorEnv("own", 3, **options) as same,
            VectorEnv("own", 3, autoreset_mode=AutoresetMode.NEXT_STEP, **options) as following,
            VectorEnv("own", 3, autoreset_mode="Disabled", **options) as disabled,
        ):
            self.assertEqual(same.metadata["autoreset_mode"], AutoresetMode.SAME_STEP)
            self.assertEqual(disabled.metadata["autoreset_mode"], AutoresetMode.DISABLED)
            shown, known = same.reset()
            for envs in following, disabled:
                observations, info = envs.reset()
                np.testing.assert_array_equal(observations, shown)
                np.testing.assert_array_equal(info["certified_bound_s"], known["certified_bound_s"])
            for t in range(12):
                actions = same.action_space.sample(same.action_masks())
                shown, rewards, done, _, info = same.step(actions)
                for envs in following, disabled:
                    observations, own_rewards, own_done, _, own = envs.step(actions)
                    np.testing.assert_array_equal(own_rewards, rewards)
                    np.testing.assert_array_equal(own_done, done)
                    if not done.any():
                        self.assertEqual((own, info), ({}, {}))
                        continue
                    self.assertFalse(observations.any() or envs.action_masks().any())
                    for key in "makespan_s", "certified_bound_s":
                        np.testing.assert_array_equal(own[key], info["final_info"][key])
                    np.testing.assert_array_equal(own["episode"]["l"], 3)
                if done.any():
                    with self.assertRaisesRegex(Error, "environments \\[0, 1, 2\\] are done"):
                        disabled.step(actions)
                    ignored = np.full(3, -1)
                    again, rewards, done, _, begun = following.step(ignored)
                    by_hand, own = disabled.reset(options={"reset_mask": np.ones(3, bool)})
                    self.assertFalse(rewards.any() or done.any())
                    for observations, facts in (again, begun), (by_hand, own):
                        np.testing.assert_array_equal(observations, shown)
                        self.assertEqual(facts.keys(), {"certified_bound_s", "_certified_bound_s"})
                        np.testing.assert_array_equal(facts["certified_bound_s"], info["certified_bound_s"])

    def test_reset_mask(self):
        with VectorEnv("own", 3, tasks=4, seed=2, bound=True) as envs:
            before, _ = envs.reset()
            after, info = envs.reset(options={"reset_mask": np.array([False, True, False])})
            np.testing.assert_array_equal((before != after).any(axis=1), [False, True, False])
            np.testing.assert_array_equal(info["_certified_bound_s"], [False, True, False])
            np.testing.assert_array_equal(info["certified_bound_s"] > 0, [False, True, False])

    def test_seeds_by_environment(self):
        with VectorEnv("own", 3) as envs:
            several, _ = envs.reset(seed=[7, 9, None])
            self.assertEqual(envs.np_random_seed[:2], (7, 9))
            for i, seed in (0, 7), (1, 9):
                with Env("own") as env:
                    np.testing.assert_array_equal(env.reset(seed=seed)[0], several[i])

    def test_facts(self):
        with VectorEnv("own", 2, dataset="POORSCALING", far=True, bound=True) as envs:
            self.assertEqual((envs.facts, envs.instances), (("instance", "certified_bound_s", "far_makespan_s"), None))
            _, info = envs.reset()
            np.testing.assert_array_equal(info["instance"], [0, 1])
            self.assertTrue((info["certified_bound_s"] < info["far_makespan_s"]).all())
            for _ in range(14):
                _, _, done, _, info = envs.step(envs.action_space.sample(envs.action_masks()))
            self.assertTrue(done.all())
            np.testing.assert_array_equal(info["instance"], [2, 3])
            np.testing.assert_array_equal(info["final_info"]["instance"], [0, 1])

    def test_evaluation(self):
        asked = []

        def policy(observations, masks):
            self.assertTrue(masks.any(axis=1).all())
            asked.append(len(masks))
            return masks.argmax(axis=1)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "agent.jsonl")
            found = miglab_gym.evaluate(policy, path, name="first", dataset="WIDETIMES", version=2, instances=5, num_envs=2, far=True)
            with open(path, encoding="utf-8") as file:
                hello, *answers = map(json.loads, file)
            self.assertEqual(hello, {"type": "hello", "protocol": 1, "name": "first", "version": 2})
            self.assertEqual(sorted(a["schedule"]["makespan_s"] for a in answers), sorted(found["makespan_s"]))
            np.testing.assert_array_equal(found["instance"], range(5))
            self.assertEqual(asked, [2] * 28 + [1] * 14)
            with self.assertRaises(ZeroDivisionError):
                miglab_gym.evaluate(lambda *_: 1 / 0, path + "2", name="broken", dataset="WIDETIMES")
            for wrong in (lambda _, m: 0, lambda _, m: m.argmax(axis=1) + 0.7, lambda _, m: m.argmax(axis=1)[1:], lambda _, m: m):
                with self.assertRaisesRegex(Error, "give integers of shape \\(2,\\)"):
                    miglab_gym.evaluate(wrong, path + "2", name="wrong", dataset="WIDETIMES", instances=2)
            few = miglab_gym.evaluate(policy, path, name="first", dataset="far-move", instances=9)
            self.assertEqual(len(few["instance"]), 1)
            self.assertEqual(os.listdir(folder), ["agent.jsonl"])

    def test_classes_of_gymnasium(self):
        """With Gymnasium, or a stand-in that has its names, environments are of its classes."""
        stand_in = """
import enum, sys, types
class Space:
    def __init__(self, *args): self.args = args
gymnasium, spaces, vector = (types.ModuleType(n) for n in ("gymnasium", "gymnasium.spaces", "gymnasium.vector"))
for name in "Box", "Discrete", "MultiDiscrete":
    setattr(spaces, name, type(name, (Space,), {"sample": lambda self, mask=None: mask}))
gymnasium.Env = type("Env", (), {"reset": lambda self, *, seed=None, options=None: None})
vector.VectorEnv = type("VectorEnv", (), {"closed": False, "close": lambda self: self.close_extras()})
vector.AutoresetMode = enum.Enum("AutoresetMode", {"NEXT_STEP": "NextStep", "SAME_STEP": "SameStep", "DISABLED": "Disabled"})
gymnasium.spaces, gymnasium.vector = spaces, vector
sys.modules |= {"gymnasium": gymnasium, "gymnasium.spaces": spaces, "gymnasium.vector": vector}
"""
        check = """
import gymnasium, numpy as np
from gymnasium import spaces, vector
from miglab_gym import AutoresetMode, Env, VectorEnv
envs, env = VectorEnv("own", 2), Env("own")
assert isinstance(envs, vector.VectorEnv) and isinstance(env, gymnasium.Env)
assert envs.metadata["autoreset_mode"] is vector.AutoresetMode.SAME_STEP
assert isinstance(envs.action_space, spaces.MultiDiscrete) and isinstance(env.action_space, spaces.Discrete)
assert isinstance(envs.single_observation_space, spaces.Box)
envs.reset(seed=1); env.reset(seed=1)
masks = envs.action_space.sample(envs.action_masks())
if isinstance(masks, tuple): assert [m.dtype for m in masks] == [np.int8, np.int8]
envs.close()
"""
        check_all = """
import warnings
from gymnasium.utils.env_checker import check_env
warnings.simplefilter("error")
warnings.filterwarnings("ignore", ".*(not having a spec|maximum value is infinity)")
for kind in "deadline", "own", "batch":
    check_env(Env(kind, invalid="nearest"))
"""
        installed = importlib.util.find_spec("gymnasium") is not None
        code = check + check_all if installed else stand_in + check
        subprocess.run([sys.executable, "-B", "-c", code], check=True, cwd=HERE)

    def test_closed(self):
        envs = VectorEnv("own")
        envs.close()
        envs.close()
        for use in envs.reset, envs.action_masks, lambda: envs.step([0]):
            with self.assertRaisesRegex(Error, "closed"):
                use()

    def test_documentation(self):
        result = doctest.testmod(miglab_gym)
        self.assertEqual((result.failed, result.attempted > 0), (0, True))

    def test_speed(self):
        """Prints; asserts nothing."""
        for name, options in KINDS.items():
            for num_envs in 1, 64:
                with VectorEnv(name, num_envs, copy=False, **options) as envs:
                    envs.reset(seed=1)
                    steps, stepping = 0, 0.0
                    began = time.perf_counter()
                    while time.perf_counter() - began < 0.2:
                        actions = envs.action_space.sample(envs.action_masks())
                        before = time.perf_counter()
                        envs.step(actions)
                        stepping += time.perf_counter() - before
                        steps += num_envs
                    drawn = steps / (time.perf_counter() - began)
                    print(f"\n{num_envs} x {name}: {steps / stepping:,.0f} steps/s, {drawn:,.0f} with drawing actions", end="")


if __name__ == "__main__":
    unittest.main()
