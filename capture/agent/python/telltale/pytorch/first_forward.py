# SPDX-License-Identifier: GPL-3.0-or-later
"""Models whose parameters come into being in their first forward (LazyLinear)."""

from __future__ import annotations

import weakref
from typing import Any, Callable

import torch
from torch.nn.parameter import UninitializedParameter

from ..agent.hooks import Hook
from ..console import log
from .compiled import is_recording


class _After(Hook):
    """Forward hook of the model itself: begins once no parameter is missing any more, then takes itself away."""

    __slots__ = ("_begin", "_chunks", "handle")

    def __init__(self, chunks: list[torch.nn.Module], begin: Callable[[], None]) -> None:
        self._chunks = [weakref.ref(chunk) for chunk in chunks]
        self._begin = weakref.WeakMethod(begin)
        self.handle: Any = None

    def __call__(self, _module: Any, _args: Any, _output: Any) -> None:
        if is_recording():
            return None
        try:
            chunks = [chunk for chunk in (reference() for reference in self._chunks) if chunk is not None]
            begin = self._begin()
            if begin is not None and any(map(_is_lazy, chunks)):
                return None
            self.handle.remove()
            if begin is not None:
                begin()
        except Exception as error:  # noqa: BLE001 - a monitor never ends a training
            log.warning("cannot watch the training: %s: %s", type(error).__name__, error)
        return None


def _is_lazy(chunk: torch.nn.Module) -> bool:
    return any(isinstance(parameter, UninitializedParameter) for parameter in chunk.parameters())


def is_awaited(chunks: list[torch.nn.Module], begin: Callable[[], None]) -> bool:
    """Whether a parameter is still to come; then `begin` (a method, held weakly) is called after the forward in which
    the last one has come."""
    if not chunks or not any(map(_is_lazy, chunks)):
        return False
    after = _After(chunks, begin)
    after.handle = chunks[0].register_forward_hook(after)
    return True
