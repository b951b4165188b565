# SPDX-License-Identifier: GPL-3.0-or-later
"""Gradients before data-parallel reduction, as torch's parameters have them and lose them."""

from __future__ import annotations

from typing import Any

from ..agent.clock import Clock
from ..agent.part import Stepping
from ..agent.sources import Source
from ..agent.unreduced import UnreducedGradients
from ..kinds import Form
from .optimizers import owner_of
from .scaler import steps_under_grad_scaler, unscales_itself


class TorchGradients(UnreducedGradients):
    def __init__(self, engine: Clock, sources: list[Source]) -> None:
        super().__init__(engine, sources)
        self._groups: tuple[int, ...] | None = None
        self._places: list[tuple[int, dict[str, Any], str, Any]] | None = None

    def before_step(self, stepping: Stepping) -> None:
        """A loss scaler's gradients arrive scaled, whoever unscales them afterwards."""
        if not self._is_watching or self.engine.collected > 0:
            return
        if unscales_itself(stepping.optimizer) or steps_under_grad_scaler():
            self._series.amend(None, Form.SCALED)

    def is_abandoned(self) -> bool:
        if self._witness < 0:
            return False
        parameter = self._sources[self._witness].tensor
        return parameter.grad is None and getattr(parameter, "main_grad", None) is None

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
