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
from typing import Any

import numpy as np
import torch

from . import native
from .bins import OCTAVES
from .kinds import Kind
from .series import STATS, SeriesDesc, SeriesTable, TableSnapshot, is_histogram, samples_each

HISTOGRAM = np.dtype((np.uint64, OCTAVES))
_SLOWLY = "tensors on cuda:%d are read by torch's own operations, which takes 40 times as long"


class _Chunk:
    """Pinned memory for results. Never given back: torch would hand it out again while a card still writes into it."""

    def __init__(self, pool: _Pool) -> None:
        self.memory = torch.empty(pool.bytes, dtype=torch.uint8, pin_memory=True)
        self.rows = self.memory.numpy().view(pool.base).reshape(pool.rows, *pool.dtype.shape)
        self.address = self.memory.data_ptr()
        self.pool = pool
        pool.all.append(self)


class _Pool:
    """Chunks of results of one type, of the whole process."""

    def __init__(self, dtype: np.dtype[Any], rows: int) -> None:
        self.dtype, self.base, self.rows = dtype, dtype.base, rows
        self.bytes = rows * dtype.itemsize
        self.all: list[_Chunk] = []
        self.idle: deque[_Chunk] = deque()  # that no card writes into


_STATS = _Pool(STATS, 1024)
_COUNTS = _Pool(HISTOGRAM, 128)  # of histograms


class _Room:
    """One step's results of one type, place after place."""

    def __init__(self, pool: _Pool) -> None:
        self.pool = pool
        self.chunks: list[_Chunk] = []
        self._taken = 0

    def take(self, count: int) -> range | None:
        """The next places; None while a graph is captured, which asking for memory would spoil."""
        places = range(self._taken, self._taken + count)
        while places.stop > len(self.chunks) * self.pool.rows:
            try:
                chunk = self.pool.idle.popleft()
            except IndexError:
                if torch.cuda.is_current_stream_capturing():
                    return None
                chunk = _Chunk(self.pool)
            self.chunks.append(chunk)
        self._taken = places.stop
        return places

    def address(self, place: int) -> int:
        chunk, at = divmod(place, self.pool.rows)
        return self.chunks[chunk].address + at * self.pool.dtype.itemsize


@dataclass
class Queued:
    """Results of one step that cards were asked for. Thread: one at a time."""

    entries: dict[SeriesTable, list[tuple[int, int]]] = field(default_factory=dict)  # (row, place in the chunks)
    stats: list[_Chunk] = field(default_factory=list)
    counts: list[_Chunk] = field(default_factory=list)  # of histograms
    marks: list[tuple[int, int]] = field(default_factory=list)  # device, what it passes when all is written
    series: dict[SeriesTable, list[SeriesDesc]] = field(default_factory=dict)  # as they were in this step
    ordered: set[SeriesTable] = field(default_factory=set)  # those that note the order in which rows are measured
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
        stats, counts = (np.concatenate([chunk.rows for chunk in some]) if some else None for some in self._memory())
        out = []
        for table, entries in self.entries.items():
            pairs = np.fromiter(chain.from_iterable(entries), np.int64, 2 * len(entries)).reshape(-1, 2)
            # A row that was measured again holds its last value, as on the host.
            rows, last = np.unique(pairs[::-1, 0], return_index=True)
            places = pairs[::-1, 1][last]
            results = counts if is_histogram(table) else stats
            assert results is not None  # there is a place in it
            values = results[places]
            if table.stats and results is stats:
                values = values["sum"].reshape(-1, 1)
            arrival = np.argsort(places) if table in self.ordered else None
            series = self.series[table]
            picked = [series[row] for row in rows.tolist()]
            out.append(table.shot(picked, rows, values, arrival))
        return out

    def samples(self, but: Collection[Kind] = ()) -> int:
        """How many, but for some kinds."""
        found = [(table, rows) for table, rows in self.entries.items() if table.kind not in but]
        return sum(samples_each(table) * len({row for row, _ in rows}) for table, rows in found)

    def scalars(self) -> int:
        return 0

    def forsake(self) -> None:
        """The memory is the card's until everything has arrived."""

    def release(self) -> None:
        """The memory may be written again; only after arrive()."""
        if not self.marks:
            for chunk in chain(*self._memory()):
                chunk.pool.idle.append(chunk)
        self.stats, self.counts = [], []

    def _memory(self) -> tuple[list[_Chunk], list[_Chunk]]:
        return self.stats, self.counts


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
        self._stats, self._counts = _Room(_STATS), _Room(_COUNTS)
        self._queued = Queued(stats=self._stats.chunks, counts=self._counts.chunks)
        self._streams: set[tuple[int, int]] = set()

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
        bins = table.bins if table.bins_at(row) else None
        with self._lock:
            places = self._stats.take(1)
            counted = places if bins is None else self._counts.take(1)
            if places is None or counted is None:
                return 1
            address = self._stats.address(places[0])
            to = 0 if bins is None else self._counts.address(counted[0])
            status: int = self._one(device, pointer, numel, code, eps, address, to, stream)
            self._note(device, stream, table, status, ((row, places[0]),))
            if bins is not None:
                self._note(device, stream, bins, status, ((row, counted[0]),))
        return status if status >= 0 else self._refused(device)

    def batch(self, device: int, tensors: array[int], rows: list[int], eps: float, table: SeriesTable) -> int:
        """Queues many tensors of one device, described as tt_tensor: address, elements and dtype, a word each."""
        described = tensors.buffer_info()[0]

        def queue(results: int, bins: int, stream: int) -> int:
            return self._lib.tt_device_stats(device, described, len(rows), eps, results, bins, stream)

        return self._many(device, table, rows, queue)

    def agreement(self, device: int, left: array[int], right: array[int], table: SeriesTable, rows: list[int]) -> int:
        """Queues the sign agreement of pairs into a table with one statistic."""
        pairs = left.buffer_info()[0], right.buffer_info()[0]

        def queue(results: int, _: int, stream: int) -> int:
            return self._lib.tt_device_sign_agreement(device, *pairs, len(rows), results, stream)

        return self._many(device, table, rows, queue)

    def _many(
        self, device: int, table: SeriesTable, rows: list[int], queue: Callable[[int, int, int], int]
    ) -> int:
        """queue: is given where the results are to go, where the counts of histograms, and the stream."""
        stream = stream_of(device)
        binned = [i for i, row in enumerate(rows) if table.bins_at(row)]
        with self._lock:
            places, counted = self._stats.take(len(rows)), self._counts.take(len(binned))
            if places is None or counted is None:
                return 1
            results = array("Q", map(self._stats.address, places))
            bins = array("Q", bytes(8 * len(rows)))
            for i, place in zip(binned, counted):
                bins[i] = self._counts.address(place)
            status = queue(results.buffer_info()[0], bins.buffer_info()[0] if binned else 0, stream)
            self._note(device, stream, table, status, zip(rows, places))
            if table.bins is not None and binned:
                self._note(device, stream, table.bins, status, zip((rows[i] for i in binned), counted))
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
        known = {table: table.series}
        return Queued({table: list(entries)}, list(self._stats.chunks), list(self._counts.chunks), self._marks(), known)

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
