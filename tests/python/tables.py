# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables and frames made by hand, for tests of what is done with them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from telltale.config import MonitorConfig
from telltale.kinds import DType, Kind, Stat
from telltale.series import PRESENT, STATS, Frame, SeriesDesc, SeriesTable
from telltale.sinks.base import RunContext
from telltale.slots import Role, Slot

SIX = ["min", "max", "mean", "norm", "zeros", "nans"]


def statistics(values: Any, eps: float = 1e-8) -> np.ndarray:
    """A STATS record of an array, by its definitions."""
    x = np.asarray(values, np.float64).ravel()
    good = x[np.isfinite(x)]
    out = np.zeros((), STATS)
    out["numel"], out["finite"] = x.size, good.size
    out["sum"], out["sumsq"] = math.fsum(good), math.fsum(good * good)
    out["norm"] = math.sqrt(out["sumsq"])
    out["zero_count"] = np.count_nonzero(np.abs(x) < eps)
    out["nans"] = np.count_nonzero(np.isnan(x))
    out["pos_infs"], out["neg_infs"] = np.count_nonzero(x == math.inf), np.count_nonzero(x == -math.inf)
    out["flags"] = PRESENT
    if good.size:
        out["mean"], out["min"], out["max"] = good.mean(), good.min(), good.max()
    return out


def slot_of(text: str) -> Slot:
    """The slot that has this text: slot_of("output@2")."""
    found = re.fullmatch(r"(input|output|pre|post|head)(?:_(\d+))?(?:@(\d+))?", text)
    if not found:
        return Slot.named(text) if text else Slot()
    word, number, call = found[1], int(found[2] or -1), int(found[3] or 1) - 1
    if word == "head":
        return Slot(head=number, call=call)
    return Slot(next(role for role in Role if role.word == word), number, call=call)


def desc(name: str, slot: str = "", micro: int = -1, shape: Sequence[int] = (2, 3), **more: Any) -> SeriesDesc:
    """A float32 series."""
    fields = {"dtype": DType.F32, "torch_dtype": "torch.float32", **more}
    return SeriesDesc(name, slot_of(slot), micro_step=micro, shape=tuple(shape), numel=math.prod(shape), **fields)


def table(kind: Kind, rows: Iterable[tuple[SeriesDesc, Any]], stats: tuple[Stat, ...] = ()) -> SeriesTable:
    """A table with these rows measured; a row whose values are None is not."""
    rows = list(rows)
    bin_count = len(rows[0][1]) if stats == (Stat.HIST,) else 0
    made = SeriesTable(kind, stats, capacity=max(len(rows), 1), bin_count=bin_count)
    for series, values in rows:
        row = made.add(series)
        if values is None:
            continue
        if stats:
            made.put(row, *values)
        else:
            made.results[row] = statistics(values)
    return made


def frame(step: int, *tables: SeriesTable, scalars: dict[str, float] | None = None) -> Frame:
    """What the tables hold, as a step."""
    shots = [made.snapshot() for made in tables]
    return Frame(step, [shot for shot in shots if shot is not None], scalars or {})


def context(rank: int = 0, info: dict[str, Any] | None = None, world_size: int = 1, **config: Any) -> RunContext:
    """A sink's context with these config fields; all six ops unless told otherwise."""
    config.setdefault("ops", list(SIX))
    mates = list(range(world_size))
    return RunContext(MonitorConfig(**config), rank, world_size, rank, mates, info=info or {})
