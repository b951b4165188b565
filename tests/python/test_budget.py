# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.overhead_budget: what it decides, and what becomes of a training."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
import torch
import torch.nn as nn
from recording import RecordingSink
from telltale import configfile
from telltale.agent import cost
from telltale.budget import Budget
from telltale.kinds import Kind
from telltale.pytorch import TrainerMon
from telltale.series import Frame

CASES = json.loads((Path(__file__).parents[1] / "data" / "overheadbudget.json").read_text("utf-8"))
MS = 1_000_000
EVERYTHING = {name: True for name in ("wg_distribution", "mv_distribution", "param_distribution", "xy_distribution")}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_rules_that_both_agents_have(case: dict[str, Any]) -> None:
    budget, interval = Budget(case["percent"], case["interval"]), case["interval"]
    changes, told, step, stride = [], [], 0, 1
    for span in case["spans"]:
        for _ in range(span["steps"]):
            is_collected = step % interval == 0 and budget.admits(step)
            assert is_collected == (step % (interval * budget.stride) == 0)
            cost = round(span["collected" if is_collected else "idle"] * MS)
            news = budget.step_ended(is_collected, cost, cost + round(span["own"] * MS))
            if budget.stride != stride:
                stride = budget.stride
                changes.append([step, stride])
            if news is not None:
                told.append([step, news[0]])
                assert json.loads(news[1])["every"] == stride * interval
            step += 1
    assert changes == case["changes"]
    assert told == case["told"]


class Clock:
    """Of the agent; moves only where somebody says that time has passed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 1
        patch.setattr(cost, "perf_counter_ns", lambda: self.now)
        patch.setattr(cost.spent, "ns", 0)

    def passes(self, milliseconds: float) -> None:
        self.now += round(milliseconds * MS)


class CostlySink(RecordingSink):
    """Takes 3 ms for what is collected, and 0.02 ms for run metrics alone; knows what the agent says of its cost."""

    def __init__(self, passes: Callable[[float], None]) -> None:
        super().__init__()
        self._passes = passes
        self.costs: list[tuple[int, int]] = []
        self.thinned: list[tuple[int, float]] = []

    def write(self, frame: Frame) -> None:
        super().write(frame)
        self._passes(3 if frame.tables else 0.02)

    def cost(self, inside_ns: int, elapsed_ns: int, steps: int) -> None:
        self.costs.append((inside_ns, elapsed_ns))

    def thinning(self, every: int, percent: float) -> None:
        self.thinned.append((every, percent))


class Training:
    """Of a small model; the clock is told of 10 ms a forward."""

    def __init__(
        self, sink: RecordingSink | None = None, passes: Callable[[float], None] | None = None, **config: Any
    ) -> None:
        torch.manual_seed(3)
        self.model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 64), nn.Dropout(0.2))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.001)
        self.monitor: TrainerMon | None = None
        self.steps = 0
        self._passes = passes
        if sink is not None:
            self.monitor = TrainerMon({**EVERYTHING, **config}, sinks=[sink])
            self.monitor.set_monitor(self.model, optimizer=self.optimizer)

    def run(self, steps: int) -> None:
        self.steps += steps
        for _ in range(steps):
            self.optimizer.zero_grad()
            if self._passes is not None:
                self._passes(10)
            self.model(torch.randn(32, 64)).square().mean().backward()
            self.optimizer.step()

    @property
    def stride(self) -> int:
        engine = self.monitor.engine if self.monitor is not None else None
        assert engine is not None and engine._budgeted is not None
        return engine._budgeted.budget.stride

    def bits(self) -> list[bytes]:
        return [parameter.detach().numpy().tobytes() for parameter in self.model.parameters()]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def spin(milliseconds: float) -> None:
    end = perf_counter() + milliseconds / 1000
    while perf_counter() < end:
        pass


def are_collected_whole(sink: RecordingSink, steps: int) -> list[int]:
    """Which are."""
    collected = sink.steps(Kind.GRAD_REDUCED)
    for kind in (Kind.GRAD_UNREDUCED, Kind.ACTV, Kind.ACTV_GRAD, Kind.PARAM_ORIGIN, Kind.PARAM_UPDATED):
        assert sink.steps(kind) == collected
    assert sink.steps(Kind.EXP_AVG) == collected[1:]  # of which there is none before the first step
    assert [frame.step for frame in sink.frames] == list(range(steps))  # run metrics come of every step
    return collected


def share_of(costs: list[tuple[int, int]]) -> float:
    """Of the training's own time."""
    ours, whole = (sum(column) for column in zip(*costs))
    return ours / (whole - ours)


