# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of all parameters that an optimizer steps, in one call of the kernel: weights, moments, gradients."""

from __future__ import annotations

from typing import Any, Callable

from ..kinds import Form, Kind
from ..series import SeriesTable
from .clock import Clock
from .part import Part, Stepping
from .sources import Source


class _Rows:
    """Of one kind, for the parameters of one optimizer: a batch has consecutive rows. All are in the first one but what
    is frozen then and has nothing to show; it comes in a batch of its own once it trains."""

    def __init__(self, sources: list[Source]) -> None:
        self.batches: list[tuple[int, list[Source]]] = []
        self.waiting = sources


class _BatchPart(Part):
    def __init__(self, engine: Clock) -> None:
        super().__init__(engine)
        self._rows: dict[tuple[Kind, int], _Rows] = {}

    @property
    def is_divided(self) -> bool:
        return bool(self._rows)

    def _batch(
        self,
        kind: Kind,
        stepping: Stepping,
        pick: Callable[[Source], Any],
        form: Form = Form.NONE,
        of_frozen: bool = False,
    ) -> None:
        engine = self._engine()
        if engine is None or engine.strikes.is_off(kind.word) or not stepping.sources:
            return
        try:
            table = engine.table(kind)
            rows = self._rows.get((kind, stepping.number))
            if rows is None:
                rows = self._rows[kind, stepping.number] = _Rows(stepping.sources)
            if rows.waiting:
                there = [source for source in rows.waiting if of_frozen or source.tensor.requires_grad]
                rows.waiting = [source for source in rows.waiting if not (of_frozen or source.tensor.requires_grad)]
                if there:
                    rows.batches.append(self._add_rows(engine, table, there, form))
            for first, sources in rows.batches:
                for row, why in engine.measurer.batch([pick(source) for source in sources], table, first):
                    engine.not_observed(kind, table.series[row].name, why)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            engine.strikes.add(kind.word, error)

    def _add_rows(
        self, engine: Clock, table: SeriesTable, sources: list[Source], form: Form
    ) -> tuple[int, list[Source]]:
        """The first row, and the sources that the table has room for."""
        gradient = table.kind is Kind.GRAD_REDUCED
        rows = []
        for source in sources:
            own = source.form_reduced | form if gradient else Form.NONE
            if gradient and engine.grad_acc_steps > 1:
                own |= Form.ACCUMULATED
            rows.append(table.add(source.describe(own, definition=source.gradient_definition if gradient else "")))
        fit = [source for row, source in zip(rows, sources) if row >= 0]
        if len(fit) < len(sources):
            engine.tell(
                f"there are more than {table.capacity} series of {table.kind.word}; "
                f"the last {len(sources) - len(fit)} parameters are not collected"
            )
        return rows[0], fit


class WeightPart(_BatchPart):
    """param_distribution: the parameters before and after the step."""

    def step_begins(self, stepping: Stepping) -> None:
        self._batch(Kind.PARAM_ORIGIN, stepping, lambda source: source.parameter(), of_frozen=True)

    def after_step(self, stepping: Stepping) -> None:
        self._batch(Kind.PARAM_UPDATED, stepping, lambda source: source.parameter(), of_frozen=True)


class MomentPart(_BatchPart):
    """mv_distribution: the optimizer's moments as the step finds them."""

    def step_begins(self, stepping: Stepping) -> None:
        self._batch(Kind.EXP_AVG, stepping, lambda source: source.moment("exp_avg"))
        self._batch(Kind.EXP_AVG_SQ, stepping, lambda source: source.moment("exp_avg_sq"))


class GradientPart(_BatchPart):
    """wg_distribution: the gradients as the optimizer consumes them."""

    def before_step(self, stepping: Stepping) -> None:
        form = Form.SCALED if self.engine.framework.unscales_itself(stepping.optimizer) else Form.NONE
        self._batch(Kind.GRAD_REDUCED, stepping, lambda source: source.gradient(), form)
