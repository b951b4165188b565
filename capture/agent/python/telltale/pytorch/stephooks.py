# SPDX-License-Identifier: GPL-3.0-or-later
"""The engine's hooks on the model itself and on the inner optimizers."""

from __future__ import annotations

import weakref
from typing import Any, Callable

from ..agent.clock import Clock
from ..agent.cost import timed
from ..agent.hooks import Hook
from .compiled import is_recording


class RootHook(Hook):
    """Forward pre-hook of the model itself: a new micro step begins."""

    __slots__ = ("_engine",)

    def __init__(self, engine: weakref.ReferenceType[Clock]) -> None:
        self._engine = engine

    def __call__(self, _module: Any, _args: Any) -> None:
        engine = None if is_recording() else self._engine()
        if engine is not None and not engine.is_counted_outside:
            engine.forward_begins()
        return None


class StepHook(Hook, is_timed=False):
    """Step pre- or post-hook of one optimizer. While nothing is collected it only counts steps: a clock to time that by
    would take longer."""

    __slots__ = ("_engine", "_kept", "_numbers", "_only", "_is_before")

    def __init__(self, engine: weakref.ReferenceType[Clock], numbers: dict[int, int], is_before: bool) -> None:
        """numbers: the optimizer's units, by the flat parameter that is in its groups while it steps them."""
        self._engine = engine
        self._kept = engine()  # as long as the optimizer lives: nobody else may have kept the monitor
        self._numbers = numbers
        self._only = numbers.get(0, -1)
        self._is_before = is_before

    def _number_of(self, optimizer: Any) -> int:
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                number = self._numbers.get(id(parameter))
                if number is not None:
                    return number
        return -1

    def __call__(self, optimizer: Any, args: Any, kwargs: Any) -> Any:
        engine = self._engine()
        if engine is None:
            return None
        if engine.is_idle and self._is_before:
            return None
        number = self._only if self._only >= 0 else self._number_of(optimizer)
        if number < 0:
            return None
        if engine.is_idle:
            engine.idle_step_of(number)
            return None
        return self._tell(engine, number, optimizer, args, kwargs)

    @timed
    def _tell(self, engine: Clock, number: int, optimizer: Any, args: Any, kwargs: Any) -> Any:
        if not self._is_before:
            engine.after_step_of(number, optimizer)
            self._stop_if_asked(engine)
            return None
        engine.step_begins(number, optimizer)
        changed = after_closure(args, kwargs, lambda: timed(engine.gradients_ready)(number, optimizer))
        if changed is None:
            engine.gradients_ready(number, optimizer)
            self._stop_if_asked(engine)
        return changed

    @staticmethod
    def _stop_if_asked(engine: Clock) -> None:
        """Ends the training where the config asks for it."""
        if engine.stop_because is not None:
            because, engine.stop_because = engine.stop_because, None
            raise because


def after_closure(args: Any, kwargs: Any, read: Callable[[], None]) -> Any:
    """What step() is to be called with so that read() follows its closure, which computes the gradients inside of it:
    at its last call they are what the optimizer consumes. None where step() has no closure."""
    if callable(kwargs.get("closure")):
        return args, dict(kwargs, closure=_followed(kwargs["closure"], read))
    if len(args) > 1 and callable(args[1]):
        return (args[0], _followed(args[1], read), *args[2:]), kwargs
    return None


def _followed(closure: Callable[[], Any], read: Callable[[], None]) -> Callable[[], Any]:
    def read_after() -> Any:
        result = closure()
        read()
        return result

    return read_after


def hook_steps(engine: weakref.ReferenceType[Clock], optimizer: Any, numbers: dict[int, int]) -> list[Any]:
    """Hooks an optimizer's steps; the handles."""
    return [
        optimizer.register_step_pre_hook(StepHook(engine, numbers, True)),
        optimizer.register_step_post_hook(StepHook(engine, numbers, False)),
    ]
