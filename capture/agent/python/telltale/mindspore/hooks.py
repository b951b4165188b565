# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks on cells, tensors, parameters and optimizers. All are objects: a function would be compiled into graphs."""

from __future__ import annotations

import weakref
from typing import Any

from ..agent.clock import Clock
from ..agent.hooks import Hook
from . import executor
from .shell import Shell


class Guarded(Hook, is_timed=False):
    """What leaves a gradient hook poisons every later gradient of the process, so nothing may, not even Ctrl-C: that
    ends the training once the optimizer has stepped."""

    __slots__ = ("_engine",)
    what = "the training"  # is looked at, in errors

    def __init__(self, engine: weakref.ReferenceType[Clock]) -> None:
        self._engine = engine

    def __call__(self, *given: Any) -> None:
        engine = self._engine()
        if engine is None:
            return None
        try:
            self.seen(engine, *given)
        except Exception as error:  # noqa: BLE001
            engine.strikes.add(self.what, error)
        except BaseException as error:  # noqa: BLE001
            engine.stop_because = error
        return None

    def seen(self, engine: Any, *given: Any) -> None:
        """What the hook is for."""


class Ending(Guarded):
    """Outside of every backward pass, what is to end the training may."""

    __slots__ = ()

    def __call__(self, *given: Any) -> None:
        super().__call__(*given)
        engine = self._engine()
        if engine is not None and engine.stop_because is not None and executor.backward_pass() < 0:
            because, engine.stop_because = engine.stop_because, None
            raise because


class RootHook(Ending):
    """Forward pre-hook of the net itself: a new micro step begins."""

    __slots__ = ()

    def seen(self, engine: Any, *given: Any) -> None:
        if not engine.is_counted_outside:
            engine.forward_begins()


class GradientHook(Guarded):
    """On a parameter: its gradient of this micro step, before any reduction."""

    __slots__ = ("_number",)
    what = "grad_unreduced"

    def __init__(self, engine: weakref.ReferenceType[Clock], number: int) -> None:
        super().__init__(engine)
        self._number = number

    def seen(self, engine: Any, *given: Any) -> None:
        engine.gradient_arrived(self._number, given[0])


class StepHook(Ending):
    """Forward pre- or post-hook of an optimizer, which is a Cell. While nothing is collected it only counts steps."""

    __slots__ = ("_kept", "_number", "_is_before")
    what = "the optimizer step"

    def __init__(self, engine: weakref.ReferenceType[Clock], number: int, is_before: bool) -> None:
        super().__init__(engine)
        self._kept = engine()  # as long as the optimizer lives: nobody else may have kept the monitor
        self._number = number
        self._is_before = is_before

    def seen(self, engine: Any, *given: Any) -> None:
        optimizer = given[0]
        if engine.is_idle:
            if not self._is_before:
                engine.idle_step_of(self._number)
            return
        if not self._is_before:
            engine.after_step_of(self._number, optimizer)
            return
        engine.gradients_given(optimizer, given[1])
        engine.step_begins(self._number, optimizer)
        engine.gradients_ready(self._number, optimizer)


def hook_steps(engine: weakref.ReferenceType[Clock], optimizer: Any, numbers: dict[int, int]) -> list[Any]:
    """Hooks an optimizer's steps; the handles."""
    number = numbers[0]
    return [
        optimizer.register_forward_pre_hook(Shell(StepHook(engine, number, True))),
        optimizer.register_forward_hook(Shell(StepHook(engine, number, False))),
    ]
