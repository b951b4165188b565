# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import functools
from typing import Any, Callable

from ..agent.hooks import Hook


def _run(hook: Callable[..., None], *given: Any) -> None:
    hook(*given)


class Shell(Hook, is_timed=False):
    """What is registered on a cell. Where the cell runs inside of @jit, MindSpore's compiler reads the source of a
    hook's call and ends the training at what it cannot translate (a `try` is enough). This one it can: the partial
    object is a constant to it, which it leaves out."""

    __slots__ = ("f",)

    def __init__(self, hook: Callable[..., None]) -> None:
        self.f = functools.partial(_run, hook)

    def __call__(self, *a: Any) -> None:
        self.f(*a)
