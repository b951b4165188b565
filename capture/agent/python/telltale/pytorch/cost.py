# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a training's time is ours: the host's, in hooks and step boundaries of every monitor of the process."""

from __future__ import annotations

import functools
from time import perf_counter_ns
from typing import Any, Callable, TypeVar, cast

import torch

_Call = TypeVar("_Call", bound=Callable[..., Any])
_is_compiling = getattr(torch.compiler, "is_dynamo_compiling", torch.compiler.is_compiling)  # the quicker one
_TELL_NS = 100_000_000


class _Spent:
    """Thread: any. Where two threads are inside at once, the time counts once, or a little of it not at all."""

    __slots__ = ("ns",)

    def __init__(self) -> None:
        self.ns = 0


spent = _Spent()


def timed(call: _Call) -> _Call:
    """Counts the time that a call takes as ours. What is timed inside of it has been counted by then and gives way to
    the whole. To be put where the training calls us, around nothing of the training's own. Takes no keywords: a hook
    gets none, and they would take as long as a reading of the clock."""

    @functools.wraps(call)
    def run(*args: Any) -> Any:
        if _is_compiling():  # a clock would break the graph
            return call(*args)
        before, since = spent.ns, perf_counter_ns()
        try:
            return call(*args)
        finally:
            now = before + perf_counter_ns() - since
            if now > spent.ns:
                spent.ns = now

    return cast(_Call, run)


class StepCost:
    """Thread: training."""

    def __init__(self) -> None:
        self._since = self._spent = self._steps = 0  # of what is not told yet; no time = no step has ended

    def step_ends(self, tell: Callable[[int, int, int], None]) -> None:
        """tell(what was ours, how long it took, how many steps it was), now and then."""
        now = perf_counter_ns()
        self._steps += 1
        if self._since and now - self._since < _TELL_NS:
            return
        if self._since:
            tell(spent.ns - self._spent, now - self._since, self._steps)
        self._since, self._spent, self._steps = now, spent.ns, 0