def test_what_is_expensive_stays_within_the_budget_and_the_training_the_same(clock: Clock) -> None:
    sink = CostlySink(clock.passes)
    training = Training(sink, clock.passes, telltale={"overhead_budget": 1})
    training.run(200)
    seen = len(sink.costs)
    training.run(1000)
    assert training.monitor is not None
    training.monitor.close()
    assert share_of(sink.costs[:1]) > 0.15
    assert 0.006 < share_of(sink.costs[seen:]) <= 0.01 * 1.05  # what is told begins and ends between two of them
    told = [text for text in sink.sentences() if "budget" in text]
    # What a step takes that is not collected is known only when there is one; said ten seconds after the first.
    assert told == [
        "monitoring takes 30 % of a step, over the budget of 1 %: every 32nd step is collected",
        "monitoring takes 1.1 % of a step, over the budget of 1 %: every 64th step is collected",
    ]
    assert sink.thinned == [(32, 1), (64, 1)]
    collected = [0, 1, 2, 3, 4, 32, 64, 96, *range(128, training.steps, 64)]
    assert are_collected_whole(sink, training.steps) == collected
    bare = Training()
    bare.run(training.steps)
    assert bare.bits() == training.bits()


def test_by_the_real_clock_what_is_expensive_stays_within_the_budget_and_the_training_the_same() -> None:
    sink = CostlySink(spin)
    training = Training(sink, spin, telltale={"overhead_budget": 10})
    training.run(100)
    seen = len(sink.costs)
    training.run(300)
    assert training.monitor is not None
    training.monitor.close()
    assert share_of(sink.costs[:1]) > 0.2
    assert share_of(sink.costs[seen:]) <= 0.1 * 1.5  # others run on this machine, too
    assert len(are_collected_whole(sink, training.steps)) < training.steps // 2
    bare = Training()
    bare.run(training.steps)
    assert bare.bits() == training.bits()


def test_collect_times_counts_what_is_collected(clock: Clock) -> None:
    sink = CostlySink(clock.passes)
    training = Training(sink, clock.passes, collect_times=9, telltale={"overhead_budget": 4})
    training.run(100)
    assert sink.steps(Kind.ACTV) == [0, 1, 2, 3, 4, 8, 16, 24, 32]


def test_without_a_budget_every_step_is_collected_and_nothing_is_said(clock: Clock) -> None:
    for own in ({}, {"overhead_budget": None}, {"overhead_budget": 0}):
        sink = CostlySink(clock.passes)
        training = Training(sink, clock.passes, telltale=own)
        training.run(12)
        assert sink.steps(Kind.ACTV) == list(range(12))
        assert training.monitor is not None and training.monitor.engine is not None
        assert training.monitor.engine._budgeted is None
        assert not [text for text in sink.sentences() if "budget" in text]


def test_another_config_is_measured_anew(clock: Clock) -> None:
    sink = CostlySink(clock.passes)
    training = Training(sink, clock.passes, telltale={"overhead_budget": 1})
    training.run(40)
    assert training.stride == 32 and training.monitor is not None
    other = configfile.load({**EVERYTHING, "mv_distribution": False, "telltale": {"overhead_budget": 1}})
    training.monitor.apply(other)
    assert training.stride == 1 and sink.thinned == [(32, 1), (0, 0)]
    assert [text for text in sink.sentences() if "is measured anew" in text]
    training.run(8)
    assert sink.steps(Kind.ACTV)[5:] == [32, 40, 41, 42, 43, 44]
