# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import weakref
from typing import Any, NamedTuple

from .clock import Clock
from .sources import Source


class Stepping(NamedTuple):
    """An optimizer that is about to step, or has just stepped."""

    number: int  # among those of the job
    optimizer: Any
    sources: list[Source]  # what it steps, as far as it is on this rank


class Part:
    """Something the engine collects: parameters, gradients, activations, attention... The engine keeps the time and
    asks no part what it is; a part overrides the moments that it needs, which come in this order. All but collect() and
    close() come only while something is collected. What one of those raises is counted by the engine, the third time
    ends the part's turns, and neither the training nor other parts notice. Hooks of a part see to that themselves.
    Thread: training."""

    what = "the optimizer step"  # is collected, in errors
    is_kept = False  # measured for the flight recorder alone

    def __init__(self, engine: Clock) -> None:
        self._engine = weakref.ref(engine)
        self._hooked: list[Any] = []

    @property
    def engine(self) -> Clock:
        """For the moments, in which it is there."""
        engine = self._engine()
        assert engine is not None
        return engine

    def collect(self, on: bool) -> None:
        """Collection begins or ends: hooks come and go."""
        if on and not self._hooked:
            self._hooked = self.hooks()
        elif not on:
            for handle in self._hooked:
                handle.remove()
            self._hooked = []

    def hooks(self) -> list[Any]:
        """Installs the part's hooks; their handles."""
        return []

    def hooked_modules(self) -> list[tuple[str, Any]]:
        """Name and module of all that want a forward hook."""
        return []

    def step_begins(self, stepping: Stepping) -> None:
        """An optimizer is about to step; a closure may still compute its gradients."""

    def before_step(self, stepping: Stepping) -> None:
        """The gradients that an optimizer is about to consume are there."""

    def after_step(self, stepping: Stepping) -> None:
        """An optimizer has stepped."""

    def finish_step(self) -> None:
        """Every optimizer has stepped; the step's values are published right after."""

    @property
    def is_divided(self) -> bool:
        """Whether there are rows that stand for the parameters of one optimizer as they are divided among those now."""
        return False

    def close(self) -> None:
        """The config changes or the watch ends."""
        self.collect(False)
