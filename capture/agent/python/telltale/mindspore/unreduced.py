# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradients before reduction: MindSpore hands out those of one micro step, so they are added up here."""

from __future__ import annotations

from typing import Any

from ..agent.clock import Clock
from ..agent.part import Stepping
from ..agent.sources import Source
from ..agent.unreduced import UnreducedGradients
from ..kinds import Form, Kind
from ..series import PRESENT, SeriesTable
from . import executor, scalers


class SummedGradients(UnreducedGradients):
    """The sum over the micro steps of a step, or each alone with monitor_mbs_grad. Where nobody has said how many there
    are, what arrives is the sum so far, and the last one counts."""

    def __init__(self, engine: Clock, sources: list[Source]) -> None:
        super().__init__(engine, sources)
        self._sums: list[Any] = [None] * len(sources)
        self._versions = [0] * len(sources)
        self._per_micro = engine.config.monitor_mbs_grad and self._acc > 1
        self._has_scaled = False  # a scaler of mindspore.amp has been asked to scale, ever
        self._is_scaled = self._is_adjusted = self._has_stepped = False  # in this attempt at the step
        self._usual = 1  # micro steps of the last step that was taken

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

    def hooks(self) -> list[Any]:
        return [scalers.watch(self.scaler_asked)]

    def scaler_asked(self, method: str) -> None:
        """One of mindspore.amp is about to run this method."""
        engine = self._engine()
        if engine is None:
            return
        if method == "adjust":
            self._is_adjusted = engine.has_begun and not self._has_stepped
        else:
            self._has_scaled = True
            self._is_scaled = self._is_scaled or engine.has_begun

    def refresh(self, optimizers: list[Any]) -> None:
        scalers.renew()

    def begin(self) -> None:
        super().begin()
        self._sums = [None] * len(self._sums)
        self._is_scaled = self._is_adjusted = self._has_stepped = False

    def before_step(self, stepping: Stepping) -> None:
        """A loss scaler's gradients arrive scaled, whoever unscales them afterwards."""
        engine = self.engine
        self._has_stepped, self._is_adjusted = True, False
        self._usual = engine.micro + 1
        if not self._is_watching or engine.collected > 0:
            return
        # Of what is compiled whole no forward is seen, and a scaler inside only when it is compiled.
        is_scaled = self._is_scaled or (self._has_scaled and engine.micro_mark[2] == 0)
        if is_scaled or engine.framework.unscales_itself(stepping.optimizer) or scalers.scale_above() != 1:
            self._series.amend(None, Form.SCALED)

    def what_broke(self, table: SeriesTable | None, is_elsewhere: bool) -> str:
        """Waits, but the training has waited for the gradients just before, or would not know that they are broken."""
        if is_elsewhere and table is not None:
            self.engine.measurer.settle(table)
        return super().what_broke(table, False) or ("a loss scaler left it out" if self._is_adjusted else "")

    def is_abandoned(self) -> bool:
        """Whether a scaler has looked at the gradients and nobody has stepped, or the micro steps that were announced
        have been there, or what came in place of them is not finite: a loss scaler has left the step out, and the next
        one is tried under the same number."""
        engine = self.engine
        if self._is_adjusted and engine.micro + 1 >= self._acc:
            return True
        if self._witness < 0:
            return False
        if self._acc > 1:
            return self._calls[self._witness] >= self._acc
        table = engine.known_table(Kind.GRAD_UNREDUCED)
        if table is None:
            return False
        if engine.micro + 1 < self._usual:
            return False  # a step has had that many micro steps before
        engine.measurer.settle(table)  # who has left a step out has waited for its gradients
        rows = [row for rows in self._rows for row in rows if row >= 0]
        return any(_is_broken(table, row) for row in rows)


def _is_broken(table: SeriesTable, row: int) -> bool:
    record = table.results[row]
    return bool(record["flags"] & PRESENT) and record["finite"] != record["numel"]
