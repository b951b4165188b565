# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a training's time is ours: the host's, in hooks and step boundaries of every monitor of the process."""

from __future__ import annotations

import functools
from time import perf_counter_ns
from typing import Any, Callable, TypeVar, cast

from ..budget import Budget

_Call = TypeVar("_Call", bound=Callable[..., Any])
is_compiling: Callable[[], bool] = bool  # whether the code runs to be compiled, as a framework says that may do so
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
        if is_compiling():  # a clock would break the graph
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


class BudgetedSteps:
    """What each single step took of the training's time, for a budget to decide by. Thread: training."""

    def __init__(self, percent: float, interval: int) -> None:
        self.budget = Budget(percent, interval)
        self._boundary = self._spent = 0  # at it; no time = no step has ended
        self._rare = 0
        self.enters()

    def forget(self) -> None:
        """What comes next does not follow what was."""
        self._boundary = 0

    def enters(self) -> None:
        """The visit in which the step may end begins."""
        self._entered, self._spent_entered = perf_counter_ns(), spent.ns

    def step_ends(self, is_collected: bool, one_in: int = 1) -> tuple[str, str] | None:
        """Before the next one is decided on; as Budget.step_ended(). one_in: where most steps are measured for the
        flight recorder alone, and one in so many for the config, too: what that takes counts with the others."""
        now, ours = self._now()
        elapsed = now - self._boundary if self._boundary else 0
        cost = ours - self._spent
        if one_in > 1:
            self._rare = cost // one_in
        elif is_collected:
            cost += self._rare
        news = self.budget.step_ended(is_collected, cost, elapsed)
        self._boundary, self._spent = now, ours
        return news

    def hooks_are_gone(self) -> None:
        """The step that has ended was collected and the next one is not: what it took to let go is of the former."""
        now, ours = self._now()
        self.budget.belongs_to_last(ours - self._spent)
        self._boundary, self._spent = now, ours

    def _now(self) -> tuple[int, int]:
        """The time, and what was ours until then; cost.spent has nothing of the visit in progress."""
        now = perf_counter_ns()
        return now, max(spent.ns, self._spent_entered + now - self._entered)
