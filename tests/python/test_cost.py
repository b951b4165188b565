# SPDX-License-Identifier: GPL-3.0-or-later
"""What an agent says that it takes of the training's time."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter_ns
from typing import Any

import pytest
import torch
import torch.nn as nn
from recording import RecordingSink
from telltale.agent import cost
from telltale.pytorch import TrainerMon
from telltale.pytorch.engine import Engine

OWN, HOOK, TOLD_AFTER = 1_000_000, 7, 100_000_000


class Clock:
    """Moves only where somebody says that time has passed."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.now = 1
        patch.setattr(cost, "perf_counter_ns", lambda: self.now)
        patch.setattr(cost.spent, "ns", 0)


class CostSink(RecordingSink):
    def __init__(self) -> None:
        super().__init__()
        self.costs: list[tuple[int, int, int]] = []

    def cost(self, inside_ns: int, elapsed_ns: int, steps: int) -> None:
        self.costs.append((inside_ns, elapsed_ns, steps))


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_a_visit_inside_another_counts_once(clock: Clock) -> None:
    @cost.timed
    def inner() -> None:
        clock.now += 5

    @cost.timed
    def outer(fails: bool) -> None:
        clock.now += 10
        inner()
        inner()
        if fails:
            raise RuntimeError

    outer(False)
    assert cost.spent.ns == 20
    with pytest.raises(RuntimeError):
        outer(True)
    assert cost.spent.ns == 40
    clock.now += 1000  # the training's own
    inner()
    assert cost.spent.ns == 45


@pytest.mark.parametrize("has_closure", [False, True])
def test_what_is_the_training_s_own_is_not_counted(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, has_closure: bool
) -> None:
    """A forward takes OWN, and what the monitor does in its hook HOOK; all else takes nothing here."""
    begins = Engine.forward_begins

    def slower(engine: Engine) -> None:
        clock.now += HOOK
        begins(engine)

    monkeypatch.setattr(Engine, "forward_begins", slower)

    class Slow(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            clock.now += OWN
            return super().forward(x)

    model, sink = Slow(3, 2), CostSink()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = TrainerMon(sinks=[sink])
    monitor.set_monitor(model, optimizer=optimizer)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = model(torch.ones(4, 3)).square().mean()
        loss.backward()
        return loss

    steps = 2 * TOLD_AFTER // OWN + 2  # told about twice in them
    for _ in range(steps):
        if has_closure:
            optimizer.step(closure)
        else:
            closure()
            optimizer.step()
    monitor.close()
    assert len(sink.costs) == 2
    for inside, elapsed, count in sink.costs:
        assert inside == count * HOOK
        assert elapsed == count * (OWN + HOOK) >= TOLD_AFTER


def test_the_native_agent_has_the_sums(tmp_path: Path) -> None:
    model = nn.Linear(64, 64)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    monitor = TrainerMon(agent={"mode": "offline", "spool_dir": str(tmp_path)})
    began = perf_counter_ns()
    monitor.set_monitor(model, optimizer=optimizer)
    while monitor.counters()["steps"] == 0:
        optimizer.zero_grad()
        model(torch.randn(8, 64)).square().mean().backward()
        optimizer.step()
    counters = monitor.counters()
    wall = perf_counter_ns() - began
    monitor.close()
    assert 0 < counters["monitor_ns"] < counters["step_ns"] < wall
    assert counters["steps"] <= monitor.step - 1  # the first boundary begins the first whole step
