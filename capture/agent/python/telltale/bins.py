# SPDX-License-Identifier: GPL-3.0-or-later
"""The bins of histograms: 30 equal ones over [-1, 1], as msprobe has them, and the two open ends."""

from __future__ import annotations

import math

import numpy as np

INNER = 30
EDGES = np.linspace(-1.0, 1.0, INNER + 1)
ALL_EDGES = [-math.inf, *EDGES.tolist(), math.inf]
BINS = len(ALL_EDGES) - 1
DEFINITION = "elements a bin; 30 bins over [-1, 1]"
