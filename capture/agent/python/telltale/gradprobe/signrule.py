# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's reading of how alike the signs of a gradient are in two trainings: model/judge/signrule.h in Python."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

LEAST_AT_FIRST = 0.97  # SignVerdict::kLeastAtFirst
MOST_DROP = 0.03  # SignVerdict::kMostDrop


@dataclass(frozen=True)
class SignVerdict:
    """What the rule says of one weight: suspicious where fewer than 97 % of the signs are the same at the first step,
    or where the share falls by more than 0.03 from one step to the next that is known. Thread: any (values)."""

    first_step: int
    first: float
    least_step: int  # the earliest of the lowest
    least: float
    largest_drop: float  # from a step to the next; 0 where it never falls
    suspicious: int | None  # the first step at which the rule holds
    before: float | None = None  # what the share was at the step before that
    then: float = math.nan  # and at it

    @property
    def reason(self) -> str:
        """The end of a sentence, of a suspicious one."""
        return reason(self.before, self.then)


def is_suspicious(before: float | None, now: float) -> bool:
    """The rule itself; before: the share at the step before that is known, None at the first one."""
    return now < LEAST_AT_FIRST if before is None else before - now > MOST_DROP


def reason(before: float | None, now: float) -> str:
    """What is suspicious, as the end of a sentence."""
    if before is None:
        return f"only {now:.4g} of the signs are the same (below {LEAST_AT_FIRST} at first)"
    return f"the share of equal signs falls from {before:.4g} to {now:.4g} (a drop over {MOST_DROP})"


def judge(samples: Iterable[tuple[int, float]]) -> SignVerdict | None:
    """Of (step, similarity) by rising step; one that is no number is left out. None where none is left."""
    known = [(step, value) for step, value in samples if math.isfinite(value)]
    if not known:
        return None
    suspicious: int | None = None
    cause: tuple[float | None, float] = None, math.nan
    drop = 0.0
    before: float | None = None
    for step, value in known:
        drop = max(drop, 0.0 if before is None else before - value)
        if suspicious is None and is_suspicious(before, value):
            suspicious, cause = step, (before, value)
        before = value
    least_step, least = min(known, key=lambda one: (one[1], one[0]))
    return SignVerdict(*known[0], least_step, least, drop, suspicious, *cause)
