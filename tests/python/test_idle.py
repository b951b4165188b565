# SPDX-License-Identifier: GPL-3.0-or-later
"""A monitor that is switched off: no hooks, no values, and the steps are counted all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn as nn
from recording import RecordingSink
from telltale.dispatch import frame_of
from telltale.pytorch import TrainerMon
from telltale.series import Frame, SeriesTable

EVERYTHING = {"wg_distribution": True, "xy_distribution": True, "mv_distribution": True, "param_distribution": True}


class StreamLikeSink(RecordingSink):
    """Takes run metrics as the stream does: also while nothing is collected."""

    def write_tables(self, step: int, tables: list[SeriesTable]) -> bool:
        self.frames.append(frame_of(step, tables))
        return True

    def write_late(self, step: int, values: dict[str, float]) -> None:
        self.frames.append(Frame(step, [], values))


class Job:
    def __init__(self, path: Path, optimizers: int = 1) -> None:
        self.path = path
        self.switch(False)
        self.sink = StreamLikeSink()
        self.model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2))
        self.optimizers = [
            torch.optim.SGD(part.parameters(), lr=0.1)
            for part in ([self.model] if optimizers == 1 else self.model.children())
        ]
        self.monitor = TrainerMon(str(path), sinks=[self.sink])
        self.monitor.set_monitor(self.model, optimizer=self.optimizers[0] if optimizers == 1 else self.optimizers)

    def switch(self, on: bool, **more: Any) -> None:
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps({"dynamic_on": on, **EVERYTHING, **more}))
        new.replace(self.path)

    def look(self) -> None:
        assert self.monitor.config_watch is not None and self.monitor.config_watch.look_now()

    def backward(self) -> None:
        self.model(torch.ones(5, 4)).sum().backward()

    def step(self) -> None:
        self.backward()
        for optimizer in self.optimizers:
            optimizer.step()

    def hooks(self) -> int:
        """On modules and parameters."""
        kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
        modules = sum(len(getattr(module, kind)) for module in self.model.modules() for kind in kinds)
        gradients = ("_backward_hooks", "_post_accumulate_grad_hooks")
        return modules + sum(len(getattr(p, kind) or ()) for p in self.model.parameters() for kind in gradients)

    def steps(self) -> list[int]:
        return [frame.step for frame in self.sink.frames]


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    made = Job(tmp_path / "config.json")
    yield made
    made.monitor.close()


def test_what_is_off_has_no_hooks_and_sends_nothing_until_it_is_on(job: Job) -> None:
    assert job.hooks() == 0
    for _ in range(3):
        job.step()
    assert (job.monitor.step, job.steps(), job.hooks()) == (3, [], 0)
    job.switch(True)
    job.look()
    job.step()
    assert job.hooks() > 8 and job.steps() == []
    job.step()
    [frame] = job.sink.frames
    assert frame.step == 4 and "lr" in frame.scalars and len(frame.tables) > 4
    job.switch(False)
    job.look()
    job.step()
    assert job.hooks() == 0 and job.steps() == [4, 5]
    job.step()
    assert (job.monitor.step, job.steps()) == (7, [4, 5])
    job.switch(True)
    job.look()
    job.step()
    job.step()
    assert job.steps() == [4, 5, 8]
    shapes = [{(table.kind, tuple(table.rows)) for table in frame.tables} for frame in job.sink.frames]
    assert shapes[0] == shapes[1] == shapes[2]


@pytest.mark.parametrize("is_before", [True, False])
def test_what_the_program_logs_goes_on_by_its_step(job: Job, is_before: bool) -> None:
    for step in range(4):
        job.backward()
        if is_before:
            job.monitor.log({"loss": float(step)})
        job.optimizers[0].step()
        if not is_before:
            job.monitor.log({"loss": float(step)})
    assert {frame.step: frame.scalars.get("loss") for frame in job.sink.frames} == {0: 0.0, 1: 1.0, 2: 2.0, 3: 3.0}
    assert all("lr" not in frame.scalars for frame in job.sink.frames)


def test_optimizers_that_step_unequally_often_count_as_when_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a discriminator that steps twice for each step of its generator."""
    monkeypatch.setenv("DYNAMIC_MONITOR", "True")
    counted = []
    for on in (False, True):
        job = Job(tmp_path / f"{on}.json", optimizers=2)
        if on:
            job.switch(True)
            job.look()
            job.step()
        before = job.monitor.step
        for _ in range(3):
            job.backward()
            job.optimizers[0].step()
            job.step()
        counted.append(job.monitor.step - before)
        job.monitor.close()
    assert counted[0] == counted[1]


def test_an_optimizer_made_while_it_is_off_counts_the_steps(job: Job) -> None:
    job.step()
    job.optimizers = [torch.optim.SGD(job.model.parameters(), lr=0.1)]
    job.step()
    job.step()
    assert job.monitor.step == 3
