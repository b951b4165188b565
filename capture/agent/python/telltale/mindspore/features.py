# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that a config asks for beside weights and gradients."""

from __future__ import annotations

from ..agent.features import Feature
from ..agent.optimizerparts import DirectionPart

# In the order in which they have their turn.
FEATURES: tuple[Feature, ...] = ((lambda config: config.mg_direction, lambda asked: [DirectionPart(asked.engine)]),)
