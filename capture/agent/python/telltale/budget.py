# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps what monitoring takes of the training's own time within telltale.overhead_budget."""

from __future__ import annotations

from collections import deque

FEWEST = 1024  # one in so many of the steps that the config selects
_ENOUGH, _MOST = 4, 8  # steps: for a decision; that are remembered
_SPARE = 0.7  # of the budget: more steps only where they would leave some of it
_BETWEEN_NEWS = 10_000_000_000  # nanoseconds of training


class Budget:
    """Says which of the steps that the config selects are collected, by what the last ones took. It asks no clock. The
    C++ agent's overheadbudget.h has the same rules; tests/data/overheadbudget.json is for both. Thread: training."""

    def __init__(self, percent: float, interval: int) -> None:
        """interval: the config selects each such step."""
        self._percent = percent
        self._interval = interval
        self.stride = 1
        self._is_over = False  # even with the fewest
        self._is_warm = False  # the first that was collected is over: it made series and touched memory first
        self._collected, self._idle, self._own = (deque[int](maxlen=_MOST) for _ in range(3))
        self._before = self._after = 0.0  # shares: before the last change, and since
        self._time = 0
        self._told = (1, False)
        self._told_at: int | None = None

    @property
    def every(self) -> int:
        """One step in so many is collected; 0 = all that the config selects."""
        return self.stride * self._interval if self.stride > 1 else 0

    def admits(self, step: int) -> bool:
        """Of a step that the config selects. By the step's number, so that what few admit, more admit, too, in every
        rank."""
        return step // self._interval % self.stride == 0

    def step_ended(self, is_collected: bool, cost: int, elapsed: int) -> tuple[str, str] | None:
        """elapsed: a step's length with `cost`, which is what monitoring took of it, in nanoseconds; 0 = not known.
        A sentence and a document for the run's log, where there is something to say."""
        self._time += elapsed
        is_first = is_collected and not self._is_warm
        self._is_warm = self._is_warm or is_collected
        if is_first or elapsed <= 0:
            return None
        self._own.append(max(elapsed - cost, 1))
        (self._collected if is_collected else self._idle).append(cost)
        if is_collected and len(self._collected) >= _ENOUGH:
            self._decide()
        return self._news()

    def belongs_to_last(self, cost: int) -> None:
        """More that the last collected step took, after its end."""
        if self._collected:
            self._collected[-1] += cost

    def _decide(self) -> None:
        collected, own = _median(self._collected), _median(self._own)
        idle = min(_median(self._idle), collected)

        def share(stride: int) -> float:
            return (idle + (collected - idle) / (stride * self._interval)) / own

        budget = self._percent / 100
        now = share(self.stride)
        most = budget if now > budget else _SPARE * budget
        stride = 1
        while stride < FEWEST and share(stride) > most:
            stride *= 2
        if now <= budget:
            stride = min(stride, self.stride)
        after = share(stride)
        is_over = stride == FEWEST and after > (_SPARE * budget if self._is_over else budget)
        if (stride, is_over) == (self.stride, self._is_over):
            return
        if stride != self.stride:
            self._collected.clear()  # what they take when they are fewer or more is measured anew
        self.stride, self._is_over = stride, is_over
        self._before, self._after = now, after

    def _news(self) -> tuple[str, str] | None:
        state = self.stride, self._is_over
        if state == self._told or (self._told_at is not None and self._time - self._told_at < _BETWEEN_NEWS):
            return None
        self._told, self._told_at = state, self._time
        side = "over" if self._before > self._percent / 100 else "within"
        every = self.stride * self._interval
        rest = ""
        if self._is_over:
            rest = f", which is the fewest there may be and still takes {_percent_text(self._after)}: collect less"
        return (
            f"monitoring takes {_percent_text(self._before)} of a step, {side} the budget of {self._percent:g} %: "
            f"{_every_text(every)} is collected{rest}",
            f'{{"overhead_budget": {self._percent:g}, "share": {self._before:.4g}, "every": {every}}}',
        )


def _median(recent: deque[int]) -> float:
    return sorted(recent)[len(recent) // 2] if recent else 0


def _percent_text(share: float) -> str:
    percent = 100 * share
    return f"{percent:.2g} %" if percent < 10 else f"{percent:.0f} %"


def _every_text(every: int) -> str:
    """ "every step", "every 2nd step"."""
    if every == 1:
        return "every step"
    last = 0 if every // 10 % 10 == 1 else every % 10
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(last, "th")
    return f"every {every}{suffix} step"
