# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import weakref
from typing import Any, Callable

from ..agent.hooks import Hook
from .compiled import is_recording


class Call(Hook):
    """Calls a method of somebody who may be gone by then, with what is `given` before what the hook gets. The method
    never raises."""

    __slots__ = ("_method", "_given")

    def __init__(self, method: Callable[..., None], *given: Any) -> None:
        self._method = weakref.WeakMethod(method)
        self._given = given

    def __call__(self, *args: Any) -> None:
        method = None if is_recording() else self._method()
        if method is not None:
            method(*self._given, *args)
        return None
