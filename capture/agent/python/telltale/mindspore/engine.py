# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any

from ..agent import engine
from ..agent.cost import timed
from ..agent.sources import Source
from ..kinds import Kind
from . import executor
from .framework import MindSpore
from .hooks import RootHook, hook_steps
from .measure import Reader
from .unreduced import SummedGradients


class Engine(engine.Engine):
    """What of the engine is MindSpore's."""

    framework = MindSpore()
    hook_steps = staticmethod(hook_steps)
    measurer: Reader

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
        self._settle()
        super().step_begins(number, optimizer)

    def after_step_of(self, number: int, optimizer: Any) -> None:
        super().after_step_of(number, optimizer)
        for source in self.found.sources:
            if source.optimizer is optimizer:
                source.given = None  # type: ignore[attr-defined]  # they are the training's, and are to go

    @timed
    def _settle(self) -> None:
        """What the hooks have kept is read."""
        try:
            self.measurer.settle()
            while self.measurer.refused:
                self._refused(*self.measurer.refused.pop())
        except Exception as error:  # noqa: BLE001
            self.strikes.add("the tensors of this step", error)
