# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradients before reduction: MindSpore hands out those of one micro step, so they are added up here."""

from __future__ import annotations

import inspect
import math
import sys
from typing import Any

from mindspore import nn

from ..agent.clock import Clock
from ..agent.part import Stepping
from ..agent.sources import Source
from ..agent.unreduced import UnreducedGradients
from ..kinds import Form, Kind
from ..series import PRESENT, SeriesTable
from . import executor

_MOST_FRAMES = 24


class SummedGradients(UnreducedGradients):
    """The sum over the micro steps of a step, or each alone with monitor_mbs_grad. Where nobody has said how many there
    are, what arrives is the sum so far, and the last one counts."""

    def __init__(self, engine: Clock, sources: list[Source]) -> None:
        super().__init__(engine, sources)
        self._sums: list[Any] = [None] * len(sources)
        self._versions = [0] * len(sources)
        self._per_micro = engine.config.monitor_mbs_grad and self._acc > 1

    def _form(self, source: Source) -> Form:
        if self._acc == 1:
            return Form.NONE  # one micro step is the whole step
        return Form.MICRO if self._per_micro else Form.ACCUMULATED

    def arrived(self, engine: Clock, number: int, gradient: Any) -> None:
        rows = self._rows[number]
        if not rows:
            return
        call = self._calls[number]
        self._calls[number] = call + 1
        self._witness = number
        if len(rows) > 1:
            row = rows[call % len(rows)]
        else:
            gradient = self._added(engine, number, call, gradient)
            row = rows[0] if self._acc == 1 or call % self._acc == self._acc - 1 else -1
        if row >= 0:
            engine.measure(Kind.GRAD_UNREDUCED, gradient, row)

    def _added(self, engine: Clock, number: int, call: int, gradient: Any) -> Any:
        """The sum of this step's so far."""
        held = self._sums[number] if call % self._acc or self._acc == 1 else None
        if held is not None and self._acc == 1 and getattr(held, "_version", 0) != self._versions[number]:
            engine.tell(
                "gradients before reduction are changed in place between the micro steps: what is stored is the last "
                "micro step's; watch() with grad_acc_steps=N to have their sum"
            )
            held = None
        with executor.no_grad():
            if held is not None:
                gradient = held + gradient
            # A copy where the sum is wanted for certain: what the training makes of its own tensor is its affair.
            self._sums[number] = gradient.copy() if held is None and self._acc > 1 else gradient
        self._versions[number] = getattr(gradient, "_version", 0)
        return gradient

    def begin(self) -> None:
        super().begin()
        self._sums = [None] * len(self._sums)

    def before_step(self, stepping: Stepping) -> None:
        """A loss scaler's gradients arrive scaled, whoever unscales them afterwards."""
        engine = self.engine
        if self._is_watching and engine.collected == 0:
            if engine.framework.unscales_itself(stepping.optimizer) or _scale_above() != 1:
                self._series.amend(None, Form.SCALED)

    def is_abandoned(self) -> bool:
        """Whether the micro steps that were announced have been there, or what came in place of them is not finite: a
        loss scaler has left the step out, and the next one is tried under the same number."""
        if self._witness < 0:
            return False
        if self._acc > 1:
            return self._calls[self._witness] >= self._acc
        engine = self.engine
        table = engine.known_table(Kind.GRAD_UNREDUCED)
        if table is None:
            return False
        engine.measurer.now(table)  # a second forward without a step between: it is there by now
        rows = [row for rows in self._rows for row in rows if row >= 0]
        return any(_is_broken(table, row) for row in rows)


def _is_broken(table: SeriesTable, row: int) -> bool:
    record = table.results[row]
    return bool(record["flags"] & PRESENT) and record["finite"] != record["numel"]


def _codes(*cells: Any) -> set[Any]:
    return {getattr(inspect.unwrap(cell.construct), "__code__", None) for cell in cells}


_SCALING = _codes(nn.TrainOneStepWithLossScaleCell)
_STEPPING = _codes(nn.TrainOneStepCell)


def _scale_above() -> float:
    """The loss scale under which the cell trains that has called this optimizer; 1 where there is none. Looks into no
    frame but that cell's: asking one for its variables keeps them alive as long as it runs."""
    frame: Any = sys._getframe(1)
    for _ in range(_MOST_FRAMES):
        if frame is None:
            break
        if frame.f_code in _SCALING:
            return math.nan  # it changes as it goes; 1 is what nobody uses one for
        if frame.f_code in _STEPPING:
            return float(getattr(frame.f_locals.get("self"), "sens", 1.0))
        frame = frame.f_back
    return 1.0
