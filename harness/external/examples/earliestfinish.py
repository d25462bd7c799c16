"""Puts each job on the free slice where it should end first: a dispatcher that speaks miglab's protocol."""
import json
import sys

sizes, jobs = [], {}  # by slice; by number: the minutes by size


def estimate(minutes, *alike):
    """The mean of the durations on sizes that count as alike."""
    known = [minutes[size] for size in alike if size in minutes]
    return sum(known) / len(known) if known else None


def dispatch(minutes, free):
    small, medium, whole = estimate(minutes, "1", "2"), estimate(minutes, "3", "4"), minutes.get("7")
    return min(free, key=lambda s: small if sizes[s] <= 2 else medium if sizes[s] <= 4 else whole)


for line in sys.stdin:
    question = json.loads(line)
    if question["type"] == "job":
        jobs |= {a["job"]: a["minutes"] for a in question["arrived"]}
        answer = {"type": "dispatch", "slice": dispatch(jobs.pop(question["job"]), question["free"])}
    elif question["type"] == "fleet":
        sizes, jobs = [s["size"] for s in question["slices"]], {}
        answer = {"type": "ready"}
    elif question["track"] == "dispatch":
        answer = {"type": "hello", "protocol": 1, "name": "earliest finish", "version": 1}
    else:
        answer = {"type": "error", "message": "only dispatch"}
    print(json.dumps({"id": question.get("id"), **answer}), flush=True)
