"""Tests of the module miglab. MIGLAB is the path of the program:

MIGLAB=../../../bin/miglab python3 -m unittest -v test_miglab
"""

import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import miglab
from miglab import problems

HERE = pathlib.Path(__file__).parent.resolve()
PROGRAM = os.environ.get("MIGLAB") or "miglab"

# Each example with its track, a dataset and, if there is one, an algorithm of miglab that decides alike.
EXAMPLES = [
    ("earliest.py", "batch", "WIDETIMES", None),
    ("earliest.py", "stream", "drl/WIDETIMES?batches=3&n=4", None),
    ("firstfree.py", "stream", "drl/WIDETIMES?batches=3&n=4", None),
    ("firstfit.py", "placement", "mfi/uniform?load=85", "ff"),
    ("earliestfinish.py", "dispatch", "deadline/tight", "eft-true"),
    ("pairs.py", "corun", "corun/queues", None),
]


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(HERE)}).stdout


def question(text):
    return vars(json.loads(text, object_hook=problems.record))


A30 = """{"gpu":{"name":"A30","compute_slices":4,"memory_slices":4,"profiles":[{"size":1,"length":1,"starts":[0,1,2,3],"create_s":0.11,"destroy_s":0.1},
{"size":2,"length":2,"starts":[0,2],"create_s":0.12,"destroy_s":0.1},{"size":4,"length":4,"starts":[0],"create_s":0.13,"destroy_s":0.1}]},"gpus":2,
"reconfiguration":"sequential","start":[{"gpu":1,"size":2,"slice":2,"busy_until_s":3}],"tasks":[{"name":"a","release_s":1,"seconds":{"2":5,"4":2}}]}"""


