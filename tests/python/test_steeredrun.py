# SPDX-License-Identifier: GPL-3.0-or-later
"""Trainings of two ranks that a real server steers, by `telltale config`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from serving import TELLTALE, Server

TRAINING = """
import os, time
import torch, torch.nn as nn
import telltale
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
telltale.watch(model, optimizer, {"dynamic_on": True, "wg_distribution": True})
while not os.path.exists(os.environ["STOP"]):
    optimizer.zero_grad()
    model(torch.randn(4, 8)).square().mean().backward()
    optimizer.step()
    time.sleep(0.01)
"""
WEIGHTS = {"dynamic_on": True, "wg_distribution": True, "param_distribution": True}


class SteeredRun:
    """A server, and the ranks of a job that train until they are told to stop."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = Server(folder / "data")
        self.script = folder / "training.py"
        self.script.write_text(TRAINING)
        self.ranks: dict[int, subprocess.Popen[str]] = {}

    def start(self, rank: int, **environment: str) -> None:
        env = dict(
            os.environ,
            RANK=str(rank),
            WORLD_SIZE="2",
            OMP_NUM_THREADS="1",
            STOP=str(self.folder / "stop"),
            TELLTALE_RUN_ID="job",
            TELLTALE_JOIN=self.server.join,
            TELLTALE_DIR=str(self.folder / f"spool{rank}"),
            **environment,
        )
        self.ranks[rank] = subprocess.Popen(
            [sys.executable, str(self.script)], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def kill(self, rank: int) -> None:
        self.ranks[rank].kill()
        self.ranks.pop(rank).communicate()

    def config(self, verb: str, *words: str) -> tuple[int, Any]:
        """The exit code of `telltale config VERB RUN ... --json`, and what it says."""
        data = ["--json", "--data-dir", str(self.server.folder)]
        listed = subprocess.run([str(TELLTALE), "runs", *data], capture_output=True, text=True, timeout=60)
        [found] = json.loads(listed.stdout)
        command = [str(TELLTALE), "config", verb, found["id"], *words, *data]
        done = subprocess.run(command, capture_output=True, text=True, timeout=90)
        return done.returncode, json.loads(done.stdout)

    def push(self, config: dict[str, Any], *words: str) -> tuple[int, Any]:
        path = self.folder / "pushed.json"
        path.write_text(json.dumps(config))
        return self.config("push", str(path), *words)

    def wait(self, what: str, **wanted: int) -> None:
        """Until `config show` says of each rank what is wanted: wait("status", ...) by rank number as rank0, rank1."""
        end = time.monotonic() + 60
        while True:
            code, said = self.config("show")
            found = {f"rank{rank['rank']}": rank.get(what) for rank in said.get("ranks", [])} if code == 0 else {}
            if all(found.get(rank) == value for rank, value in wanted.items()):
                return
            assert time.monotonic() < end, said
            time.sleep(0.05)

    def wait_for_steps(self, count: int) -> None:
        """Until every rank that is there has so many steps in the run."""
        end = time.monotonic() + 60
        while any(len(self.steps("grad_reduced", rank)) < count for rank in self.ranks):
            assert time.monotonic() < end
            time.sleep(0.05)

    def steps(self, kind: str, rank: int) -> list[int]:
        capsules = list(self.server.folder.rglob("*.telltale"))
        if not capsules:
            return []
        command = [str(TELLTALE), "show", str(capsules[0]), "--series", "0.weight", "--rank", str(rank), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            return []
        found = [entry for entry in json.loads(done.stdout)["series"] if entry["kind"] == kind]
        return [value["step"] for value in found[0]["values"]] if found else []

    def stop(self) -> None:
        (self.folder / "stop").touch()
        for process in self.ranks.values():
            _, err = process.communicate(timeout=60)
            assert process.returncode == 0, err

    def close(self) -> None:
        for process in self.ranks.values():
            if process.poll() is None:
                process.kill()
                process.communicate()
        if self.server.process.poll() is None:
            self.server.kill()


@pytest.fixture
def run(tmp_path: Path) -> Iterator[SteeredRun]:
    made = SteeredRun(tmp_path)
    yield made
    made.close()


def applied(said: Any) -> list[str]:
    return [rank["status"] for rank in said["ranks"]]


def test_what_is_pushed_is_collected_from_the_announced_step_on(run: SteeredRun) -> None:
    run.start(0)
    run.start(1)
    run.wait_for_steps(20)
    code, said = run.push(WEIGHTS)
    assert code == 0 and applied(said) == ["applied", "applied"], said
    began = {rank["rank"]: rank["step"] for rank in said["ranks"]}
    time_on = {rank: len(run.steps("grad_reduced", rank)) for rank in (0, 1)}
    run.wait_for_steps(max(time_on.values()) + 20)
    code, off = run.config("set", "dynamic_on=false")
    assert code == 0 and applied(off) == ["applied", "applied"], off
    ended = {rank["rank"]: rank["step"] for rank in off["ranks"]}
    run.stop()
    assert run.server.stop() == 0
    # Those who were past the step took a later one, and said so; the others took the one that was announced.
    assert min(began.values()) >= said["apply_at_step"] or 0 < min(began.values())
    for rank in (0, 1):
        assert run.steps("param_origin", rank) == list(range(began[rank], ended[rank]))
        assert run.steps("grad_reduced", rank) == list(range(0, ended[rank]))
    code, history = run.config("history")
    assert code == 0 and [revision["rev"] for revision in history] == [1, 2]
    assert [change["pointer"] for change in history[0]["changes"]] == ["/param_distribution"]
    assert [change["pointer"] for change in history[1]["changes"]] == ["/dynamic_on"]


def test_a_rank_that_forbids_it_keeps_what_it_runs_and_the_others_apply(run: SteeredRun) -> None:
    run.start(0)
    run.start(1, TELLTALE_REMOTE_CONFIG="off")
    run.wait_for_steps(10)
    code, said = run.push(WEIGHTS)
    assert code == 1 and applied(said) == ["applied", "refused"], said
    assert "TELLTALE_REMOTE_CONFIG" in said["ranks"][1]["reason"]
    run.stop()
    assert run.steps("param_origin", 0) and not run.steps("param_origin", 1)


def test_a_rank_that_was_away_comes_back_into_the_newest_revision(run: SteeredRun) -> None:
    run.start(0)
    run.start(1)
    run.wait_for_steps(10)
    run.kill(1)
    run.wait_for_steps(40)
    code, said = run.push(WEIGHTS)
    assert said["rev"] == 1 and said["ranks"][0]["status"] == "applied", said
    run.start(1)
    run.wait("runs_rev", rank0=1, rank1=1)
    run.stop()


def test_a_server_that_is_killed_leaves_every_rank_on_one_revision(run: SteeredRun) -> None:
    run.start(0)
    run.start(1)
    run.wait_for_steps(10)
    _, said = run.push(WEIGHTS, "--wait", "0")  # offered at most
    run.server.kill()
    assert said["rev"] == 1
    run.server.start()
    run.wait("runs_rev", rank0=1, rank1=1)
    run.stop()
    assert run.server.stop() == 0
    for rank in (0, 1):
        steps = run.steps("param_origin", rank)
        assert steps == list(range(steps[0], steps[-1] + 1)) and steps[-1] == run.steps("grad_reduced", rank)[-1]
