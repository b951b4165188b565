# SPDX-License-Identifier: GPL-3.0-or-later
"""Metrics that have one value a parameter, head or expert. In the dashboard they are what they are of tensors, which
have views of their own; as metrics they would be hundreds of curves beside the loss."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from ...kinds import Kind, Stat
from ...slots import Slot

_NORMS = {"local_norm": Kind.GRAD_UNREDUCED, "adam_m_norm": Kind.EXP_AVG, "adam_v_norm": Kind.EXP_AVG_SQ}
_RANKS = ("weight_stable_rank", "weight_eigenvalue")
_HEAD = re.compile(r"max_attention_logit/(.+)/head_(\d+)")
_WHOLE = Slot()

Values = dict[tuple[str, Slot], tuple[float, ...]]


class TensorTable(NamedTuple):
    """Statistics of one kind by name and slot."""

    kind: Kind
    stats: tuple[Stat, ...]
    values: Values


EVERY = frozenset({Kind.GRAD_UNREDUCED, Kind.EXP_AVG, Kind.EXP_AVG_SQ, Kind.ATTENTION, Kind.LINEAR})


def split(metrics: Mapping[str, float], kinds: Collection[Kind] = EVERY) -> tuple[dict[str, float], list[TensorTable]]:
    """Metrics of the run, and what is of tensors, as far as it is of these kinds."""
    left: dict[str, float] = {}
    norms: dict[Kind, Values] = {}
    ranks: dict[str, dict[str, float]] = {}
    logits: Values = {}
    for tag, value in metrics.items():
        what, _, name = tag.partition("/")
        head = _HEAD.fullmatch(tag)
        if name and _NORMS.get(what) in kinds:
            norms.setdefault(_NORMS[what], {})[name, _WHOLE] = (value,)
        elif name and what in _RANKS and Kind.LINEAR in kinds:
            ranks.setdefault(name, {})[what] = value
        elif head is not None and Kind.ATTENTION in kinds:
            logits[head[1], Slot(head=int(head[2]))] = (value,)
        else:
            left[tag] = value
    tables = [TensorTable(kind, (Stat.NORM,), values) for kind, values in norms.items()]
    if logits:
        tables.append(TensorTable(Kind.ATTENTION, (Stat.MAX_LOGIT,), logits))
    if ranks:
        # A kernel's norm is the root of the largest eigenvalue of W^T W.
        pairs = {name: tuple(of.get(word, math.nan) for word in _RANKS) for name, of in ranks.items()}
        values: Values = {(name, _WHOLE): (rank, _root(eigen)) for name, (rank, eigen) in pairs.items()}
        tables.append(TensorTable(Kind.LINEAR, (Stat.STABLE_RANK, Stat.KERNEL_NORM), values))
    return left, tables


def _root(value: float) -> float:
    return math.sqrt(value) if value >= 0 else math.nan
