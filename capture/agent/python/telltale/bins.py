# SPDX-License-Identifier: GPL-3.0-or-later
"""The bins of histograms: 30 equal ones over [-1, 1], as msprobe has them, and the two open ends; for
telltale.histogram signed ones by powers of two."""

from __future__ import annotations

import math

import numpy as np

INNER = 30
EDGES = np.linspace(-1.0, 1.0, INNER + 1)
ALL_EDGES = [-math.inf, *EDGES.tolist(), math.inf]
BINS = len(ALL_EDGES) - 1
DEFINITION = "elements a bin; 30 bins over [-1, 1]"

OCTAVES = 127  # TT_BINS of model/stats/stats.h
OCTAVES_DEFINITION = "elements a bin; signed bins by powers of two"


def _octave_edges() -> list[float]:
    """octaveEdges() of model/core/histogram.h."""
    exponents = [-134, -126, -64, *range(-60, -32, 4), *range(-32, 18), 127, 128]
    above = [math.ldexp(1.0, exponent) for exponent in exponents]
    below = [-math.nextafter(edge, 0.0) for edge in reversed(above)]
    return [-math.inf, *below, 0.0, 5e-324, *above[:-1], math.nextafter(above[-1], 0.0), math.inf]


OCTAVE_EDGES = _octave_edges()
assert len(OCTAVE_EDGES) == OCTAVES + 1


def edges_of(count: int) -> list[float]:
    """Of histograms that have as many bins."""
    return {BINS: ALL_EDGES, OCTAVES: OCTAVE_EDGES}[count]
