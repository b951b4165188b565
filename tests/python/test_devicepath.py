# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps whose statistics lie on a device are fetched and delivered off the training thread, whole and in order."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
import torch.nn as nn
from recording import RecordingSink, norm
from telltale.kinds import Kind, Stat
from telltale.measure import Measurer, torch_stats
from telltale.pytorch import TrainerMon
from telltale.pytorch.optimizerparts import UpdatePart


class Threaded(RecordingSink):
    """Notes which thread delivers."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: set[int] = set()

    def write(self, frame: Any) -> None:
        self.threads.add(threading.get_ident())
        super().write(frame)


def test_results_that_are_fetched_later_equal_those_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frames = {}
    for deferred in (False, True):
        if deferred:
            # As for a tensor on a device: computed where it lies, fetched at the end of the step.
            def later(self: Measurer, tensor: Any, table: Any, row: int) -> str:
                self.later(table, row, torch_stats(tensor, self.eps))
                return ""

            monkeypatch.setattr(Measurer, "one", later)
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
        optimizer = torch.optim.Adam(model.parameters())
        sink = Threaded()
        config = {"wg_distribution": True, "xy_distribution": True, "param_distribution": True}
        monitor = TrainerMon(config, sinks=[sink])
        monitor.set_monitor(model, optimizer=optimizer)
        for step in range(5):
            optimizer.zero_grad()
            loss = model(torch.ones(3, 4) * (step + 1)).square().sum()
            loss.backward()
            monitor.log({"loss": loss}, step=step)
            optimizer.step()
        assert monitor.flush(5)
        monitor.close()
        frames[deferred] = sink
    direct, fetched = frames[False], frames[True]
    assert threading.get_ident() not in fetched.threads
    assert [frame.step for frame in fetched.frames] == [0, 1, 2, 3, 4]
    assert fetched.scalar("loss") == direct.scalar("loss")
    for kind in (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED, Kind.ACTV, Kind.ACTV_GRAD, Kind.PARAM_UPDATED):
        assert fetched.names(kind) == direct.names(kind)
        for step in range(5):
            for name in direct.names(kind):
                module, _, slot = name.partition(" ")
                if module in ("input", "output"):
                    continue
                one, other = direct.record(kind, module, slot, step), fetched.record(kind, module, slot, step)
                assert norm(other) == pytest.approx(norm(one), rel=1e-6), (kind, name, step)
                assert int(other["numel"]) == int(one["numel"])


def test_many_rows_at_once_come_from_a_device_as_they_went(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = {}
    whole = UpdatePart._histogram
    for deferred in (False, True):
        if deferred:
            # As for counts that lie on a device: one block of consecutive rows.
            def later(self: UpdatePart, engine: Any, kind: Kind, source: Any, found: torch.Tensor) -> None:
                whole(self, engine, kind, source, found)
                first = self._bins[kind, id(source)]
                table = engine.extra_table(kind, (Stat.HIST,))
                table.present[first : first + len(found)] = 0
                engine.measurer.later(table, first, found.reshape(-1, 1))

            monkeypatch.setattr(UpdatePart, "_histogram", later)
        torch.manual_seed(0)
        model = nn.Linear(4, 8)
        optimizer = torch.optim.Adam(model.parameters())
        sink = RecordingSink()
        monitor = TrainerMon({"ur_distribution": True}, sinks=[sink])
        monitor.set_monitor(model, optimizer=optimizer)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(3, 4)).square().sum().backward()
            optimizer.step()
        assert monitor.flush(5)
        monitor.close()
        counts[deferred] = {
            (frame.step, shot.kind, desc.name, desc.slot): float(value[0])
            for frame in sink.frames
            for shot in frame.tables
            if shot.stats == (Stat.HIST,)
            for desc, value in zip(shot.series, shot.values)
        }
    assert counts[True] == counts[False] and len(counts[True]) == 2 * 2 * 2 * 32
