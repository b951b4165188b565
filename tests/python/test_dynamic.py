# SPDX-License-Identifier: GPL-3.0-or-later
"""What a user of DYNAMIC_MONITOR is told of the config file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn as nn
from recording import RecordingSink
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon


class Job:
    """A training that is watched through a config file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write(dynamic_on=True)
        self.sink = RecordingSink()
        self.model = nn.Linear(4, 2)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.monitor = TrainerMon(str(path), sinks=[self.sink])
        self.monitor.set_monitor(self.model, optimizer=self.optimizer)

    def write(self, **fields: Any) -> None:
        """Puts a whole new file in place: who looks in between must not find half of one."""
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"wg_distribution": True, **fields}))
        new.replace(self.path)

    def step(self) -> list[tuple[str, int, str]]:
        """What is told by the end of a step that begins once the file as it is now has been looked at."""
        watch = self.monitor.config_watch
        assert watch is not None and watch.look_now()
        told = len(self.sink.events)
        self.model(torch.ones(3, 4)).sum().backward()
        self.optimizer.step()
        return self.sink.events[told:]


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    made = Job(tmp_path / "config.json")
    yield made
    made.monitor.close()


def test_a_config_that_is_no_text_is_told_by_its_file(job: Job) -> None:
    job.path.with_suffix(".new").write_bytes(b'{"dynamic_on": true, "format": "\xff"}')
    job.path.with_suffix(".new").replace(job.path)
    [(_, _, said)] = job.step()
    assert str(job.path) in said and "not UTF-8" in said


def test_every_bad_field_of_a_changed_config_is_told_at_once(job: Job) -> None:
    job.write(dynamic_on=True, step_interval=0, ndigits="many", collect_times=-1)
    [(_, _, said)] = job.step()
    assert all(field in said for field in ("step_interval", "ndigits", "collect_times", str(job.path)))
    job.write(dynamic_on=True, **{f"unknown_{i}": 1 for i in range(100)})
    [(_, _, said)] = job.step()
    assert said.count("unknown_") < 20 and "and 92 more" in said


def test_a_config_file_that_is_gone_is_told_once_and_again_after_it_was_there(job: Job) -> None:
    for _ in range(2):
        job.path.unlink()
        [(_, _, said)] = job.step()
        assert str(job.path) in said and "in force" in said
        assert job.step() == []
        job.write(dynamic_on=True)
        [(kind, _, _)] = job.step()
        assert kind == "config"


def test_the_end_of_a_collection_is_told_with_its_reason(job: Job) -> None:
    job.write(dynamic_on=True, collect_times=2)
    job.step()  # begins with the next one
    assert job.step() == []
    [(kind, step, said)] = job.step()
    assert (kind, step) == ("config", 3) and "collect_times" in said
    assert job.step() == []  # by now dynamic_on: false is written back, and it is no news
    job.write(dynamic_on=True)
    assert [kind for kind, *_ in job.step()] == ["config"]
    job.write(dynamic_on=False)
    [(kind, step, said)] = job.step()
    assert (kind, step) == ("config", 6) and "dynamic_on is false" in said
    job.write(dynamic_on=True)
    job.step()
    job.write(dynamic_on=True, collect_times=0)
    [(kind, step, said)] = job.step()
    assert (kind, step) == ("config", 8) and "collect_times is 0" in said


def test_a_changed_config_begins_with_the_step_after_the_one_in_which_it_is_seen(job: Job) -> None:
    job.write(dynamic_on=True, step_interval=4, start_step=100)
    for _ in range(10):
        job.step()
    assert job.sink.steps(Kind.GRAD_REDUCED) == [1, 5, 9]


def test_an_edit_that_comes_while_the_switch_is_written_back_stays(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    sync, edits = os.fsync, []

    def slow_sync(handle: int) -> None:
        if not edits:
            edits.append(True)
            job.write(dynamic_on=True, ndigits=4)
        sync(handle)

    job.write(dynamic_on=True, collect_times=1)
    job.step()
    monkeypatch.setattr(os, "fsync", slow_sync)
    for _ in range(3):
        job.step()
    assert edits and json.loads(job.path.read_text())["ndigits"] == 4
