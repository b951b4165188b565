# SPDX-License-Identifier: GPL-3.0-or-later
"""Hooks that a model may be copied and pickled with."""

from __future__ import annotations

from typing import Any


def inert(*_args: Any, **_kwargs: Any) -> None:
    """What a hook becomes in a copy of the model: nothing, so that a copy never reports into the original's run."""
    return None


class Hook:
    """Base of everything registered on modules, tensors and parameters. __call__ of a subclass returns None, never
    raises and keeps no tensor alive."""

    __slots__ = ()

    def __deepcopy__(self, _memo: dict[int, Any]) -> Any:
        return inert

    def __copy__(self) -> Any:
        return inert

    def __reduce__(self) -> Any:
        return _make_inert, ()


def _make_inert() -> Any:
    return inert
