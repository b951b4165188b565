# SPDX-License-Identifier: GPL-3.0-or-later
"""Tensors that are still being computed, and the results of a step that are to be made of them.

Under asynchronous launch, asking a tensor for its memory waits until everything that has been launched so far has run.
So the training thread only notes what is to be computed and keeps what it takes, and the worker thread waits.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Callable

from mindspore import Tensor, ops

from ..agent.measurer import Copied, Job, Rows, fills_one_range
from ..deviceworker import DeviceWorker
from ..dispatch import Dispatcher
from ..kinds import Kind
from ..series import SeriesDesc, SeriesTable, TableSnapshot, samples_each
from . import executor

SMALL = 64  # bytes of a tensor for which there is always room: learning rates, counters
NO_ROOM = "no memory was left to keep it until it is there (256 MiB in all), and reading it would make training wait"
CHANGED = "it was changed in place before it could be read, and reading it at once would have made the training wait"


class Budget:
    """Bytes of tensors that are kept. Thread: any."""

    def __init__(self, most: Callable[[], int]) -> None:
        self._most = most
        self._lock = threading.RLock()  # what is kept may go while the lock is held
        self.taken = 0

    def take(self, size: int) -> bool:
        """Whether there is room for as many bytes, which are taken then."""
        with self._lock:
            if size > SMALL and self.taken + size > self._most():
                return False
            self.taken += size
            return True

    def give(self, size: int) -> None:
        with self._lock:
            self.taken -= size


class Held:
    """A tensor's elements as they are when it is held, to be read later. Where the program, an optimizer or a
    collective may write into it, it is copied, which is launched like anything else and waits for nothing; nothing
    would tell of most of what writes. Thread: any, one at a time."""

    __slots__ = ("tensor", "shape", "size", "dtype", "pointer", "values", "_version", "_budget", "_bytes")

    def __init__(self, tensor: Any, budget: Budget, is_paired: bool = True, is_safe: bool = False) -> None:
        """is_paired: the elements in their order, else as they lie in memory. is_safe: nobody writes into its memory
        but by what tells of it, so that it need not be copied: a forward pass does not into what it is to go back
        through, where it gives a tensor that is assigned to other memory. The room for it has been taken."""
        self.shape, self.size, self.dtype = tuple(tensor.shape), int(tensor.size), tensor.dtype
        self._budget, self._bytes = budget, int(tensor.nbytes)
        self.pointer = 0
        self.values: Any = None  # by numpy
        with executor.no_grad():
            if not is_paired and not tensor.is_contiguous() and fills_one_range(tensor.shape, tensor.stride()):
                strides = tensor.stride()
                tensor = tensor.permute(*sorted(range(len(strides)), key=lambda i: -strides[i]))
            if not tensor.is_contiguous():
                self.tensor = tensor.reshape(-1)  # has memory of its own
            elif is_safe:
                self.tensor = Tensor(tensor)  # the same memory, also where the program gives `tensor` another
            else:  # a copy bit by bit, by one operation, where Tensor.copy() takes three
                self.tensor = ops.concat([tensor if tensor.ndim else tensor.reshape(-1)])
        self._version = getattr(self.tensor, "_version", 0)

    def wait(self, as_array: bool) -> None:
        """Waits for it. What the training has launched and could not be run comes out here as an exception."""
        if not as_array:
            self.pointer = int(self.tensor.data_ptr())
        elif self.values is None:
            self.values = self.tensor.asnumpy().reshape(self.shape)

    @property
    def is_changed(self) -> bool:
        """Whether somebody has written into it since; to be asked after it has been read."""
        return bool(getattr(self.tensor, "_version", 0) != self._version)

    def __del__(self) -> None:
        self._budget.give(self._bytes)


@dataclass
class Work:
    """Rows of a step, and what computes them."""

    rows: Rows
    job: Job  # (where a table's rows go, each of what is held)
    held: list[Held | None]  # None = there was no room
    as_arrays: bool = True  # else it wants to know where they lie


class Failed(Exception):
    """What the training launched could not be run."""


class LateStep:
    """Results of a step that are still to come. Thread: one at a time, but samples() and scalars() any."""

    def __init__(
        self,
        work: list[Work],
        refuse: Callable[[SeriesTable, int, str], None],
        failed: Callable[[BaseException], None],
    ) -> None:
        """refuse: says why a row has no value; failed: is told of an exception that was the training's."""
        self.lost = 0
        self._work = work
        self._refuse, self._failed = refuse, failed
        self._of: dict[SeriesTable, SeriesTable] = {}  # the tables of this step, by those that go on
        self._rows = list(dict.fromkeys(row for one in work for row in one.rows))
        for table in dict.fromkeys(table for table, _ in self._rows):
            table.take_changes()
            has_bins = table.bins is not None
            copy = self._of[table] = SeriesTable(
                table.kind, table.stats, len(table), table.only, has_bins, generation=table.generation
            )
            copy.series, copy.arrived = list(table.series), list(table.arrived)
            if copy.bins is not None and table.bins is not None:
                copy.bins.series = list(table.bins.series)

    def at(self, table: SeriesTable) -> SeriesTable:
        """Where rows of a table are written."""
        return self._of[table]

    def arrive(self, seconds: float = float("inf")) -> bool:
        """Waits, and computes everything."""
        work, self._work = self._work, []
        try:
            # All before the first: a tensor that has long been there waits for whatever was launched since, too.
            for one in work:
                for held in one.held:
                    if held is not None:
                        held.wait(one.as_arrays)
            work.reverse()
            while work:
                self._do(work.pop())
        except Exception as error:  # a job's own goes no further than its rows
            self._failed(error)
            raise _failure(error) from error
        return True

    def _do(self, one: Work) -> None:
        why = ""
        if any(held is None for held in one.held):
            why = NO_ROOM
        else:
            try:
                one.job(self.at, *one.held)
            except Exception as error:  # noqa: BLE001 - the other rows must still come
                why = f"reading it failed ({type(error).__name__}: {error})"
            if any(held is not None and held.is_changed for held in one.held):
                why = CHANGED
        for table, row in one.rows if why else ():
            copy = self._of[table]
            (copy.present if copy.stats else copy.flags)[row] = 0
            self.lost += 0 if table.is_scratch else samples_each(table)
            if copy.bins is not None and copy.bins_at(row):
                copy.bins.present[row] = 0
                self.lost += samples_each(copy.bins)
            self._refuse(table, row, why)

    def shots(self) -> list[TableSnapshot]:
        own = [copy for table, copy in self._of.items() if not table.is_scratch]
        tables = own + [copy.bins for copy in own if copy.bins is not None]
        return [shot for table in tables if (shot := table.snapshot()) is not None]

    def samples(self, but: Collection[Kind] = ()) -> int:
        found = [(table, row) for table, row in self._rows if table.kind not in but and not table.is_scratch]
        return sum(samples_each(table) for table, _ in found) + sum(
            samples_each(table.bins) for table, row in found if table.bins is not None and table.bins_at(row)
        )

    def scalars(self) -> int:
        return sum(table.kind is Kind.SCALAR for table, _ in self._rows)

    def release(self) -> None:
        self._work = []

    forsake = release


@dataclass
class _Single:
    """A metric that comes after its step."""

    names: list[tuple[SeriesTable, int, SeriesDesc]]
    tensor: Any
    failed: Callable[[BaseException], None]

    def numbers(self) -> list[Any]:
        try:
            return [self.tensor.asnumpy().reshape(-1)[:1].tolist()]
        except Exception as error:
            self.failed(error)
            raise _failure(error) from error


def worker(dispatcher: Dispatcher, failed: Callable[[BaseException], None]) -> DeviceWorker:
    """One that waits for MindSpore. failed: is told of an exception that was the training's."""

    def singles(tensors: list[tuple[SeriesTable, int, Any]]) -> list[Copied]:
        return [_Single([(table, row, table.series[row])], tensor, failed) for table, row, tensor in tensors]

    return DeviceWorker(dispatcher, singles)


def _failure(error: BaseException) -> Failed:
    first = next(iter(str(error).strip().splitlines()), "")
    return Failed(f"MindSpore could not run what was launched ({type(error).__name__}: {first})")
