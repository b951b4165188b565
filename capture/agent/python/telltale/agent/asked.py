# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics for who asks for them in the training loop. Only here, where somebody wants numbers at once, does anything
wait for a device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dispatch import fetched
from ..kinds import Kind
from ..series import SeriesTable, TableSnapshot

if TYPE_CHECKING:
    from .engine import Engine


def values_now(engine: Engine, kind: Kind) -> TableSnapshot | None:
    """What there is of a kind: of the step in progress, else of the last one collected."""
    table = engine.table(kind)
    here = fetched(table, engine.measurer.now(table))
    return here or engine.dispatcher.last_of(kind) or table.last()


def gradients_now(engine: Engine) -> TableSnapshot | None:
    """The gradients as they are at this moment, as an optimizer would take them; None where there are none."""
    sources = [source for source in engine.found.sources if source.is_here]
    gradients = [source.gradient() for source in sources]
    if all(gradient is None for gradient in gradients):
        return None
    table = SeriesTable(Kind.GRAD_REDUCED, capacity=len(sources))
    for source in sources:
        table.add(source.describe(source.form_reduced, definition=source.gradient_definition))
    engine.measurer.batch(gradients, table)
    pending = engine.measurer.now(table)
    engine.measurer.forget([table])
    return fetched(table, pending)
