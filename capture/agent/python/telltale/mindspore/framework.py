# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindspore import Tensor, nn

from ..agent.framework import Framework
from . import executor


class MindSpore(Framework):
    an_optimizer = "a MindSpore optimizer that is called"

    def modules(self, root: Any) -> Iterable[tuple[str, Any]]:
        return root.cells_and_names()

    def parameters(self, root: Any) -> Iterable[tuple[str, Any]]:
        return root.parameters_and_names()

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, Tensor)

    def number(self, value: Any) -> float | None:
        """Waits where the tensor is not there yet, as float() would: only what the program logs comes here."""
        return float(value.asnumpy().reshape(())) if value.size == 1 else None

    def rates(self, optimizer: Any) -> list[float | None]:
        return [_rate(optimizer, rate) for rate in rates_of(optimizer)]

    def has_gradients(self) -> bool:
        return executor.is_recorded()

    def backward_pass(self) -> int:
        return executor.backward_pass()


def rates_of(optimizer: Any) -> list[Any]:
    """The learning rates of an optimizer's groups: numbers, Parameters, or schedules to be asked with a step."""
    groups = getattr(optimizer, "param_groups", None)
    if groups:
        return [group.get("lr") for group in groups]
    rate = getattr(optimizer, "learning_rate", None)
    if isinstance(rate, (tuple, list, nn.CellList)):
        # One for each parameter: what stands for several of them stands there several times.
        return list({id(each): each for each in rate}.values())
    return [rate]


def _rate(optimizer: Any, rate: Any) -> float | None:
    if isinstance(rate, (int, float)):
        return float(rate)
    if isinstance(rate, Tensor):
        return float(rate.asnumpy().reshape(())) if rate.size == 1 else None
    if isinstance(rate, nn.Cell) and hasattr(rate, "learning_rate") and isinstance(rate.learning_rate, Tensor):
        table, step = rate.learning_rate.asnumpy(), int(optimizer.global_step.asnumpy().reshape(()))
        return float(table[min(step, len(table) - 1)]) if table.ndim == 1 and len(table) else None
    return None
