# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import _thread
import os
from collections.abc import Iterable
from operator import attrgetter
from typing import Any, Callable

import mindspore
import numpy as np
from mindspore import Tensor, nn

from ..agent.activations import tensors_in
from ..agent.framework import Framework, Rate
from ..agent.graph import Graph
from ..console import log
from . import executor, scalers
from .measure import described
from .shell import Shell


def _origin(tensor: Any) -> tuple[Any, int]:
    return tensor._grad_node, tensor._output_index


def _key(node: Any) -> Any:
    return node._unique_id()  # two objects may stand for one node


def _number(node: Any) -> int:
    return int(node._sequence_nr())


def _on_node(node: Any, hook: Callable[..., None]) -> None:
    node.register_hook(_Shielded(hook))


GRAPH = Graph(
    origin=_origin,
    key=_key,
    number=_number,
    following=attrgetter("next_functions"),
    is_leaf=lambda node: node.is_leaf(),
    leaf=lambda node: None,
    next_number=lambda: 0,
    on_node=_on_node,
)


class MindSpore(Framework):
    an_optimizer = "a MindSpore optimizer that is called"
    tensor = Tensor
    graph = GRAPH
    calls_leaves = False  # not in the backward pass of a recomputed block, whose inputs are leaves there
    folder = os.path.dirname(mindspore.__file__) + os.sep
    needs_gradient = staticmethod(attrgetter("_requires_grad"))

    def __init__(self) -> None:
        self._highest = -1  # number of a node that was seen

    def modules(self, root: Any) -> Iterable[tuple[str, Any]]:
        return ((name, cell) for name, cell in root.cells_and_names() if "_recompute_cell" not in name)

    def parameters(self, root: Any) -> Iterable[tuple[str, Any]]:
        return root.parameters_and_names()

    def number(self, value: Any, waits: bool = False) -> float | None:
        return _first(value.asnumpy()) if value.size == 1 and (waits or executor.is_blocking()) else None

    def on_device(self, value: Any) -> Any:
        if not isinstance(value, Tensor) or value.size != 1:
            return None
        with executor.no_grad():
            return Tensor.copy(value)  # what it is now; of a Parameter its own copy() would wait

    def rates(self, optimizer: Any) -> list[float | Rate | None]:
        return [_rate(optimizer, rate) for rate in rates_of(optimizer)]

    def unhookable(self, roots: list[Any]) -> set[int]:
        found = (cell for root in roots for _, cell in root.cells_and_names()) if executor.is_graph_mode() else ()
        return {id(cell) for cell in found}

    def is_called(self, module: Any) -> bool:
        return _is_called(module)

    def is_training(self, module: Any) -> bool:
        return executor.is_recorded() or bool(module.training)  # set_train() is off at first

    def described(self, tensor: Any) -> dict[str, Any]:
        return described(tensor)

    def address(self, tensor: Any) -> int:
        """Asking for that of a tensor which is not there yet would wait for it."""
        return int(tensor.data_ptr()) if executor.is_blocking() else 0

    def beginning(self, given: Any) -> int:
        """Nothing says which node is the next one. All that the inputs came from is older, and so is what has been
        seen of the graph."""
        if given is None:
            return -1
        for tensor in tensors_in(Tensor, given):
            node = tensor._grad_node if tensor._requires_grad else None
            if node is not None and not node.is_leaf():
                self._highest = max(self._highest, node._sequence_nr())
        return self._highest + 1

    def before_forward(self, module: Any, hook: Callable[..., None], with_kwargs: bool = False) -> Any:
        return module.register_forward_pre_hook(Shell(hook), with_kwargs=with_kwargs)

    def after_forward(self, module: Any, hook: Callable[..., None], with_kwargs: bool = False) -> Any:
        return module.register_forward_hook(Shell(hook), with_kwargs=with_kwargs)

    def on_gradient(self, tensor: Any, hook: Callable[[Any], None]) -> Any:
        return tensor.register_hook(_Shielded(hook))

    def is_leaf(self, tensor: Any) -> bool:
        return bool(tensor._is_leaf)

    def unscales_itself(self, optimizer: Any) -> bool:
        return scalers.unscales_itself(optimizer)

    def added(self, total: Any, tensor: Any) -> Any:
        with executor.no_grad():
            return tensor.copy() if total is None else total + tensor

    def has_gradients(self) -> bool:
        return executor.is_recorded()

    def backward_pass(self) -> int:
        return executor.backward_pass()


def _is_called(cell: Any) -> bool:
    """CellList and CellDict are never called, nor is what recomputes a cell's body one of the net's own."""
    return type(cell).construct is not nn.Cell.construct and not isinstance(cell, (nn.CellList, nn.CellDict))


class _Shielded:
    """A gradient hook out of which nothing comes: it would poison every later gradient of the process."""

    __slots__ = ("_hook",)

    def __init__(self, hook: Callable[..., None]) -> None:
        self._hook = hook

    def __call__(self, *given: Any) -> None:
        try:
            self._hook(*given)
        except Exception as error:  # noqa: BLE001
            log.warning("a hook on a gradient failed: %s: %s; training goes on", type(error).__name__, error)
        except BaseException:  # noqa: BLE001 - Ctrl-C, once more when backward is over
            executor.after_backward(_thread.interrupt_main)


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


def _rate(optimizer: Any, rate: Any) -> float | Rate | None:
    if isinstance(rate, (int, float)):
        return float(rate)
    if isinstance(rate, Tensor):
        return Rate((rate,), _first) if rate.size == 1 else None
    if isinstance(rate, nn.Cell) and hasattr(rate, "learning_rate") and isinstance(rate.learning_rate, Tensor):
        return Rate((rate.learning_rate, optimizer.global_step), _scheduled)
    return None


def _first(values: np.ndarray) -> float:
    return float(values.reshape(-1)[0])


def _scheduled(table: np.ndarray, step: np.ndarray) -> float | None:
    return float(table[min(int(_first(step)), len(table) - 1)]) if table.ndim == 1 and len(table) else None
