# SPDX-License-Identifier: GPL-3.0-or-later
"""A rank that computes longer than its peers: scripted clocks of four ranks go through the C ABI of the agent and a
real server into a capsule, which is judged."""

from __future__ import annotations

import ctypes
import json
import math
import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from serving import TELLTALE, Server
from telltale.kinds import Kind, Stat
from telltale.native import Agent
from telltale.series import SeriesDesc

RANKS, STEPS, SINCE = 4, 240, 120


def judged(folder: Path, clock: Callable[[int, int], float]) -> list[dict[str, Any]]:
    """What is found where rank r says that step s took it clock(r, s) milliseconds."""
    server = Server(folder / "data")
    try:
        agents = [
            Agent(join=server.join, run_id="clocks", rank=rank, world_size=RANKS, dp=rank, tp=0,
                  restart_count=0, spool_dir=str(folder / "spool"))
            for rank in range(RANKS)
        ]  # fmt: skip
        layouts = [agent.add_layout(Kind.SCALAR, [Stat.VALUE], [SeriesDesc("forward_ms")]) for agent in agents]
        for number in range(STEPS):
            for rank, (agent, layout) in enumerate(zip(agents, layouts)):
                step = agent.begin(number)
                value, present = agent.doubles(step, layout)
                ctypes.c_double.from_address(value).value = clock(rank, number)
                ctypes.c_uint8.from_address(present).value = 1
                agent.commit(step)
        assert all(agent.flush(60) for agent in agents)
        assert all(agent.counters()["scalars_acked"] == STEPS for agent in agents)
        for agent in agents:
            agent.close("finished")
    finally:
        server.stop()
    [capsule] = (folder / "data").rglob("*.telltale")
    done = subprocess.run([TELLTALE, "judge", capsule, "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def machine(seed: int, own: float) -> Callable[[int, int], float]:
    """Clocks of a machine that does other work, too: what holds up all ranks, what holds up one for some steps, and a
    noise of each rank's own."""
    noise = random.Random(seed)
    of_all = [math.exp(noise.expovariate(4)) for _ in range(STEPS)]
    of_one = [[noise.gauss(0, own) for _ in range(STEPS)] for _ in range(RANKS)]
    return lambda rank, step: 20 * of_all[step] * math.exp(of_one[rank][step])


@pytest.mark.parametrize(("share", "own"), [(1.06, 0.01), (1.2, 0.04)])
def test_a_rank_that_computes_longer_is_named(tmp_path: Path, share: float, own: float) -> None:
    usual = machine(1, own)
    [found] = judged(tmp_path, lambda rank, step: usual(rank, step) * (share if rank == 2 and step >= SINCE else 1))
    assert (found["rule"], found["rank"], found["name"]) == ("straggler", 2, "forward_ms")
    assert SINCE - 4 <= found["step"] <= SINCE + 4, found
    assert "computes" in found["sentence"] and "longer than" in found["sentence"]


def test_a_machine_that_does_other_work_slows_nobody_in_particular(tmp_path: Path) -> None:
    usual = machine(2, 0.04)
    assert judged(tmp_path, lambda rank, step: usual(rank, step) * (1.5 if step >= SINCE else 1)) == []
