# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradients before data-parallel reduction: which call of a hook is the one to measure, and into which row."""

from __future__ import annotations

import abc
from typing import Any

from ..kinds import Form, Kind
from ..names import listed
from ..series import SeriesTable
from .clock import Clock
from .part import Part
from .sources import Source


class UnreducedGradients(Part, abc.ABC):
    """Thread: arrived() autograd's, each parameter on one at a time; everything else the training thread."""

    what = Kind.GRAD_UNREDUCED.word

    def __init__(self, engine: Clock, sources: list[Source]) -> None:
        super().__init__(engine)
        self._sources = sources
        self._acc = engine.grad_acc_steps
        self._series = engine.unreduced
        self._rows = self._series.rows
        self._calls = [0] * len(sources)
        self._handles: list[list[Any]] = [[] for _ in sources]
        self._witness = -1  # a parameter whose gradient arrived in this attempt at the step
        self._is_watching = False
        self._is_resting = False
        self._is_gone_told = False
        self._frozen: list[int] = []

    def watch(self) -> None:
        """Adds the series, in the model's order, and installs the hooks."""
        engine = self._engine()
        assert engine is not None
        self._is_watching = True
        per_micro = engine.config.monitor_mbs_grad and self._acc > 1
        for number, source in enumerate(self._sources):
            micros = range(self._acc) if per_micro and not source.arrives_once else (-1,)
            form = self._form(source)
            self._series.add(
                source.describe(form, micro, source.unreduced_is_full, source.gradient_definition) for micro in micros
            )
            self._install(engine, number)

    def _form(self, source: Source) -> Form:
        form = source.form_unreduced
        if self._acc == 1:
            return form & ~Form.MICRO  # one micro step is the whole step
        return form if form & Form.MICRO else form | Form.ACCUMULATED

    def _install(self, engine: Clock, number: int) -> None:
        source = self._sources[number]
        try:
            self._handles[number] = source.watch_unreduced(engine, number)
            if not source.tensor.requires_grad and source.place is not None:
                self._frozen.append(number)
        except Exception as error:  # noqa: BLE001 - one parameter's trouble is not the others'
            engine.not_observed(Kind.GRAD_UNREDUCED, source.name, f"its hook cannot be installed ({error})")

    def arrived(self, engine: Clock, number: int, gradient: Any) -> None:
        """A gradient is there, accumulated so far or of this micro step, as its source has it."""
        rows = self._rows[number]
        if not rows:
            return
        call = self._calls[number]
        self._calls[number] = call + 1
        if self._sources[number].place is not None:
            self._witness = number
        # Calls past the last micro step belong to a new attempt: a loss scaler has skipped the step.
        if len(rows) > 1:
            row = rows[call % len(rows)]
        elif self._sources[number].arrives_once or call % self._acc == self._acc - 1:
            row = rows[0]
        else:
            return
        if row >= 0:
            engine.measure(Kind.GRAD_UNREDUCED, gradient, row)

    def is_gone(self, engine: Clock, number: int) -> None:
        """Somebody has taken the gradient away before it could be seen; told for the first such parameter."""
        if not self._is_gone_told:
            self._is_gone_told = True
            engine.not_observed(
                Kind.GRAD_UNREDUCED,
                f"{self._sources[number].name} (and maybe others)",
                "its gradient was taken away in an earlier hook, as optimizers that step inside backward do",
            )

    def begin(self) -> None:
        """A step begins, or a new attempt at the same one."""
        for i in range(len(self._calls)):
            self._calls[i] = 0
        self._witness = -1

    def finish_step(self) -> None:
        """After the first collected step, names the parameters whose gradient never came by."""
        was_published, self._series.is_published = self._series.is_published, True
        if was_published or not self._is_watching:
            return
        silent = [
            source.name
            for source, calls, rows in zip(self._sources, self._calls, self._rows)
            if not calls and rows and source.tensor.requires_grad
        ]
        if silent and not self._is_gone_told:
            self.engine.tell(f"no gradient arrived in the first collected step before reduction: {listed(silent)}")

    @abc.abstractmethod
    def is_abandoned(self) -> bool:
        """Whether gradients have arrived since the last step and been cleared again: that step is never taken."""

    def what_broke(self, table: SeriesTable | None, is_elsewhere: bool) -> str:
        """Which gradients of this attempt are not finite, in words; "" when none is. is_elsewhere: the results are
        still on a device, and go with the attempt."""
        if is_elsewhere:
            return "which of them had NaN or Inf is still on the device"
        if table is None:
            return ""
        seen = [row for row in dict.fromkeys(table.arrived) if table.flags[row]]
        broken = [row for row in seen if table.results[row]["finite"] != table.results[row]["numel"]]
        if not broken:
            return ""
        name = table.series[broken[0]].name
        return f"{len(broken)} of {len(seen)} had NaN or Inf, in backward the first was {name}"

    def refresh(self, optimizers: list[Any]) -> None:
        """Follows what has become of the parameters since the last collected step."""

    def rest(self, is_off: bool) -> None:
        """Nothing is collected from now on, until it is."""
        if is_off == self._is_resting:
            return
        self._is_resting = is_off
        engine = self._engine()
        if is_off:
            self.close()
        elif self._is_watching and engine is not None:
            self._frozen = []
            for number in range(len(self._sources)):
                self._install(engine, number)

    def close(self) -> None:
        """Removes the hooks."""
        for handles in self._handles:
            for handle in handles:
                handle.remove()
            handles.clear()
