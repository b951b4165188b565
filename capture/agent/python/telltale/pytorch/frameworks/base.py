# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import torch

from ...agent.sources import Discovery
from ..sources import ParameterSource


@dataclass
class Context:
    """What an adapter may look at."""

    chunks: list[torch.nn.Module]
    chain: list[Any]  # everything on the way from what the user handed over to the torch optimizers
    owners: dict[int, torch.optim.Optimizer]  # by id(parameter)
    places: dict[int, tuple[torch.nn.Module, str]]  # id(parameter) -> the module that has it, and its name there
    found: Discovery

    def place(self, parameter: Any) -> tuple[weakref.ReferenceType[torch.nn.Module], str] | None:
        """Where a parameter lies, for noticing that it was replaced."""
        at = self.places.get(id(parameter))
        return (weakref.ref(at[0]), at[1]) if at is not None else None

    def note(self, sentence: str) -> None:
        """Says once what cannot be observed, or is less than asked for."""
        if sentence not in self.found.notes:
            self.found.notes.append(sentence)


class Adapter(ABC):
    """One framework's way of holding parameters. An instance belongs to one discovery."""

    framework = ""

    def __init__(self, context: Context) -> None:
        self.context = context

    @property
    def is_in_use(self) -> bool:
        """Whether any of the objects handed over are this framework's."""
        return False

    @abstractmethod
    def sources(self, name: str, parameter: Any, chunk: int) -> list[ParameterSource] | None:
        """What `parameter` stands for, None when it is not this framework's. One flat parameter gives many."""

    def finish(self) -> None:  # noqa: B027 - most frameworks have nothing to end
        """After all parameters: units, notes, accumulation steps."""
