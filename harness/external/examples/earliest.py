"""Longest tasks first, each on the half of a GPU that has the least work: a scheduler that speaks miglab's protocol."""
import json
import sys


def schedule(problem):
    gpu = problem["gpu"]
    half = max((p for p in gpu["profiles"] if len(p["starts"]) > 1), key=lambda p: p["size"])
    on_half = {t["name"]: t["seconds"].get(str(half["size"])) for t in problem["tasks"]}
    if None in on_half.values() or problem["start"]:
        raise ValueError("only tasks that fit half a GPU, and GPUs that are empty")
    creates, free = [], []
    for g in range(problem["gpus"]):
        for i, start in enumerate(half["starts"]):
            wait = 0 if problem["reconfiguration"] == "parallel" else i * half["create_s"]
            free.append({"gpu": g, "size": half["size"], "slice": start, "start_s": wait, "end_s": wait + half["create_s"]})
            creates.append({"op": "create", **free[-1]})
    placements, work = [], [0.0] * len(free)
    for task in sorted(problem["tasks"], key=lambda t: -on_half[t["name"]]):
        least = work.index(min(work))
        work[least] += on_half[task["name"]]
        where = free[least]
        where["start_s"] = max(where["end_s"], task["release_s"])
        where["end_s"] = where["start_s"] + on_half[task["name"]]
        placements.append({"task": task["name"], **where})
    return {"gpu": gpu["name"], "algorithm": "earliest", "reconfiguration": problem["reconfiguration"],
            "makespan_s": max(p["end_s"] for p in placements), "placements": placements, "reconfigurations": creates}


for line in sys.stdin:
    question = json.loads(line)
    answer = {"id": question.get("id")}
    try:
        if question["type"] == "instance":
            answer |= {"type": "schedule", "schedule": schedule(question)}
        elif question["track"] == "batch":
            answer = {"type": "hello", "protocol": 1, "name": "earliest", "version": 1}
        else:
            raise ValueError("only batches")
    except ValueError as e:
        answer |= {"type": "error", "message": str(e)}
    print(json.dumps(answer), flush=True)
