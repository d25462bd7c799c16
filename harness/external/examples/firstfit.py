"""Places each request on the first GPU and at the first slice where it fits: a placer that speaks miglab's protocol."""
import json
import sys

starts, masks = [], []  # by profile: the masks of its starts; by GPU: the occupied slices


def place(profile):
    for gpu, mask in enumerate(masks):
        for start, window in starts[profile]:
            if not mask & window:
                return {"type": "place", "gpu": gpu, "slice": start}
    return {"type": "reject"}


for line in sys.stdin:
    question = json.loads(line)
    if question["type"] == "request":
        for change in question["changes"]:
            masks[change["gpu"]] = change["mask"]
        answer = place(question["profile"])
    elif question["type"] == "cluster":
        masks = [0] * question["gpus"]
        starts = [[(s, (2 ** p["length"] - 1) << s) for s in p["starts"]] for p in question["gpu"]["profiles"]]
        answer = {"type": "ready"}
    elif question["track"] == "placement":
        answer = {"type": "hello", "protocol": 1, "name": "first fit", "version": 1}
    else:
        answer = {"type": "error", "message": "only placement"}
    print(json.dumps({"id": question.get("id"), **answer}), flush=True)
