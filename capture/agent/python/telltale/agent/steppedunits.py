# SPDX-License-Identifier: GPL-3.0-or-later
"""The optimizers of a job: hooks on their steps, what each of them steps, and which have stepped already."""

from __future__ import annotations

import weakref
from typing import Any, Callable

from .clock import Clock
from .part import Stepping
from .sources import Discovery, Source, Unit

# Hooks an optimizer's steps: the engine, the optimizer, and its units' numbers by their keys; gives the handles.
HookSteps = Callable[["weakref.ReferenceType[Clock]", Any, "dict[int, int]"], "list[Any]"]


class SteppedUnits:
    """Thread: training."""

    def __init__(self, hook_steps: HookSteps) -> None:
        self._hook_steps = hook_steps
        self.found = Discovery()
        self._units: list[Unit] = []
        self._owned: list[list[Source]] = []
        self._stepped: list[bool] = []
        self._handles: list[Any] = []
        self.are_several = False

    def stepping(self, number: int, optimizer: Any) -> Stepping:
        return Stepping(number, optimizer, self._owned[number])

    def has_stepped(self, number: int) -> bool:
        return self._stepped[number]

    def note_step(self, number: int) -> bool:
        """One has stepped; whether all have."""
        self._stepped[number] = True
        return all(self._stepped)

    def ends_step(self, number: int) -> int:
        """One has stepped, and nobody looked before it did; how many steps that ended: its last one, where it steps
        more often than the others, and this one."""
        ended = 0
        if self._stepped[number]:
            self.begin()
            ended = 1
        if self.note_step(number):
            self.begin()
            ended += 1
        return ended

    def begin(self) -> None:
        """None has stepped yet."""
        self._stepped = [False] * len(self._stepped)

    def hook(self, engine: weakref.ReferenceType[Clock]) -> None:
        """Hooks the steps of what was found, in place of hooks that are there."""
        self.unhook()
        self._units = _units_of(self.found)
        for optimizer in self.found.optimizers:
            numbers = {unit.key: i for i, unit in enumerate(self._units) if unit.optimizer is optimizer}
            self._handles += self._hook_steps(engine, optimizer, numbers)
        self._stepped = [False] * len(self._units)
        self.are_several = len(self._units) > 1

    def unhook(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def divide(self, found: Discovery) -> None:
        """Sorts the sources by the optimizer that steps them; those of none go with the first."""
        self.found = found
        owned: list[list[Source]] = [[] for _ in self._units] or [[]]
        for source in found.sources:
            if source.is_here:
                matches = (
                    i for i, unit in enumerate(self._units)
                    if unit.optimizer is source.optimizer and unit.key in (0, source.unit_key)
                )  # fmt: skip
                owned[next(matches, 0)].append(source)
        self._owned = owned

    def adopt(self, found: Discovery, must_stay_divided: bool) -> bool:
        """Other optimizers step the same parameters; False, and nothing has changed, when they divide them otherwise
        and that must not be."""
        before, units, owned = self.found, self._units, _names(self._owned)
        self._units = _units_of(found)
        self.divide(found)
        if must_stay_divided and owned != _names(self._owned):
            self._units = units
            self.divide(before)
            return False
        return True


def _units_of(found: Discovery) -> list[Unit]:
    return found.units or [Unit(optimizer) for optimizer in found.optimizers]


def _names(owned: list[list[Source]]) -> list[list[str]]:
    return [[source.name for source in part] for part in owned]
