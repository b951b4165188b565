# SPDX-License-Identifier: GPL-3.0-or-later
"""The series of gradients before reduction, and what a forward pass shows of them while nobody has seen them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable

from ..kinds import Form, Kind
from ..series import SeriesDesc, SeriesTable


class UnreducedRows:
    """Rows of each parameter, by its number: one for a step, or one for a micro step. Thread: training."""

    def __init__(self, table: SeriesTable | None = None) -> None:
        """table: None where these gradients are not collected."""
        self._table = SeriesTable(Kind.GRAD_UNREDUCED, capacity=0) if table is None else table
        self.rows: list[list[int]] = []
        self.is_published = False

    def add(self, descs: Iterable[SeriesDesc]) -> None:
        """Those of the next parameter."""
        self.rows.append([self._table.add(desc) for desc in descs])

    def drop(self, numbers: list[int]) -> None:
        """No more values for these: what their hooks see is not the gradient of the whole micro step."""
        for number in numbers:
            self.rows[number] = []

    def amend(self, numbers: Iterable[int] | None, add: Form, remove: Form = Form.NONE) -> None:
        """Corrects the form of series; numbers None = all."""
        for number in range(len(self.rows)) if numbers is None else numbers:
            for row, desc in self._unseen(number):
                self._table.series[row] = dataclasses.replace(desc, form=(desc.form & ~remove) | add)

    def reshape(self, number: int, shape: tuple[int, ...], offset: int, whole: tuple[int, ...]) -> None:
        """Corrects which part of the full tensor a series is of."""
        for row, desc in self._unseen(number):
            self._table.series[row] = dataclasses.replace(
                desc, shape=shape, shard_offset=offset, full_shape=whole, numel=math.prod(shape)
            )

    def _unseen(self, number: int) -> list[tuple[int, SeriesDesc]]:
        return [] if self.is_published else [(row, self._table.series[row]) for row in self.rows[number] if row >= 0]
