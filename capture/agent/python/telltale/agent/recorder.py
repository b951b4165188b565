# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from typing import Any

Report = Callable[[str, BaseException], None]  # what, error


class Recorder(ABC):
    """A forward hook on every given module, for as long as something is recorded. Thread: the one that runs forward."""

    def __init__(self, modules: Iterable[tuple[str, Any]], report: Report | None = None) -> None:
        """modules: ("0:blocks.0", module); report: (what, error) of internal errors."""
        self._modules = list(modules)
        self._report = report
        self._handles: list[Any] = []

    def install(self, leave_out: Collection[int] = ()) -> None:
        """Hooks the modules but those whose id is in leave_out."""
        if not self._handles:
            self._handles = [self._hook(key, module) for key, module in self._modules if id(module) not in leave_out]

    def remove(self) -> None:
        """Takes the hooks off; what was recorded stays."""
        for handle in self._handles:
            handle.remove()
        self._handles = []

    @abstractmethod
    def _hook(self, key: str, module: Any) -> Any:
        """Hooks one module; returns the handle."""

    @abstractmethod
    def to_json(self) -> str:
        """What was recorded."""
