"""Answers instances of the track batch from a file: exec:python3 -m miglab.replay FILE.

The first line of the file is the hello of a program, and each further line is an answer, in any order.
"""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    hello, *lines = file.read().splitlines()
answers = {json.loads(line)["id"]: line for line in lines}
print(hello, flush=True)
sys.stdin.readline()  # miglab's hello
for question in sys.stdin:
    number = json.loads(question)["id"]
    missing = {"type": "error", "id": number, "message": f"{sys.argv[1]} has no answer to this instance; it answers {len(answers)} others"}
    print(answers.get(number) or json.dumps(missing), flush=True)
