# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from gradients and moments: mg_direction, and Adam's update and update ratio."""

from __future__ import annotations

import abc
from typing import Any

from ..bins import DEFINITION
from ..kinds import Kind, Stat
from ..series import SeriesTable
from .clock import Clock
from .part import Part, Stepping

RATIO = "m^ / sqrt(v^), 0 where both are 0: such an element never had a gradient and is not moved"


class _OfParameters(Part):
    """Has a row per parameter, and no hooks."""

    def __init__(self, engine: Clock) -> None:
        super().__init__(engine)
        self._rows: dict[tuple[Kind, int], int] = {}

    def _row(self, engine: Clock, kind: Kind, source: Any) -> int:
        row = self._rows.get((kind, id(source)))
        if row is None:
            definition = RATIO if kind is Kind.UPDATE_RATIO else ""
            row = self._rows[kind, id(source)] = engine.table(kind).add(source.describe(definition=definition))
        return row


class DirectionPart(_OfParameters):
    """mg_direction: the share of elements whose gradient and momentum agree in sign, (mean(sign g * sign m) + 1) / 2;
    zeros and NaN count as half. No value where there is no momentum yet, or no gradient."""

    what = Kind.MG_DIRECTION.word

    def before_step(self, stepping: Stepping) -> None:
        engine = self.engine
        rows, pairs = [], []
        for source in stepping.sources:
            gradient, moment = source.gradient(), source.moment("exp_avg")
            if gradient is None or moment is None or gradient.numel() == 0:
                continue
            if gradient.shape != moment.shape or engine.measurer.refusal(gradient) or engine.measurer.refusal(moment):
                engine.not_observed(Kind.MG_DIRECTION, source.name, "its gradient and momentum do not match")
                continue
            row = self._row(engine, Kind.MG_DIRECTION, source)
            if row >= 0:
                rows.append(row)
                pairs.append((gradient, moment))
        engine.measurer.agreement(pairs, engine.table(Kind.MG_DIRECTION), rows)


class UpdatePart(_OfParameters, abc.ABC):
    """ur_distribution: statistics and histogram of Adam's update m^ / (sqrt(v^) + eps) and of the ratio m^ / sqrt(v^),
    of the moments that the step finds (m^ = m / (1 - beta1^t), v^ = v / (1 - beta2^t)). A ratio of 0 to 0 counts as 0:
    rows of an embedding that no batch has named are no NaN of the training. Needs memory for one parameter at a time.
    The histogram of a kind that telltale.histogram names is the one that comes with its statistics.
    """

    what = Kind.UPDATE.word

    def __init__(self, engine: Clock) -> None:
        super().__init__(engine)
        self._histograms: dict[tuple[Kind, int], int] = {}

    def before_step(self, stepping: Stepping) -> None:
        for source in stepping.sources:
            self._one(self.engine, source)

    def _one(self, engine: Clock, source: Any) -> None:
        m, v = source.moment("exp_avg"), source.moment("exp_avg_sq")
        if m is None or v is None or m.numel() == 0 or m.shape != v.shape:
            return
        steps, betas, eps = source.adam()
        if steps < 1:
            return
        mean, ratio = self.moved(m, v, steps, betas, eps)
        engine.table(Kind.UPDATE_RATIO)
        for kind, tensor in ((Kind.UPDATE, mean), (Kind.UPDATE_RATIO, ratio)):
            row = self._row(engine, kind, source)
            if row >= 0:
                engine.measure(kind, tensor, row)
                if engine.table(kind).bins is None:
                    self._histogram(engine, kind, source, self.counts(tensor))

    def _histogram(self, engine: Clock, kind: Kind, source: Any, counts: Any) -> None:
        table, row = self._histogram_row(engine, kind, source)
        if row >= 0:
            engine.put_tensor(table, [row], counts[None])

    def _histogram_row(self, engine: Clock, kind: Kind, source: Any) -> tuple[SeriesTable, int]:
        table = engine.extra_table(kind, (Stat.HIST,))
        row = self._histograms.get((kind, id(source)))
        if row is None:
            row = self._histograms[kind, id(source)] = table.add(source.describe(definition=DEFINITION))
            if row < 0:
                engine.not_observed(kind, f"the histogram of {source.name}", "there are too many series")
        return table, row

    @abc.abstractmethod
    def moved(self, m: Any, v: Any, steps: int, betas: tuple[float, float], eps: float) -> tuple[Any, Any]:
        """The update and the ratio of one parameter."""

    @abc.abstractmethod
    def counts(self, tensor: Any) -> Any:
        """The histogram of a tensor, in the bins of DEFINITION."""
