"""One task after the other on the whole GPU: a scheduler that speaks the protocol by itself, without the package miglab."""
import json
import sys


def plan(problem):
    whole = problem["gpu"]["profiles"][-1]["size"]
    return [{"gpu": 0, "size": whole, "slice": 0, "tasks": [t["name"] for t in problem["tasks"]]}]


for line in sys.stdin:
    question = json.loads(line)
    if question["type"] == "instance":
        answer = {"type": "plan", "id": question["id"], "plan": plan(question)}
    elif question["track"] == "batch":
        answer = {"type": "hello", "protocol": 2, "name": "whole gpu", "version": 1}
    else:
        answer = {"type": "error", "message": "only batches"}
    print(json.dumps(answer), flush=True)
