# SPDX-License-Identifier: GPL-3.0-or-later
"""A rule asks for more detail where it opens an incident, for some steps: a real server and a real training."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn as nn
from serving import TELLTALE, Server
from telltale.pytorch import TrainerMon

RULES = {
    "rules": {
        # What else such a small training may be found to do is not what this is about.
        **{name: {"on": False} for name in ("explosion", "level", "loss", "drift", "vanished", "frozen", "outlier")},
        "learning_rate": {"escalate": {"config": {"xy_distribution": True}, "steps": 40}},
    }
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rules.json").write_text(json.dumps(RULES))
    server = Server(tmp_path / "data")
    yield server
    server.kill()


class Training:
    """Steps as fast as a dashboard can follow."""

    def __init__(self, join: str) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.001)
        self.monitor = TrainerMon({"wg_distribution": True}, agent={"join": join, "run_name": "job"})
        self.monitor.set_monitor(self.model, optimizer=self.optimizer)
        self.changes: list[tuple[int, bool, bool]] = []  # step, activations, weights

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.model(torch.randn(5, 4)).square().mean().backward()
        self.optimizer.step()
        time.sleep(0.002)
        config = self.monitor.config
        now = config.xy_distribution, config.param_distribution
        if (self.changes[-1][1:] if self.changes else None) != now:
            self.changes.append((self.monitor.step, *now))

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.step()

    def until(self, holds: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not holds():
            assert time.monotonic() < end, self.changes
            self.step()

    def begin(self) -> None:
        """Until it has been judged for a while: rules count from then on."""
        self.until(lambda: self.monitor.counters()["acked"] > 0)
        self.run(300)

    def jump(self) -> None:
        self.optimizer.param_groups[0]["lr"] *= 50


def revisions(server: Server) -> list[dict[str, Any]]:
    """Of the run's config, oldest first."""
    return sorted(
        (event for event in server.log("config") if event.get("phase") == "offered" and not event.get("ref")),
        key=lambda event: event["rev"],
    )


def test_it_is_given_for_some_steps_and_taken_back_once(server: Server) -> None:
    training = Training(server.join)
    training.begin()
    training.jump()
    training.until(lambda: training.monitor.config.xy_distribution)
    training.until(lambda: not training.monitor.config.xy_distribution)
    began, ended = training.changes[1][0], training.changes[2][0]
    assert ended - began >= 40
    training.run(100)
    assert [change[1] for change in training.changes] == [False, True, False], "once for an incident"
    assert training.monitor.flush(20)
    training.monitor.close()
    assert server.stop() == 0
    first, second = revisions(server)
    assert first["author"] == second["author"] == "rule learning_rate"
    [found] = [one for one in server.show("2:output") if one["kind"] == "actv"]
    assert [value["step"] for value in found["values"]] == list(range(began, ended))


def test_what_a_person_pushes_in_between_stays(server: Server) -> None:
    training = Training(server.join)
    training.begin()
    training.jump()
    training.until(lambda: training.monitor.config.xy_distribution)
    pushed = subprocess.Popen(
        [str(TELLTALE), "config", "set", "job", "param_distribution=true", "--data-dir", str(server.folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    training.until(lambda: pushed.poll() is not None)
    assert training.monitor.config.param_distribution, pushed.stdout.read() if pushed.stdout else ""
    training.run(200)
    assert training.monitor.config.param_distribution and training.monitor.config.xy_distribution
    training.monitor.close()
    assert server.stop() == 0
    assert [one["author"].startswith("rule ") for one in revisions(server)] == [True, False]


def test_a_server_that_was_started_again_takes_it_back(server: Server) -> None:
    training = Training(server.join)
    training.begin()
    training.jump()
    training.until(lambda: training.monitor.config.xy_distribution)
    server.kill()
    server.start()
    training.until(lambda: not training.monitor.config.xy_distribution)
    training.monitor.close()
    assert server.stop() == 0
    assert [one["author"] for one in revisions(server)] == ["rule learning_rate"] * 2


@pytest.mark.parametrize("times", [1, 2])
def test_no_more_often_than_it_may(server: Server, times: int) -> None:
    rules = json.loads(json.dumps(RULES))
    rules["rules"]["learning_rate"]["escalate"]["times"] = times
    (server.folder / "rules.json").write_text(json.dumps(rules))
    training = Training(server.join)
    training.begin()
    training.jump()
    training.until(lambda: training.monitor.config.xy_distribution)
    training.until(lambda: not training.monitor.config.xy_distribution)
    training.run(300)
    training.jump()
    found = 0
    end = time.monotonic() + 30
    while found < 2:
        assert time.monotonic() < end
        training.run(20)
        found = sum(one.get("rule") == "learning_rate" and not one.get("ref") for one in server.log("incident"))
    training.until(lambda: len(training.changes) > 2 * times)
    training.run(200)
    assert training.monitor.flush(20)
    training.monitor.close()
    assert server.stop() == 0
    assert [change[1] for change in training.changes] == [False] + [True, False] * times


def test_without_being_asked_for_nothing_is_given(server: Server) -> None:
    rules = {
        "rules": {name: ({"on": True} if name == "learning_rate" else said) for name, said in RULES["rules"].items()}
    }
    (server.folder / "rules.json").write_text(json.dumps(rules))
    training = Training(server.join)
    training.begin()
    training.jump()
    end = time.monotonic() + 20
    while not list(server.folder.rglob("*.telltale")) or not server.log("incident"):
        assert time.monotonic() < end
        training.run(20)
    training.run(100)
    training.monitor.close()
    assert server.stop() == 0
    assert len(training.changes) == 1 and revisions(server) == []
