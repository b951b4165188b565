# SPDX-License-Identifier: GPL-3.0-or-later
"""Another training's signs, beside which this one's are held while it runs: the rule speaks at the step where it goes
wrong."""

from __future__ import annotations

import math
import os

from .probefolder import numbered
from .signfile import ProbeError, equal_signs, open_signs
from .signrule import is_suspicious, reason


class Reference:
    """The folder of one rank that grad_probe wrote. Thread: one."""

    def __init__(self, dump_path: str, rank: int) -> None:
        """Raises ProbeError."""
        ranks = numbered(dump_path, "rank")
        if rank not in ranks:
            raise ProbeError(f"{dump_path} has no folder rank{rank}")
        self._steps = numbered(ranks[rank], "step")
        self._before: dict[str, float] = {}
        self._found: set[str] = set()

    def has(self, step: int) -> bool:
        return step in self._steps

    def compare(self, step: int, path: str) -> float:
        """The share of equal signs of a file that has just been written, NaN where there is nothing to compare. Raises
        ProbeError."""
        mine, other = (open_signs(p) for p in (path, os.path.join(self._steps[step], os.path.basename(path))))
        return equal_signs(mine, other) / mine.numel if mine.numel else math.nan

    def verdict(self, name: str, similarity: float) -> str:
        """What the rule finds of a parameter at its next step, once; "" where it finds nothing."""
        if math.isnan(similarity):
            return ""
        before = self._before.get(name)
        self._before[name] = similarity
        if name in self._found or not is_suspicious(before, similarity):
            return ""
        self._found.add(name)
        return reason(before, similarity)
