# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics of tensors on NVIDIA cards by the native kernels (model/stats/devicestats.h): queued behind the training's
own work and never waited for; the card itself writes each result into memory that the host reads later."""

from __future__ import annotations

import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import torch

from . import native
from .kinds import Kind
from .series import STATS, SeriesDesc, SeriesTable, TableSnapshot, samples_each

_ITEM = STATS.itemsize
_ROWS = 1024  # of a chunk
_SLOWLY = "tensors on cuda:%d are read by torch's own operations, which takes 40 times as long"
_NO_ROWS = np.zeros(0, STATS)


class _Chunk:
    """Pinned memory for results. Never given back: torch would hand it out again while a card still writes into it."""

    def __init__(self) -> None:
        self.memory = torch.empty(_ROWS * _ITEM, dtype=torch.uint8, pin_memory=True)
        self.rows = self.memory.numpy().view(STATS)
        self.address = self.memory.data_ptr()
        _all.append(self)


_all: list[_Chunk] = []  # of the whole process
_idle: deque[_Chunk] = deque()  # that no card writes into


@dataclass
class Queued:
    """Results of one step that cards were asked for. Thread: one at a time."""

    entries: dict[SeriesTable, list[tuple[int, int]]] = field(default_factory=dict)  # (row, place in the chunks)
    chunks: list[_Chunk] = field(default_factory=list)
    marks: list[tuple[int, int]] = field(default_factory=list)  # device, what it passes when all is written
    ordered: set[SeriesTable] = field(default_factory=set)  # those that note the order in which rows are measured
    series: dict[SeriesTable, list[SeriesDesc]] = field(default_factory=dict)  # as they were in this step
    lost: int = 0

    def arrive(self, seconds: float = float("inf")) -> bool:
        """Waits until everything is written; whether it was. A device that failed writes nothing more."""
        lib = native.library()
        end = time.monotonic() + seconds
        is_whole = True
        while self.marks:
            device, mark = self.marks[-1]
            passed = lib.tt_device_passed(device, mark) if mark else -1
            if passed == 0 and time.monotonic() < end:
                time.sleep(0.0005)
                continue
            if passed == 0:
                return False
            self.marks.pop()
            is_whole = is_whole and passed == 1
        return is_whole

    def shots(self) -> list[TableSnapshot]:
        """What arrived, a table each, rows in order."""
        results = np.concatenate([chunk.rows for chunk in self.chunks]) if self.chunks else _NO_ROWS
        out = []
        for table, entries in self.entries.items():
            pairs = np.fromiter(chain.from_iterable(entries), np.int64, 2 * len(entries)).reshape(-1, 2)
            # A row that was measured again holds its last value, as on the host.
            rows, last = np.unique(pairs[::-1, 0], return_index=True)
            places = pairs[::-1, 1][last]
            values = results["sum"][places].reshape(-1, 1) if table.stats else results[places]
            arrival = np.argsort(places) if table in self.ordered else None
            series = self.series[table]
            picked = [series[row] for row in rows.tolist()]
            out.append(TableSnapshot(table.kind, table.stats, picked, rows, values, arrival, table.only))
        return out

    def samples(self, but: Collection[Kind] = ()) -> int:
        """How many, but for some kinds."""
        found = [(table, rows) for table, rows in self.entries.items() if table.kind not in but]
        return sum(samples_each(table.kind, table.stats) * len({row for row, _ in rows}) for table, rows in found)

    def scalars(self) -> int:
        return 0

    def forsake(self) -> None:
        """The memory is the card's until everything has arrived."""

    def release(self) -> None:
        """The memory may be written again; only after arrive()."""
        if not self.marks:
            _idle.extend(self.chunks)
        self.chunks = []


def _raw_stream(device: int) -> int:
    return int(torch.cuda.current_stream(device).cuda_stream)


stream_of = getattr(torch._C, "_cuda_getCurrentRawStream", _raw_stream)  # a private name, and 30 times as quick


def mark(device: int) -> Queued | None:
    """What arrives when everything that a card's current stream has to do now is done; None without kernels there."""
    lib = native.library() if native.available() else None
    if lib is None or lib.tt_device_open(device) is not None:
        return None
    return Queued(marks=[(device, lib.tt_device_mark(device, stream_of(device)))])


