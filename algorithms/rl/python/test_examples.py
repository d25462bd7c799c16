"""Runs the example, which learns for about a minute of processor time, and ranks its answers.

make test-long builds what it needs: bin/miglab and PyTorch.
"""

import csv
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent.resolve()
MIGLAB = HERE.parents[2] / "bin" / "miglab"


def run(*command, cwd):
    return subprocess.run(command, cwd=cwd, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(HERE), "MIGLAB": str(MIGLAB)}).stdout


class Test(unittest.TestCase):
    def test_ppo_learns_and_is_ranked(self):
        with tempfile.TemporaryDirectory() as folder:
            said = run(sys.executable, "-B", HERE / "examples/ppo.py", "--instances", "50", cwd=folder)
            print("\n" + said)
            with open(f"{folder}/ppo/curve.csv", encoding="utf-8") as f:
                makespans = [float(row["makespan_s"]) for row in csv.DictReader(f)]
            self.assertGreater(makespans[0], 450)  # its first actions are about random
            replay = f"exec:{sys.executable} -m miglab.replay ppo/ppo.jsonl"
            run(MIGLAB, "run", "--algorithms", f"far,{replay}", "--datasets", "POORSCALING", "--instances", "50", cwd=folder)
            print(run(MIGLAB, "leaderboard", cwd=folder))
            board = csv.DictReader(run(MIGLAB, "leaderboard", "--format", "csv", cwd=folder).splitlines())
            self.assertEqual([row["algorithm"] for row in board], [replay, "far"])
            exported = run(MIGLAB, "export", "--track", "batch", cwd=folder)
            cells = [row for row in csv.DictReader(exported.splitlines()) if row["algorithm"].startswith("exec:")]
            self.assertEqual([row["error"] for row in cells], 50 * [""])


if __name__ == "__main__":
    unittest.main()
