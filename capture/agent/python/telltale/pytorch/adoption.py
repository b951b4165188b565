# SPDX-License-Identifier: GPL-3.0-or-later
"""Notices the optimizer that really steps the watched parameters: watch() may have been given none, or one that was
made anew since."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch.optim import optimizer as torch_optimizer

from ..agent.cost import timed
from ..agent.engine import Engine
from .compiled import is_recompute
from .optimizers import inner_optimizers


class Adoption:
    """A step pre-hook of every optimizer of the process; it looks at identities alone. Runs before the optimizer's own
    hooks, so that what is adopted here is measured from this very step on. Thread: training. Never raises."""

    def __init__(
        self, engine: Engine, handed_over: Callable[[], list[Any]], adopt: Callable[[list[Any], bool], None]
    ) -> None:
        """Methods of the same owner. handed_over: the optimizers that it was given; adopt: takes those that step the
        parameters instead, and whether there were others."""
        self._engine = weakref.ref(engine)
        self._handed_over = weakref.WeakMethod(handed_over)
        self._adopt = weakref.WeakMethod(adopt)
        self._seen: weakref.WeakSet[Any] = weakref.WeakSet()  # optimizers that need no second look
        self._last: Callable[[], Any] = lambda: None  # the one of them that stepped last
        register = getattr(torch_optimizer, "register_optimizer_step_pre_hook", None)
        self._handle = register(self) if register is not None else None

    def __call__(self, optimizer: Any, _args: Any, _kwargs: Any) -> None:
        if optimizer is not self._last():
            if optimizer not in self._seen:
                self._look(optimizer)
            self._last = weakref.ref(optimizer)
        return None

    @timed
    def _look(self, optimizer: Any) -> None:
        engine, handed_over, adopt = self._engine(), self._handed_over(), self._adopt()
        if engine is None or handed_over is None or adopt is None:
            return
        try:
            self._seen.add(optimizer)
            if any(optimizer is known for known in engine.found.optimizers) or optimizer in handed_over():
                return
            stepped = _parameters(optimizer)
            if stepped.isdisjoint(id(parameter) for root in engine.roots for parameter in root.parameters()):
                return  # another model's
            if is_recompute():
                engine.tell("an optimizer steps inside backward: what it makes of its parameters is not observed")
                return
            stay = [known for known in engine.found.optimizers if stepped.isdisjoint(_parameters(known))]
            adopt([*stay, *inner_optimizers(optimizer)], bool(engine.found.optimizers))
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add("the optimizer", error)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.remove()
            self._handle = None


def _parameters(optimizer: torch.optim.Optimizer) -> set[int]:
    return {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
