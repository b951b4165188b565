# SPDX-License-Identifier: GPL-3.0-or-later
"""The parameters of a net, and what its optimizers hold for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from mindspore import Tensor, nn

from ..agent.clock import Clock
from ..agent.sources import Discovery, Source
from ..agent.targets import TargetSet
from ..kinds import DType
from . import executor
from .framework import MindSpore
from .hooks import GradientHook
from .measure import DTYPES
from .shell import Shell

# What an optimizer calls its moments: tuples that stand beside its parameters. Their own names are no way to find them.
_MOMENTS = {
    "exp_avg": ("moments1", "moment1", "exp_avg"),
    "exp_avg_sq": ("moments2", "moment2", "exp_avg_sq"),
}
_MOST_DEEP = 4


class CellParameter(Source):
    """One parameter. Its gradient is what the optimizer was called with."""

    def __init__(self, name: str, parameter: Any, optimizer: Any, place: int, chunk: int) -> None:
        """place: among the optimizer's parameters."""
        super().__init__(name, parameter, optimizer, chunk)
        self._at = place
        self.given: Any = None  # what the optimizer is called with now

    def parameter(self) -> Any:
        return self.tensor

    def gradient(self) -> Any:
        return self.given

    def moment(self, which: str) -> Any:
        for name in _MOMENTS[which]:
            moments = getattr(self.optimizer, name, None)
            if isinstance(moments, (tuple, list)) and self._at < len(moments):
                found = moments[self._at]
                return found if tuple(found.shape) == tuple(self.tensor.shape) else None
        return None

    def adam(self) -> tuple[int, tuple[float, float], float]:
        return adam_of([each.asnumpy() if isinstance(each, Tensor) else each for each in self.adam_parts()])

    def adam_parts(self) -> list[Any]:
        """What adam() is made of, in numbers and tensors: steps taken, both betas, eps; [] where there is none."""
        optimizer = self.optimizer
        steps = getattr(optimizer, "state_step", getattr(optimizer, "global_step", None))
        found = [getattr(optimizer, name, None) for name in ("beta1", "beta2", "eps")]
        for group in getattr(optimizer, "param_groups", ()):
            if "betas" in group and any(entry is self.tensor for entry in group["params"]):
                found = [*group["betas"], group.get("eps", 0.0)]
        parts = [steps, *(0.0 if i == 2 and not _is_number(each) else each for i, each in enumerate(found))]
        return parts if all(map(_is_number, parts)) else []

    def watch_unreduced(self, engine: Clock, number: int) -> list[Any]:
        if not self.tensor.requires_grad:
            return []
        return [self.tensor.register_hook(Shell(GradientHook(engine.reference, number)))]

    def element_type(self) -> tuple[DType, str]:
        return DTYPES.get(self.tensor.dtype, DType.UNKNOWN), str(self.tensor.dtype)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, Tensor) and value.size == 1)


def adam_of(parts: list[Any]) -> tuple[int, tuple[float, float], float]:
    """Steps taken, betas and eps of adam_parts() whose tensors have been read."""
    if not parts:
        return 0, (0.0, 0.0), 0.0
    steps, first, second, eps = (float(np.asarray(part).reshape(-1)[0]) for part in parts)
    return int(steps), (first, second), eps


def optimizers_in(thing: Any, depth: int = 0) -> list[Any]:
    """The optimizers in what the user hands over: themselves, lists of them, and what wraps one."""
    if isinstance(thing, (list, tuple)):
        return [found for entry in thing for found in optimizers_in(entry, depth)]
    inner = getattr(thing, "optimizer", None)
    if isinstance(inner, nn.Cell) and depth < _MOST_DEEP:
        return optimizers_in(inner, depth + 1)
    has_parameters = isinstance(getattr(thing, "parameters", None), (list, tuple))
    return [thing] if isinstance(thing, nn.Cell) and has_parameters else []


def discover(framework: MindSpore, chunks: list[Any], optimizer: Any, targets: TargetSet) -> Discovery:
    """Every selected parameter, in the net's order, with the optimizer that steps it."""
    found = Discovery("mindspore")
    given = [optimizer] if optimizer is not None else [getattr(chunk, "optimizer", None) for chunk in chunks]
    if executor.is_graph_mode():
        found.notes.append(
            "the context is GRAPH mode: nets are compiled whole, and a hook would become part of what is compiled, so "
            "none is put anywhere; mindspore.set_context(mode=mindspore.PYNATIVE_MODE) makes a net one that can be "
            "looked into"
        )
        return found
    found.optimizers = list({id(one): one for one in optimizers_in(given)}.values())
    if not found.optimizers:
        found.notes.append(
            "no MindSpore optimizer was handed over, and a step is one of its calls: nothing is stored until "
            "watch(net, optimizer) names it"
        )
    places = {id(p): (one, i) for one in found.optimizers for i, p in enumerate(one.parameters)}
    for number, chunk in enumerate(chunks):
        below = {id(p) for one in found.optimizers for p in (one.get_parameters() if one is not chunk else ())}
        for name, parameter in framework.parameters(chunk):
            is_state = id(parameter) in below and id(parameter) not in places  # of an optimizer that a net holds
            if not is_state and targets.selects(name, number):
                owner, place = places.get(id(parameter), (None, 0))
                found.sources.append(CellParameter(name, parameter, owner, place, number))
    return found
