# SPDX-License-Identifier: GPL-3.0-or-later
"""The parts that a config asks for beside weights and gradients."""

from __future__ import annotations

from ..agent.activations import activations
from ..agent.features import Feature
from ..agent.optimizerparts import DirectionPart
from ..agent.recordparts import StackPart, StructPart
from ..agent.weightparts import linear, routers
from .attention import attentions
from .collectives import CommPart
from .matrices import NumpyMatrices
from .optimizerparts import UpdatePart

_MATRICES = NumpyMatrices()
# In the order in which they have their turn.
FEATURES: tuple[Feature, ...] = (
    (lambda config: config.xy_distribution, activations),
    (lambda config: True, attentions),
    (lambda config: True, lambda asked: linear(asked, _MATRICES)),
    (lambda config: True, lambda asked: routers(asked, _MATRICES)),
    (lambda config: config.cc_distribution.enable, lambda asked: [CommPart(asked.engine)]),
    (lambda config: config.stack_info, lambda asked: [StackPart(asked.engine, asked.chunks)]),
    (lambda config: config.print_struct, lambda asked: [StructPart(asked.engine, asked.chunks)]),
    (lambda config: config.mg_direction, lambda asked: [DirectionPart(asked.engine)]),
    (lambda config: config.ur_distribution, lambda asked: [UpdatePart(asked.engine)]),
)
