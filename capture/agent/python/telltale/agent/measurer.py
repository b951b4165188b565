# SPDX-License-Identifier: GPL-3.0-or-later
"""What reads tensors: the statistics of one go into a row of a table."""

from __future__ import annotations

import abc
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..kinds import Kind
from ..series import SeriesDesc, SeriesTable, TableSnapshot

Rows = list[tuple[SeriesTable, int]]
At = Callable[[SeriesTable], SeriesTable]
# What a job is given: where rows of a table are to be written, and the tensors that it wanted.
Job = Callable[..., None]


def fills_one_range(shape: Iterable[int], strides: Iterable[int]) -> bool:
    """Whether elements with these strides lie side by side, in whatever order."""
    expected = 1
    for stride, size in sorted(zip(strides, shape)):
        if size == 1:
            continue
        if stride != expected:
            return False
        expected *= size
    return True


class Awaited(Protocol):
    """Results of a step that somebody makes by himself. Thread: one at a time."""

    lost: int  # samples that turned out to be unreadable, and were said to be

    def arrive(self) -> bool:
        """Waits until everything is there; False where a device failed."""

    def shots(self) -> list[TableSnapshot]:
        """What arrived, a table each, rows in order."""

    def samples(self, but: Collection[Kind] = ()) -> int:
        """How many, but for some kinds."""

    def scalars(self) -> int:
        """How many run metrics."""

    def release(self) -> None:
        """They have been taken over; only after arrive()."""

    def forsake(self) -> None:
        """Nobody will take them over: what can go without waiting goes."""


class Copied(Protocol):
    """Numbers on their way to the host."""

    names: list[tuple[SeriesTable, int, SeriesDesc]]

    def numbers(self) -> list[Any] | None:
        """Waits for them, one entry a name; None where a device failed."""


@dataclass
class Pending:
    """Results of a step that are still to come."""

    tensors: list[tuple[SeriesTable, int, Any]] = field(default_factory=list)
    queued: Awaited | None = None

    def __bool__(self) -> bool:
        return bool(self.tensors) or self.queued is not None


class AnyMeasurer(abc.ABC):
    """Thread: any; a row has one writer."""

    eps: float  # below it an element counts as zero

    is_late = False  # asking for a tensor's values could wait

    @abc.abstractmethod
    def configure(self, eps: float, threads: int, checksum: bool = False, has_bins: bool = False) -> None:
        """What holds from the next tensor on."""

    @abc.abstractmethod
    def prepare(self, tensors: Iterable[Any]) -> None:
        """Makes ready what takes its time, before a hook would."""

    @abc.abstractmethod
    def refusal(self, tensor: Any) -> str:
        """Why a tensor cannot be read, "" when it can."""

    @abc.abstractmethod
    def one(self, tensor: Any, table: SeriesTable, row: int) -> str:
        """Measures one tensor; returns why not, "" when done. An empty tensor has no value."""

    @abc.abstractmethod
    def batch(self, tensors: Iterable[Any], table: SeriesTable, first: int = 0) -> list[tuple[int, str]]:
        """Measures tensors (None = not there) into consecutive rows; returns (row, why not)."""

    @abc.abstractmethod
    def together(self, found: list[tuple[int, Any]], table: SeriesTable) -> list[tuple[int, str]]:
        """Measures (row, tensor) of one moment; returns (row, why not)."""

    @abc.abstractmethod
    def agreement(self, pairs: list[tuple[Any, Any]], table: SeriesTable, rows: list[int]) -> None:
        """(mean(sign a * sign b) + 1) / 2 of each pair of tensors of one shape, into rows of a table with that one
        statistic. Zeros and NaN count as half."""

    @abc.abstractmethod
    def later(self, table: SeriesTable, row: int, values: Any) -> None:
        """Values on a device, which go into a row when they are there."""

    def afterwards(self, rows: Rows, job: Job, *tensors: Any) -> None:
        """Runs what computes these rows from tensors. At once; where a tensor may still be to come, off the training
        thread, and the tensors are given to it as they were now."""
        job(lambda table: table, *tensors)

    def settle(self, table: SeriesTable) -> None:  # noqa: B027 (where nothing is late it is there)
        """Waits for what one table is to have of late tensors, and puts it there."""

    @abc.abstractmethod
    def withdraw(self, table: SeriesTable, rows: set[int]) -> dict[int, Any]:
        """Takes what these rows have on a device out of the step: the last values, by row."""

    @property
    @abc.abstractmethod
    def has_pending(self) -> bool:
        """Whether results of this step are still on a device."""

    @abc.abstractmethod
    def forget(self, tables: list[SeriesTable]) -> None:
        """Drops results of these tables that are still on a device."""

    @abc.abstractmethod
    def now(self, table: SeriesTable) -> Pending:
        """What one table has on a device; it stays in the step."""

    @abc.abstractmethod
    def trouble(self) -> str:
        """What reading could not have, once; "" when it had everything."""

    @abc.abstractmethod
    def take_pending(self) -> Pending:
        """Results still on a device, for the caller to fetch together."""
