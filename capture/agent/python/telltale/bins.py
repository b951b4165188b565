# SPDX-License-Identifier: GPL-3.0-or-later
"""The bins of histograms: 30 equal ones over [-1, 1], as msprobe has them, and the two open ends."""

from __future__ import annotations

import numpy as np

BINS = 30
EDGES = np.linspace(-1.0, 1.0, BINS + 1)
DEFINITION = "elements a bin; 30 bins over [-1, 1]"


def _slots() -> list[str]:
    between = [f"[{a:.3f}, {b:.3f})" for a, b in zip(EDGES, EDGES[1:])]
    return ["[-inf, -1)", *between[:-1], between[-1][:-1] + "]", "(1, inf]"]


SLOTS = _slots()  # of the series of one histogram, in order
