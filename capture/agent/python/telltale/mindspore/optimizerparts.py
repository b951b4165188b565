# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Any, Callable

import numpy as np
from mindspore import Tensor

from ..agent import optimizerparts
from ..agent.clock import Clock
from ..bins import EDGES
from ..kinds import Kind
from ..series import SeriesTable
from .measure import Reader
from .sources import adam_of


class UpdatePart(optimizerparts.UpdatePart):
    """By numpy, on the moments in the host's memory (from a device they are fetched)."""

    def _one(self, engine: Clock, source: Any) -> None:
        """Whether there is an update, and of which step, can be a tensor that is still to come: the rows are added in
        any case, and stay empty where there is none."""
        m, v, parts = source.moment("exp_avg"), source.moment("exp_avg_sq"), source.adam_parts()
        reader = engine.measurer
        assert isinstance(reader, Reader)
        if m is None or v is None or m.size == 0 or m.shape != v.shape or not parts:
            return
        engine.table(Kind.UPDATE_RATIO)
        rows = []
        for kind in (Kind.UPDATE, Kind.UPDATE_RATIO):
            table, row = engine.table(kind), self._row(engine, kind, source)
            table.arrived.append(row)
            rows += [(table, row), self._histogram_row(engine, kind, source) if table.bins is None else (table, -1)]

        def job(at: Callable[[SeriesTable], SeriesTable], first: Any, second: Any, *read: Any) -> None:
            left = iter(read)
            steps, betas, eps = adam_of([next(left) if isinstance(part, Tensor) else part for part in parts])
            for i, found in enumerate(self.moved(first, second, steps, betas, eps) if steps >= 1 else ()):
                (table, row), (histograms, place) = rows[2 * i : 2 * i + 2]
                if row >= 0:
                    reader.read_array(found, at(table), row)
                if place >= 0:
                    at(histograms).put(place, *self.counts(found))

        there = [(table, row) for table, row in rows if row >= 0]
        reader.afterwards(there, job, m, v, *(part for part in parts if isinstance(part, Tensor)))

    def moved(self, m: Any, v: Any, steps: int, betas: tuple[float, float], eps: float) -> tuple[Any, Any]:
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = m.astype(np.float32) / np.float32(1 - betas[0] ** steps)
            root = np.sqrt(v.astype(np.float32) / np.float32(1 - betas[1] ** steps))
            ratio = mean / root
            ratio[(mean == 0) & (root == 0)] = 0
            return mean / (root + np.float32(eps)), ratio

    def counts(self, tensor: Any) -> Any:
        inside, _ = np.histogram(tensor, EDGES)
        return np.array([(tensor < -1).sum(), *inside, (tensor > 1).sum()], np.float64)
