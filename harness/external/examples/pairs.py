"""Runs programs in pairs that need different resources: a planner that speaks miglab's protocol."""
import json
import sys

HALVES = "[(0.5)+(0.5),1m]"  # two MPS clients with half of the multiprocessors each
WHOLE = "[(1),1m]"


def plan(window):
    jobs = window["jobs"]
    # The program that needs the most compute goes with the one that needs the most memory.
    order = sorted(range(len(jobs)), key=lambda j: jobs[j]["compute"] - jobs[j]["memory"])
    groups = []
    while len(order) > 1 and window["concurrency"] > 1:
        groups.append({"jobs": [order.pop(0), order.pop()], "partition": HALVES})
    return groups + [{"jobs": [j], "partition": WHOLE} for j in order]


for line in sys.stdin:
    question = json.loads(line)
    if question["type"] == "window":
        answer = {"type": "plan", "groups": plan(question)}
    elif question["track"] == "corun":
        answer = {"type": "hello", "protocol": 1, "name": "pairs", "version": 1}
    else:
        answer = {"type": "error", "message": "only co-runs"}
    print(json.dumps({"id": question.get("id"), **answer}), flush=True)
