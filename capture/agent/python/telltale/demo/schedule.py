# SPDX-License-Identifier: GPL-3.0-or-later
"""The learning rate of a demo training, step by step."""

from __future__ import annotations

import math

SCHEDULES = ("cosine", "constant", "drop")
PEAK_RATE = 1e-3
LAST_RATE_SHARE = 0.1
WARMUP = 50
DROP_AT, DROP = 0.6, 0.1  # of the steps; factor


def learning_rate(step: int, steps: int, schedule: str = "cosine") -> float:
    """Linear warm-up, then half a cosine down to a tenth, the same rate on, or that until it drops to a tenth."""
    if step < WARMUP:
        return PEAK_RATE * (step + 1) / WARMUP
    if schedule == "constant":
        return PEAK_RATE
    if schedule == "drop":
        return PEAK_RATE * (DROP if step >= DROP_AT * steps else 1.0)
    wave = 0.5 * (1.0 + math.cos(math.pi * (step - WARMUP) / max(1, steps - WARMUP)))
    return PEAK_RATE * (LAST_RATE_SHARE + (1.0 - LAST_RATE_SHARE) * wave)
