# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks that a model may be copied and pickled with."""

from __future__ import annotations

import weakref
from typing import Any, Callable

from .cost import timed


def inert(*_args: Any, **_kwargs: Any) -> None:
    """What a hook becomes in a copy of the model: nothing, so that a copy never reports into the original's run."""
    return None


class Hook:
    """Base of everything registered on modules, tensors and parameters. __call__ of a subclass returns None, never
    raises and keeps no tensor alive. One with kwargs may be called without them: when an earlier hook of the same call
    takes it away, torch calls it all the same and has forgotten that it has some."""

    __slots__ = ()

    def __init_subclass__(cls, is_timed: bool = True) -> None:
        """is_timed: its calls count as time that monitoring takes; else it counts them itself."""
        if is_timed and "__call__" in vars(cls):
            cls.__call__ = timed(cls.__call__)  # type: ignore[method-assign]

    def __deepcopy__(self, _memo: dict[int, Any]) -> Any:
        return inert

    def __copy__(self) -> Any:
        return inert

    def __reduce__(self) -> Any:
        return _make_inert, ()


class Call(Hook):
    """Calls a method of somebody who may be gone by then, with what is `given` before what the hook gets. The method
    never raises."""

    __slots__ = ("_method", "_given")

    def __init__(self, method: Callable[..., None], *given: Any) -> None:
        self._method = weakref.WeakMethod(method)
        self._given = given

    def call(self, *args: Any) -> None:
        method = self._method()
        if method is not None:
            method(*self._given, *args)

    def __call__(self, *args: Any) -> None:
        self.call(*args)
        return None


def _make_inert() -> Any:
    return inert
