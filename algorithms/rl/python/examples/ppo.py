"""PPO in plain PyTorch learns to schedule batches, and takes the leaderboard's instances.

    MIGLAB=bin/miglab PYTHONPATH=algorithms/rl/python python3 algorithms/rl/python/examples/ppo.py --out results/ppo
    miglab run --algorithms far,treedp,'exec:python3 -m miglab.replay results/ppo/ppo.jsonl' --datasets POORSCALING --instances 200 --leaderboard

writes results/ppo/curve.csv and ppo.jsonl. Needs PyTorch and a BLAS that is not the reference
one: Debian's python3-torch is five times slower without libopenblas0-pthread.
"""

import argparse
import csv
import os
import time

import miglab_gym
import numpy as np
import torch
from torch import nn
from torch.distributions import Categorical

p = argparse.ArgumentParser()
for name, default in dict(workload="POORSCALING", out="ppo", steps=200_000, envs=64, hidden=128, seed=1, instances=200).items():
    p.add_argument("--" + name, type=type(default), default=default)
a = p.parse_args()
os.makedirs(a.out, exist_ok=True)
torch.manual_seed(a.seed)
torch.set_num_threads(1)  # so small a network gains nothing from more, and two runs give the same curve

HORIZON, EPOCHS, MINIBATCHES, LAMBDA, CLIP, ENTROPY = 56, 4, 4, 0.95, 0.2, 0.003  # 56 steps are 4 batches of 14 tasks
envs = miglab_gym.VectorEnv("own", a.envs, seed=a.seed, workload=a.workload)
inputs, actions = envs.single_observation_space.shape[0], int(envs.single_action_space.n)


def net(outputs):
    return nn.Sequential(nn.Linear(inputs, a.hidden), nn.Tanh(), nn.Linear(a.hidden, a.hidden), nn.Tanh(), nn.Linear(a.hidden, outputs))


actor, critic = net(actions), net(1)
nn.init.normal_(actor[-1].weight, std=0.01)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=1e-3)


def policy(observations, masks):
    return Categorical(logits=actor(torch.as_tensor(observations)).masked_fill(~torch.as_tensor(masks), -1e9))


def greedy(observations, masks):
    return policy(observations, masks).logits.argmax(dim=1).numpy()


curve, began = [], time.perf_counter()
observations, _ = envs.reset()
for done in range(0, a.steps, HORIZON * a.envs):
    optimizer.param_groups[0]["lr"] = 1e-3 * (1 - done / a.steps)
    kept, makespans = [], []
    for _ in range(HORIZON):
        masks = envs.action_masks()
        with torch.no_grad():
            d = policy(observations, masks)
            action = d.sample()
            value = critic(torch.as_tensor(observations))[:, 0]
        following, rewards, terminated, _, info = envs.step(action.numpy())
        kept.append([torch.as_tensor(x) for x in (observations, masks, action, d.log_prob(action), value, rewards, terminated)])
        if terminated.any():
            makespans.extend(info["final_info"]["makespan_s"][terminated])
        observations = following
    o, m, act, old, v, r, end = (torch.stack(x) for x in zip(*kept))
    with torch.no_grad():
        after, advantage, ahead = critic(torch.as_tensor(observations))[:, 0], torch.zeros_like(r), torch.zeros(a.envs)
    for t in reversed(range(HORIZON)):  # generalised advantages, undiscounted
        ahead = r[t] - v[t] + ~end[t] * (after + LAMBDA * ahead)
        advantage[t], after = ahead, v[t]
    target = (advantage + v).flatten()
    o, m, act, old, advantage = o.flatten(0, 1), m.flatten(0, 1), act.flatten(), old.flatten(), advantage.flatten()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
    for _ in range(EPOCHS):
        for i in torch.randperm(len(o)).chunk(MINIBATCHES):
            d = policy(o[i], m[i])
            ratio = (d.log_prob(act[i]) - old[i]).exp()
            gain = torch.min(ratio * advantage[i], ratio.clamp(1 - CLIP, 1 + CLIP) * advantage[i]).mean()
            loss = 0.5 * (critic(o[i])[:, 0] - target[i]).square().mean() - gain - ENTROPY * d.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
            optimizer.step()
    curve.append([done + HORIZON * a.envs, round(float(np.mean(makespans)), 3)])
    print("%d steps: mean makespan %.1f s (%.0f s)" % (*curve[-1], time.perf_counter() - began), flush=True)

with open(f"{a.out}/curve.csv", "w", newline="") as f:
    csv.writer(f, lineterminator="\n").writerows([["steps", "makespan_s"], *curve])
with torch.no_grad():
    found = miglab_gym.evaluate(greedy, f"{a.out}/ppo.jsonl", name="ppo", dataset=a.workload, instances=a.instances, far=True)
gap = 100 * (found["makespan_s"] / found["certified_bound_s"] - 1).mean()
print("%d instances: mean makespan %.1f s, FAR %.1f s, %.2f %% above the bound" % (len(found["instance"]), found["makespan_s"].mean(), found["far_makespan_s"].mean(), gap))
