# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import weakref
from functools import partial
from typing import Any

from ..agent import engine
from ..agent.sources import Source
from ..config import MonitorConfig
from ..console import log
from ..kinds import Kind
from . import executor
from .framework import MindSpore
from .hooks import RootHook, hook_steps
from .late import worker
from .measure import Reader
from .unreduced import SummedGradients

_latest: list[weakref.ref[Engine]] = []  # made last: a worker outlives the engine that had it made


def _tell_latest(error: BaseException) -> None:
    """Thread: the worker."""
    latest = _latest[0]() if _latest else None
    if latest is not None:
        latest.training_failed(error)


class Engine(engine.Engine):
    """What of the engine is MindSpore's."""

    framework = MindSpore()
    hook_steps = staticmethod(hook_steps)
    measurer: Reader

    def __init__(self, config: MonitorConfig, measurer: Reader, rank: int) -> None:
        super().__init__(config, measurer, rank)
        self.dispatcher.make_worker = partial(worker, failed=_tell_latest)
        _latest[:] = [weakref.ref(self)]
        measurer.refuse, measurer.failed = self._refused, self.training_failed

    def make_gradients(self, sources: list[Source]) -> SummedGradients:
        return SummedGradients(self, sources)

    def hook_forward(self) -> Any:
        for root in self.roots[:1]:
            called = getattr(root, "first", root)  # several nets by name: the first of them counts the micro steps
            if not executor.is_graph_mode():
                return self.framework.before_forward(called, RootHook(self.reference))
        return None

    def gradients_given(self, optimizer: Any, given: tuple[Any, ...]) -> None:
        """An optimizer was called with these arguments: the gradients stand beside its parameters."""
        gradients = given[0] if given and isinstance(given[0], (tuple, list)) else ()
        by_parameter = {id(p): gradient for p, gradient in zip(optimizer.parameters, gradients)}
        if self.collecting and len(gradients) != len(optimizer.parameters):
            self.not_observed(
                Kind.GRAD_REDUCED,
                "some parameters",
                f"the optimizer has {len(optimizer.parameters)} and was called with {len(gradients)} gradients",
            )
        for source in self.found.sources:
            if source.optimizer is optimizer:
                source.given = by_parameter.get(id(source.tensor))  # type: ignore[attr-defined]

    def step_begins(self, number: int, optimizer: Any) -> None:
        self.measurer.copies_hold(True)
        try:
            super().step_begins(number, optimizer)
        except BaseException:
            self.measurer.copies_hold(False)  # nobody comes to gradients_ready()
            raise

    def gradients_ready(self, number: int, optimizer: Any) -> None:
        try:
            super().gradients_ready(number, optimizer)
        finally:
            self.measurer.copies_hold(False)

    def after_step_of(self, number: int, optimizer: Any) -> None:
        self.measurer.copies_hold(True)
        try:
            super().after_step_of(number, optimizer)
        finally:
            self.measurer.copies_hold(False)
        for source in self.found.sources:
            if source.optimizer is optimizer:
                source.given = None  # type: ignore[attr-defined]  # they are the training's, and are to go

    def training_failed(self, error: BaseException) -> None:
        """What the training launched could not be run, and the worker was the first to wait for it: the exception is
        the training's, which gets it where the next optimizer or forward pass begins. Thread: the worker."""
        if self.stop_because is None:
            self.stop_because = error
            log.warning("MindSpore could not run what the training launched, which ends with the next call: %s", error)