class DeviceStats:
    """The step in progress. Thread: any; a row has one writer."""

    def __init__(self) -> None:
        self._lib = native.library()
        self._one = self._lib.tt_device_stats_tensor
        self._opening = threading.Lock()
        self._lock = threading.Lock()  # a step is taken whole, whichever of autograd's threads still measures
        self._is_open: dict[int, bool] = {}
        self.trouble = ""
        self._begin()

    def _begin(self) -> None:
        self._queued = Queued()
        self._addresses: list[int] = []  # of the chunks
        self._streams: set[tuple[int, int]] = set()
        self._place = 0  # in the chunks, of the next result

    def open(self, device: int) -> bool:
        """Loads the kernels onto a card, which takes up to a second; whether its tensors can be measured here."""
        found = self._is_open.get(device)
        if found is None:
            with self._opening:
                why = self._lib.tt_device_open(device)
                found = self._is_open[device] = why is None
                if why is not None and torch.version.hip is None:
                    self.trouble = f"{_SLOWLY % device}, because {why.decode()}"
        return found

    def one(self, device: int, pointer: int, numel: int, code: int, eps: float, table: SeriesTable, row: int) -> int:
        """Queues one tensor: 0; 1 when the stream is being captured; -1 when it must be measured another way."""
        if not self._is_open.get(device) and not self.open(device):
            return -1
        stream = stream_of(device)
        with self._lock:
            place = self._place
            chunk, at = divmod(place, _ROWS)
            if chunk >= len(self._addresses) and not self._grow(place):
                return 1
            self._place = place + 1
            address = self._addresses[chunk] + at * _ITEM
            status: int = self._one(device, pointer, numel, code, eps, address, stream)
            self._note(device, stream, table, status, ((row, place),))
        return status if status >= 0 else self._refused(device)

    def batch(self, device: int, tensors: array[int], rows: list[int], eps: float, table: SeriesTable) -> int:
        """Queues many tensors of one device, described as tt_tensor: address, elements and dtype, a word each."""
        described = tensors.buffer_info()[0]

        def queue(results: int, stream: int) -> int:
            return self._lib.tt_device_stats(device, described, len(rows), eps, results, stream)

        return self._many(device, table, rows, queue)

    def agreement(self, device: int, left: array[int], right: array[int], table: SeriesTable, rows: list[int]) -> int:
        """Queues the sign agreement of pairs into a table with one statistic."""
        pairs = left.buffer_info()[0], right.buffer_info()[0]

        def queue(results: int, stream: int) -> int:
            return self._lib.tt_device_sign_agreement(device, *pairs, len(rows), results, stream)

        return self._many(device, table, rows, queue)

    def _many(self, device: int, table: SeriesTable, rows: list[int], queue: Callable[[int, int], int]) -> int:
        stream = stream_of(device)
        with self._lock:
            places = range(self._place, self._place + len(rows))
            if not self._grow(places[-1]):
                return 1
            self._place = places.stop
            chunks = self._addresses
            results = array("Q", [chunks[place // _ROWS] + place % _ROWS * _ITEM for place in places])
            status = queue(results.buffer_info()[0], stream)
            self._note(device, stream, table, status, zip(rows, places))
        return status if status >= 0 else self._refused(device)

    def __bool__(self) -> bool:
        return bool(self._queued.entries)

    def forget(self, tables: list[SeriesTable]) -> None:
        """Drops results of these tables."""
        for table in tables:
            self._queued.entries.pop(table, None)

    def look(self, table: SeriesTable) -> Queued | None:
        """What one table was asked for; it stays in the step, and so does the memory."""
        entries = self._queued.entries.get(table)
        if not entries:
            return None
        return Queued({table: list(entries)}, list(self._queued.chunks), self._marks(), series={table: table.series})

    def take(self) -> Queued | None:
        """What was asked for since the last time, with a mark behind it on every stream; None when nothing was."""
        with self._lock:
            if not self._streams:
                return None
            queued = self._queued
            for table in queued.entries:
                table.take_changes()
                queued.series[table] = list(table.series)
                if table.arrived:
                    queued.ordered.add(table)
            queued.marks = self._marks()
            self._begin()
        return queued

    def _marks(self) -> list[tuple[int, int]]:
        return [(device, self._lib.tt_device_mark(device, stream)) for device, stream in self._streams]

    def _grow(self, place: int) -> bool:
        """Makes room up to a place; False while a graph is captured, which asking for memory would spoil. Locked."""
        while place // _ROWS >= len(self._addresses):
            try:
                chunk = _idle.popleft()
            except IndexError:
                if torch.cuda.is_current_stream_capturing():
                    return False
                chunk = _Chunk()
            self._queued.chunks.append(chunk)
            self._addresses.append(chunk.address)
        return True

    def _note(
        self, device: int, stream: int, table: SeriesTable, status: int, entries: Iterable[tuple[int, int]]
    ) -> None:
        """Locked. Of what was refused some may be queued: it wants a mark behind it too."""
        if status <= 0:
            self._streams.add((device, stream))
        if status == 0:
            self._queued.entries.setdefault(table, []).extend(entries)

    def _refused(self, device: int) -> int:
        self._is_open[device] = False
        self.trouble = f"{_SLOWLY % device} from now on, because {self._lib.tt_device_trouble().decode()}"
        return -1
