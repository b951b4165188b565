# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agent asks of a framework beside hooks."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any, Callable, NamedTuple

from .graph import Graph


class Rate(NamedTuple):
    """A learning rate that follows from tensors, which may still be to come."""

    tensors: tuple[Any, ...]
    number: Callable[..., float | None]  # of what a measurer gives for them afterwards


class Framework(abc.ABC):
    """Thread: any. Nothing here waits for a device, but for what says so."""

    an_optimizer = "an optimizer"  # in sentences
    tensor: Any  # the type of all its tensors
    graph: Graph
    folder: str  # of its own files, with a separator at the end
    calls_leaves = True  # a hook on a leaf is called in every backward pass
    needs_gradient: Callable[[Any], bool]  # whether a tensor is to get a gradient

    @abc.abstractmethod
    def modules(self, root: Any) -> Iterable[tuple[str, Any]]:
        """Every module at and below a root, by its dotted name ("" = the root)."""

    @abc.abstractmethod
    def parameters(self, root: Any) -> Iterable[tuple[str, Any]]:
        """Every parameter at and below a root, by its dotted name, each once."""

    @abc.abstractmethod
    def number(self, value: Any, waits: bool = False) -> float | None:
        """A tensor of one element on the host as a number, None where it is none, or still to come. waits: for that."""

    def on_device(self, value: Any) -> Any:
        """A tensor of one element that is still to come, or on a device, to be fetched without waiting for it; None
        where it is none."""
        return None

    @abc.abstractmethod
    def rates(self, optimizer: Any) -> list[float | Rate | None]:
        """The learning rates of an optimizer's groups; None where one cannot be told without waiting."""

    def has_gradients(self) -> bool:
        """Whether what runs now is recorded for a backward pass."""
        return True

    @abc.abstractmethod
    def backward_pass(self) -> int:
        """The number of the backward pass that this thread is in, -1 outside of one."""

    def is_recording(self) -> bool:
        """Whether the code runs to be recorded or transformed: what passes then is no step of the training."""
        return False

    def beginning(self, given: Any) -> int:
        """Nodes of the graph with this number or a higher one are made inside the module whose call begins now."""
        return self.graph.next_number()

    def unhookable(self, roots: list[Any]) -> set[int]:
        """ids of the modules whose forward hooks would become part of compiled code."""
        return set()

    @abc.abstractmethod
    def is_called(self, module: Any) -> bool:
        """Whether a module is one that is called, and no mere list of others."""

    def wrapped(self, module: Any) -> Any:
        """The module that this one is but a wrapper of, which stands for both; None for every other one."""
        return None

    def is_training(self, module: Any) -> bool:
        """Whether a call of a module now is of the training, and no evaluation."""
        return bool(module.training)

    @abc.abstractmethod
    def described(self, tensor: Any) -> dict[str, Any]:
        """The fields of a SeriesDesc that are of the tensor."""

    def address(self, tensor: Any) -> int:
        """Where a tensor lies, 0 when that cannot be said."""
        return int(tensor.data_ptr())

    @abc.abstractmethod
    def before_forward(self, module: Any, hook: Callable[..., None], with_kwargs: bool = False) -> Any:
        """Calls a hook with (module, args[, kwargs]) before a module runs; the handle."""

    @abc.abstractmethod
    def after_forward(self, module: Any, hook: Callable[..., None], with_kwargs: bool = False) -> Any:
        """Calls a hook with (module, args[, kwargs], output) when a module has run; the handle."""

    @abc.abstractmethod
    def on_gradient(self, tensor: Any, hook: Callable[[Any], None]) -> Any:
        """Calls a hook with the gradient of a tensor; the handle."""

    @abc.abstractmethod
    def is_leaf(self, tensor: Any) -> bool:
        """Whether a tensor is no result of an operation and lives on after a step."""

    def local(self, tensor: Any) -> Any:
        """The part of a distributed tensor that lies on this rank; a plain tensor itself. Never a collective."""
        return tensor

    def stream_of(self, tensor: Any) -> Any:
        """What tells the streams of a device apart."""
        return None

    @abc.abstractmethod
    def added(self, total: Any, tensor: Any) -> Any:
        """The sum of both, which is nobody else's; of a first tensor a copy."""

    def unscales_itself(self, optimizer: Any) -> bool:
        """Whether an optimizer is given gradients as a loss scaler has scaled them."""
        return False