class Test(unittest.TestCase):
    def test_the_oldest_python(self):
        """The version that pyproject.toml promises can import the module."""
        (version,) = re.findall(r'requires-python = ">=([0-9.]+)"', (HERE / "pyproject.toml").read_text(encoding="utf-8"))
        oldest = shutil.which(f"python{version}")
        if oldest is None or subprocess.run([oldest, "--version"], capture_output=True, check=False).returncode > 0:
            self.skipTest(f"there is no Python {version}")
        run(oldest, "-B", "-c", "import miglab", cwd=HERE)

    def test_examples(self):
        for example, track, dataset, twin in EXAMPLES:
            with self.subTest(example=example, track=track), tempfile.TemporaryDirectory() as folder:
                name = f"exec:{sys.executable} {HERE / 'examples' / example}"
                names = [name, twin] if twin else [name]
                run(PROGRAM, "run", "--track", track, "--algorithms", ",".join(names), "--datasets", dataset, "--instances", "3", cwd=folder)
                self.assertLessEqual(len((HERE / "examples" / example).read_text(encoding="utf-8").splitlines()), 17)
                rows = miglab.results(f"{folder}/results", frame=False, algorithm=name)
                self.assertEqual([row["error"] for row in rows], 3 * [""])
                for row in rows:
                    if twin:
                        (other,) = miglab.results(f"{folder}/results", frame=False, algorithm=twin, instance=row["instance"])
                        self.assertEqual({**row, "algorithm": twin}, other)

    def test_a_folder_that_is_missing(self):
        with self.assertRaisesRegex(FileNotFoundError, "nores has no results; compute some with miglab run"):
            miglab.results("nores")

    def test_the_page_shows_the_example(self):
        shown = (HERE / "README.md").read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
        self.assertEqual(shown, (HERE / "examples/earliest.py").read_text(encoding="utf-8").split("\n", 1)[1])

    def test_a_program_is_started_by_its_name(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "my.py")
            path.write_text(f"#!{sys.executable}\n" + (HERE / "examples/earliest.py").read_text(encoding="utf-8"), encoding="utf-8")
            path.chmod(path.stat().st_mode | stat.S_IXUSR)
            run(PROGRAM, "run", "--algorithms", "exec:./my.py", "--datasets", "WIDETIMES", "--instances", "2", cwd=folder)
            self.assertEqual(len(miglab.results(f"{folder}/results", frame=False, algorithm="exec:./my.py")), 2)
            with path.open("a") as file:
                file.write("# changed\n")
            run(PROGRAM, "run", "--algorithms", "exec:./my.py", "--datasets", "WIDETIMES", "--instances", "1", cwd=folder)
            self.assertEqual(len(miglab.results(f"{folder}/results", frame=False, algorithm="exec:./my.py")), 1)
            self.assertEqual(len(miglab.results(f"{folder}/results", frame=False, algorithm="exec:./my.py", all=True)), 3)

    def test_problems(self):
        p = problems.Problem(**question(A30))
        self.assertEqual([(i.gpu, i.slice, i.end) for i in p.instances(2)], [(0, 0, 0), (0, 2, 0), (1, 0, 0), (1, 2, 3)])
        self.assertEqual([(i.gpu, i.size, i.slice, i.end) for i in p.partition("1-1-2")[3:]], [(1, 1, 0, 0), (1, 1, 1, 0), (1, 2, 2, 3)])
        whole, half, small = p.instances(4)[1], p.instances(2)[3], p.instances(1)[0]
        (task,) = p.tasks
        self.assertEqual((whole.end, whole.ends(task), half.ends(task), small.ends(task)), (3, 5, 8, float("inf")))
        half.add(task)
        self.assertEqual((half.end, half.tasks, {task: 1}[task]), (8, [task], 1))
        with self.assertRaisesRegex(ValueError, "A30 has no instances of size 3; sizes: 1 2 4"):
            p.tasks[0].on(3)
        with self.assertRaisesRegex(miglab.Infeasible, "task a does not fit size 1"):
            small.add(task)
        self.assertEqual(str(p.partition([2, 1, 1])), str(p.partition("2-1-1")))
        with self.assertRaisesRegex(KeyError, r"no duration on size 5, only on 2 4; on\(5\) is infinity there"):
            task.seconds[5]
        with self.assertRaisesRegex(AttributeError, "'Task' object has no attribute 'duration'; it has gpu, name, on, release_s, seconds"):
            task.duration
        self.assertEqual(p.partitions(), ["4", "2-2", "2-1-1", "1-1-2", "1-1-1-1"])
        self.assertEqual(str(p.partition("1-2-1")), str(p.partition("2-1-1")))  # no partition has this order
        for partition in ("3-1", "2-4", "2-2-1"):
            with self.assertRaisesRegex(ValueError, "A30 has no"):
                p.partition(partition)

    def test_a_geometry_leaves_only_its_places(self):
        fields = question(A30)
        c = problems.Cluster(gpu=fields["gpu"], gpus=2, geometry=["2@0 1@2 1@3", "4@0"])
        one, two, four = c.gpu.profiles
        self.assertEqual([list(c.spots(p)) for p in (one, two, four)], [[(0, 2), (0, 3)], [(0, 0)], [(1, 0)]])
        with self.assertRaisesRegex(TypeError, r"spots takes a profile, such as cluster.gpu.profiles\[0\], not '1g.6gb'"):
            next(c.spots("1g.6gb"))
        c.masks = [4, 8]
        self.assertEqual([list(c.spots(p)) for p in (one, two, four)], [[(0, 3)], [(0, 0)], []])
        c = problems.Cluster(gpu=fields["gpu"], gpus=1)
        c.masks[0] = 2
        self.assertEqual([list(c.spots(p)) for p in c.gpu.profiles], [[(0, 0), (0, 2), (0, 3)], [(0, 2)], []])

    def test_results(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(FileNotFoundError, "has no results"):
                miglab.results(folder)
            for shard in ("0/2", "1/2"):
                run(PROGRAM, "run", "--algorithms", "far,fixpart?p=1-1-1-1-1-1-1", "--datasets", "WIDETIMES", "--instances", "6", "--shard", shard, cwd=folder)
            rows = miglab.results(f"{folder}/results", frame=False, algorithm="far")
            self.assertEqual(sorted(row["instance"] for row in rows), list(range(6)))
            lines = run(PROGRAM, "export", "--algorithm", "far", "--format", "jsonl", cwd=folder).splitlines()
            exported = {row["instance"]: row for row in map(json.loads, lines)}
            self.assertEqual([row["makespan_s"] for row in rows], [exported[row["instance"]]["metrics"]["makespan_s"] for row in rows])
            with mock.patch.dict(sys.modules, {"pandas": mock.Mock(DataFrame=tuple)}):
                self.assertEqual(miglab.results(f"{folder}/results", algorithm="far"), tuple(rows))
            with mock.patch.dict(sys.modules, {"pandas": None}):
                self.assertEqual(miglab.results(f"{folder}/results", algorithm="far"), rows)
                with self.assertRaisesRegex(ImportError, "frame=True needs pandas: pip install pandas"):
                    miglab.results(f"{folder}/results", frame=True)
            with self.assertRaisesRegex(TypeError, "results has no column 'algoritm'; columns: track, dataset, gpu, "):
                miglab.results(f"{folder}/results", algoritm="far")
            with self.assertRaisesRegex(ValueError, "no result has track='bacth'; there are 'batch', 'bound'"):
                miglab.results(f"{folder}/results", track="bacth")
            with self.assertRaisesRegex(ValueError, "no result has algorithm='farr'; there are .*'far', "):
                miglab.results(f"{folder}/results", track="batch", algorithm="farr")
            self.assertGreater(miglab.results(f"{folder}/results", frame=False, algorithm="certified")[0]["bound_s"], 0)


if __name__ == "__main__":
    unittest.main()
