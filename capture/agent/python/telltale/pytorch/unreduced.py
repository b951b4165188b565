# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradients before data-parallel reduction: which call of a hook is the one to measure, and into which row."""

from __future__ import annotations

from typing import Any

from ..kinds import Form, Kind
from ..names import listed
from ..series import SeriesTable
from .clock import Clock
from .optimizers import owner_of
from .part import Part, Stepping
from .scaler import steps_under_grad_scaler, unscales_itself
from .sources import ParameterSource


class UnreducedGradients(Part):
    """Thread: arrived() autograd's, each parameter on one at a time; everything else the training thread."""

    what = Kind.GRAD_UNREDUCED.word

    def __init__(self, engine: Clock, sources: list[ParameterSource]) -> None:
        super().__init__(engine)
        self._sources = sources
        self._acc = engine.grad_acc_steps
        self._series = engine.unreduced
        self._rows = self._series.rows
        self._calls = [0] * len(sources)
        self._handles: list[list[Any]] = [[] for _ in sources]
        self._witness = -1  # a parameter whose gradient arrived in this attempt at the step
        self._groups: tuple[int, ...] | None = None
        self._is_watching = False
        self._is_resting = False
        self._is_gone_told = False
        self._frozen: list[int] = []
        self._places: list[tuple[int, dict[str, Any], str, Any]] | None = None

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

    def _form(self, source: ParameterSource) -> Form:
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

    def before_step(self, stepping: Stepping) -> None:
        """A loss scaler's gradients arrive scaled, whoever unscales them afterwards."""
        if not self._is_watching or self.engine.collected > 0:
            return
        if unscales_itself(stepping.optimizer) or steps_under_grad_scaler():
            self._series.amend(None, Form.SCALED)

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

    def is_abandoned(self) -> bool:
        """Whether gradients have arrived since the last step and been cleared again: that step is never taken."""
        if self._witness < 0:
            return False
        parameter = self._sources[self._witness].tensor
        return parameter.grad is None and getattr(parameter, "main_grad", None) is None

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
        """Follows parameters that were replaced, unfrozen, or given to an optimizer since the last collected step."""
        engine = self._engine()
        if engine is None:
            return
        groups = tuple(len(group["params"]) for optimizer in optimizers for group in optimizer.param_groups)
        is_regrouped = self._groups is not None and groups != self._groups
        self._groups = groups
        if self._places is None:
            self._places = self._find_places()
        gone = [number for number, owner, key, tensor in self._places if owner.get(key) is not tensor]
        for number in gone:
            new = self._sources[number].replacement()
            if new is not None:
                self._follow(engine, number, new, optimizers)
                self._places = None
        if self._is_watching:
            for number in [n for n in self._frozen if self._sources[n].tensor.requires_grad]:
                self._frozen.remove(number)
                self._install(engine, number)
        if is_regrouped:
            owners = owner_of(optimizers)
            for source in self._sources:
                if source.place is not None:
                    source.optimizer = owners.get(id(source.tensor), source.optimizer)

    def _find_places(self) -> list[tuple[int, dict[str, Any], str, Any]]:
        """(number, the module's own table, key, parameter): compared at every collected step, so kept at hand."""
        found = []
        for number, source in enumerate(self._sources):
            module = source.place[0]() if source.place is not None else None
            if module is not None and source.place is not None:
                found.append((number, module._parameters, source.place[1], source.tensor))
        return found

    def _follow(self, engine: Clock, number: int, new: Any, optimizers: list[Any]) -> None:
        source = self._sources[number]
        old, source.tensor = source.tensor, new
        for handle in self._handles[number]:
            handle.remove()
        self._handles[number] = []
        owner = owner_of(optimizers).get(id(new))
        extra = ""
        if owner is None:
            extra = "; no optimizer steps the new one"
        else:
            source.optimizer = owner
        if new.shape != old.shape:
            extra += f"; its shape is now {tuple(new.shape)}, its series still says {tuple(old.shape)}"
        engine.tell(f"the parameter {source.name} was replaced; the new one is watched from step {engine.step}{extra}")
        if self._is_watching:
            self._install(engine, number)

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
