# SPDX-License-Identifier: GPL-3.0-or-later
"""What is told of the call sites of collectives: how much they move in a step, when, and where they stand."""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
import torch.nn as nn
from ranks import Recorder, run_ranks
from telltale.agent.collectives import CommEvent
from telltale.agent.commsites import MAX_SITES, PREFIX, CommSites, site_name
from telltale.pytorch import TrainerMon

STEPS = 3
PAUSE = 0.05


class Keeper(Recorder):
    """Keeps blobs and what is for the dashboard alone, too."""

    def __init__(self) -> None:
        super().__init__()
        self.blobs: list[tuple[str, str, int, dict[str, Any]]] = []

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        if kind == "comm_sites":
            self.blobs.append((kind, name, step, json.loads(data)))

    def marks(self, step: int) -> dict[str, float]:
        found: dict[str, float] = {}
        for frame in self.frames:
            if frame.step == step:
                found |= {name: value for name, value in frame.marks.items() if name.startswith(PREFIX)}
        return found


def train(monitor: TrainerMon | None, steps: int = STEPS) -> str:
    """The weights' hash after some steps of data parallelism by hand; a rank is late for one collective."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(model.parameters())
    if monitor is not None:
        monitor.set_monitor(model, grad_acc_steps=1, optimizer=optimizer)
    for step in range(steps):
        optimizer.zero_grad()
        model(torch.full((2, 4), dist.get_rank() + 1.0)).square().sum().backward()
        for parameter in model.parameters():
            dist.all_reduce(parameter.grad)
        if step == 1 and dist.get_rank() == 1:
            time.sleep(PAUSE)
        dist.broadcast(torch.zeros(3), src=1)
        if step == 2:  # a site that comes late
            dist.all_gather([torch.zeros(2, dtype=torch.int64) for _ in range(2)], torch.ones(2, dtype=torch.int64))
        optimizer.step()
    if monitor is not None:
        monitor.close()
    return hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()


def of_sites(rank: int, world: int, folder: str) -> None:
    os.environ["MONITOR_OUTPUT_DIR"] = folder
    keeper = Keeper()
    began = time.time_ns()
    config = {"cc_distribution": {"enable": True, "cc_pre_hook": True}}
    watched = train(TrainerMon(config, None, sinks=[keeper]))
    ended = time.time_ns()
    assert watched == train(None), "bitwise the same"

    marks = keeper.marks(1)
    [reduce] = {name.split("/", 1)[1] for name in marks if "all_reduce" in name}
    [cast] = {name.split("/", 1)[1] for name in marks if "broadcast" in name}
    assert reduce.startswith("all_reduce (test_commsites.py[") and reduce.endswith(" train)")
    assert marks[f"{PREFIX}calls/{reduce}"] == 4
    assert marks[f"{PREFIX}bytes/{reduce}"] == 4 * (32 + 8 + 16 + 2)
    assert marks[f"{PREFIX}bytes/{cast}"] == 12
    for site in (reduce, cast):
        begin, end = marks[f"{PREFIX}begin_ns/{site}"], marks[f"{PREFIX}end_ns/{site}"]
        assert began - 1e6 < begin < end < ended + 1e6
        assert 0 < marks[f"{PREFIX}seconds/{site}"] <= (end - begin) * 1e-9 + 1e-6
    waited = marks[f"{PREFIX}seconds/{cast}"]
    if rank == 0:
        assert waited > PAUSE * 0.8, "it had to wait for the late rank"
    assert not any("all_gather" in name for name in marks)
    assert any("all_gather" in name for name in keeper.marks(2))

    names = {name for frame in keeper.frames for name in frame.scalars}
    assert not any(name.startswith(PREFIX) for name in names), "for the dashboard, not for files"

    assert [step for _, _, step, _ in keeper.blobs] == [0, 2], "told when something of it is new"
    assert {name for _, name, _, _ in keeper.blobs} == {f"rank{rank}"}
    told = keeper.blobs[-1][3]
    assert "host" in told["times"]
    sites = {site["op"]: site for site in told["sites"]}
    assert set(sites) == {"all_reduce", "broadcast", "all_gather"}
    assert sites["all_reduce"]["name"] == reduce
    assert sites["all_gather"]["dtypes"] == ["torch.int64"]
    assert [group["ranks"] for group in sites["all_reduce"]["groups"]] == [world]
    stack = sites["broadcast"]["stack"]
    assert "test_commsites.py[" in stack[0] and stack[0].endswith("train") and any("of_sites" in line for line in stack)


def test_a_training_tells_of_its_call_sites(tmp_path: Path) -> None:
    run_ranks(of_sites, str(tmp_path))


def event(site: str, **more: Any) -> CommEvent:
    values: dict[str, Any] = {"op": "all_reduce", "is_post": True, "parts": ((torch.zeros(3),),), "group": "0"}
    return CommEvent(**(values | {"site": site} | more))


def test_a_name_has_the_files_own_name() -> None:
    assert site_name("all_reduce", "/a/b/train.py[55]   main") == "all_reduce (train.py[55] main)"


def test_a_step_counts_from_nothing() -> None:
    sites = CommSites(lambda op, site: f"{site};outer.py[1]   run")
    sites.add(event("/a.py[1]   f", started_ns=1000, ended_ns=3000))
    sites.add(event("/a.py[1]   f", started_ns=5000, ended_ns=6000))
    values = sites.take()
    name = "all_reduce (a.py[1] f)"
    assert values[f"{PREFIX}calls/{name}"] == 2
    assert values[f"{PREFIX}bytes/{name}"] == 24
    assert values[f"{PREFIX}seconds/{name}"] == pytest.approx(3e-6)
    assert values[f"{PREFIX}end_ns/{name}"] - values[f"{PREFIX}begin_ns/{name}"] == pytest.approx(5000, abs=1024)
    assert sites.take() == {}
    described = sites.description()
    assert described is not None and json.loads(described)["sites"][0]["stack"] == ["/a.py[1]   f", "outer.py[1]   run"]
    assert sites.description() is None


def test_a_call_whose_time_is_not_known_has_none() -> None:
    sites = CommSites(lambda op, site: site)
    sites.add(event("/a.py[1]   f"))
    assert {name.split("/")[0] for name in sites.take()} == {f"{PREFIX}calls", f"{PREFIX}bytes"}


def test_there_is_a_bound() -> None:
    sites = CommSites(lambda op, site: site)
    for line in range(MAX_SITES + 50):
        sites.add(event(f"/a.py[{line}]   f"))
    assert len(sites.take()) == 2 * MAX_SITES
