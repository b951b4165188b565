# SPDX-License-Identifier: GPL-3.0-or-later
"""What the agent asks of a framework beside hooks."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any


class Framework(abc.ABC):
    """Thread: any. Nothing here waits for a device, but for what says so."""

    an_optimizer = "an optimizer"  # in sentences

    @abc.abstractmethod
    def modules(self, root: Any) -> Iterable[tuple[str, Any]]:
        """Every module at and below a root, by its dotted name ("" = the root)."""

    @abc.abstractmethod
    def parameters(self, root: Any) -> Iterable[tuple[str, Any]]:
        """Every parameter at and below a root, by its dotted name, each once."""

    @abc.abstractmethod
    def is_tensor(self, value: Any) -> bool:
        """Whether a value is a tensor of the framework."""

    @abc.abstractmethod
    def number(self, value: Any) -> float | None:
        """A tensor of one element on the host as a number, None where it is none."""

    def on_device(self, value: Any) -> Any:
        """A tensor of one element on a device, to be fetched without waiting for it; None where it is none."""
        return None

    @abc.abstractmethod
    def rates(self, optimizer: Any) -> list[float | None]:
        """The learning rates of an optimizer's groups; None where one cannot be told without waiting."""

    def has_gradients(self) -> bool:
        """Whether what runs now is recorded for a backward pass."""
        return True

    @abc.abstractmethod
    def backward_pass(self) -> int:
        """The number of the backward pass that this thread is in, -1 outside of one."""

    def unscales_itself(self, optimizer: Any) -> bool:
        """Whether an optimizer is given gradients as a loss scaler has scaled them."""
        return False
