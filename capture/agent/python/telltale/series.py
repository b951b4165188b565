# SPDX-License-Identifier: GPL-3.0-or-later
"""Series and the tables that hold one step's values of all series of a kind."""

from __future__ import annotations

import math
import mmap
import threading
from dataclasses import dataclass, field, replace
from enum import IntFlag
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .bins import BINS, OCTAVES, OCTAVES_DEFINITION
from .kinds import DType, Form, Kind, Stat
from .slots import Slot

# One result of the statistics kernel: struct tt_stats of model/stats/stats.h. norm, mean, min, max, sum and sumsq are
# over the finite elements.
STATS = np.dtype(
    [
        ("sum", "<f8"),
        ("sumsq", "<f8"),
        ("norm", "<f4"),
        ("mean", "<f4"),
        ("min", "<f4"),
        ("max", "<f4"),
        ("zeros", "<f4"),
        ("flags", "<u4"),
        ("numel", "<u8"),
        ("finite", "<u8"),
        ("zero_count", "<u8"),
        ("nans", "<u8"),
        ("pos_infs", "<u8"),
        ("neg_infs", "<u8"),
        ("checksum", "<u8"),
    ]
)
assert STATS.itemsize == 96
PRESENT = 1  # TT_STATS_PRESENT
HASHED = 2  # TT_STATS_CHECKSUM
PASS = tuple(stat for stat in Stat if stat.member)  # what a STATS record holds


def samples_each(table: SeriesTable | TableSnapshot) -> int:
    """Samples in one row of a table; of a histogram each bin is one."""
    if is_histogram(table):
        return int(table.values.shape[1])
    return sum(stat.is_sample for stat in table.stats or PASS)


def is_hashed(kind: Kind) -> bool:
    """Whether rows of a kind have a checksum where the config asks for it: one of a tensor, and not of many calls."""
    return kind is not Kind.COMM


class Extra(IntFlag):
    """Measurements that only some destinations show. A sink names those that it wants beside what all sinks get; each
    is made when at least one wants it, and lies in a table of its own."""

    NONE = 0
    HEAD_0 = 1 << 0  # attention of the first head of the first sequence, as msprobe measures it
    STABLE_RANK = 1 << 1  # F^2/sigma^2 of linear layers, beside msprobe's F/sigma
    CALLS_BY_OP = 1 << 2  # collectives summed up by operation, as msprobe has them
    CALLS_BY_SITE = 1 << 3  # collectives summed up by the line that calls them


VALUE = Slot()
MAX_HISTOGRAMS = 1 << 15  # of one kind
MAX_SERIES = 1 << 18  # of one kind; the rows are zero pages until they are used


@dataclass(frozen=True)
class SeriesDesc:
    """One tensor (or head, or metric) that is measured step after step."""

    name: str  # the framework's own dotted name
    slot: Slot = VALUE
    vpp_stage: int = 0
    micro_step: int = -1  # -1 = the whole step
    form: Form = Form.NONE
    definition: str = ""  # named definition where more than one exists
    shape: tuple[int, ...] = ()
    dtype: DType = DType.UNKNOWN
    numel: int = 0
    shard_offset: int = -1  # first element of the shard in the full tensor, -1 = not sharded
    full_shape: tuple[int, ...] = ()
    torch_dtype: str = ""  # "torch.float32", or MindSpore's "Float32", for files that name it


def _untouched(count: int, dtype: npt.DTypeLike) -> np.ndarray:
    """Zeros that take no memory before they are written: a table is as large as the most that it may hold. By numpy
    they would lie on the heap as soon as one table was freed, every page written with zeros."""
    kind = np.dtype(dtype)
    memory = mmap.mmap(-1, max(count, 1) * kind.itemsize, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, kind, count)


class SeriesTable:
    """Values of one kind at the step that is being collected, a row per series.

    Rows are only ever added, and their memory never moves, so a kernel may write into a row while another thread adds
    one. `stats` empty: the six ops, as STATS records; else one float64 per stat (or bin) and a presence byte.
    Thread: add() any; everything else the one that owns the row or the training thread between steps.
    """

    def __init__(
        self,
        kind: Kind,
        stats: tuple[Stat, ...] = (),
        capacity: int = MAX_SERIES,
        only: Extra = Extra.NONE,
        has_bins: bool = False,
        is_scratch: bool = False,
        bin_count: int = BINS,
        generation: int = 0,
    ) -> None:
        """only: for sinks that want this, NONE = for all. has_bins: each row gets a histogram, in a table of its own
        that has the same rows. is_scratch: other rows are made of these, which nobody gets. bin_count: of a table of
        histograms. generation: of the tables that one config has; a row's number means nothing in another's."""
        self.kind = kind
        self.stats = stats
        self.only = only
        self.is_scratch = is_scratch
        self.generation = generation
        self.key = kind, stats, only, bin_count if stats == (Stat.HIST,) else 0, generation  # tells tables apart
        self.series: list[SeriesDesc] = []
        self.capacity = capacity
        self.changed: dict[int, tuple[tuple[int, ...], DType, str]] = {}  # rows whose tensor has another shape or type
        self.arrived: list[int] = []  # rows in the order in which they were measured, where the engine notes it
        self._ended = np.zeros(0, np.int64)  # rows of the last step that was measured whole
        self._lock = threading.Lock()
        self.bins: SeriesTable | None = None
        if has_bins:
            most = min(capacity, MAX_HISTOGRAMS)
            self.bins = SeriesTable(kind, (Stat.HIST,), most, only, bin_count=OCTAVES, generation=generation)
        if stats:
            each = bin_count if stats == (Stat.HIST,) else len(stats)
            dtype = np.uint64 if stats == (Stat.HIST,) else np.float64
            self.values = _untouched(capacity * each, dtype).reshape(capacity, each)
            self.address = self.values.ctypes.data
            self.present = _untouched(capacity, np.uint8)
        else:
            self.results = _untouched(capacity, STATS)
            self.flags = self.results["flags"]
            self.address = self.results.ctypes.data

    def __len__(self) -> int:
        return len(self.series)

    def add(self, desc: SeriesDesc) -> int:
        """Adds a series; returns its row, -1 when the table is full."""
        with self._lock:
            if len(self.series) >= self.capacity:
                return -1
            self.series.append(desc)
            if self.bins is not None:
                self.bins.add(replace(desc, definition=OCTAVES_DEFINITION))
            return len(self.series) - 1

    def bins_at(self, row: int) -> int:
        """Where the kernel counts a row's elements; 0: the row has no histogram."""
        table = self.bins
        if table is None or row >= len(table.series):
            return 0
        return int(table.address + row * table.values.strides[0])

    def put(self, row: int, *values: float) -> None:
        """Sets a row of a table that has `stats`."""
        if len(values) == 1:
            self.values[row, 0] = values[0]  # a run metric; numpy takes its time over a sequence
        else:
            self.values[row] = values
        self.present[row] = 1

    def rows(self) -> np.ndarray:
        """Numbers of the rows measured in this step."""
        n = len(self.series)
        if self.stats:
            return np.flatnonzero(self.present[:n])
        return np.flatnonzero(self.flags[:n] & PRESENT)

    def snapshot(self) -> TableSnapshot | None:
        """A copy of what was measured, None when nothing was."""
        return self._picked(self.rows())

    def last(self) -> TableSnapshot | None:
        """What the last whole step held, until a newer one is measured into the same rows."""
        return self._picked(self._ended)

    def take(self, shot: TableSnapshot) -> None:
        """What was measured elsewhere for rows of this table, or for their histograms."""
        table = self.bins if shot.stats == (Stat.HIST,) and self.bins is not None else self
        if table.stats:
            table.values[shot.rows] = shot.values
            table.present[shot.rows] = 1
        else:
            table.results[shot.rows] = shot.values

    def _picked(self, rows: np.ndarray) -> TableSnapshot | None:
        if rows.size == 0:
            return None
        self.take_changes()
        picked = [self.series[i] for i in rows]
        values = self.values[rows] if self.stats else self.results[rows]
        return self.shot(picked, rows, values, self._arrival(rows))

    def shot(
        self, series: list[SeriesDesc], rows: np.ndarray, values: np.ndarray, arrival: np.ndarray | None = None
    ) -> TableSnapshot:
        """What some rows of this table held."""
        return TableSnapshot(self.kind, self.stats, series, rows, values, arrival, self.only, self.generation)

    def take_changes(self) -> None:
        """Series whose tensor has another shape or type from now on say so."""
        if self.bins is not None:
            self.bins.changed.update({row: new for row, new in self.changed.items() if row < len(self.bins)})
        while self.changed:
            row, (shape, dtype, torch_dtype) = self.changed.popitem()
            self.series[row] = replace(
                self.series[row], shape=shape, dtype=dtype, numel=math.prod(shape), torch_dtype=torch_dtype
            )

    def _arrival(self, rows: np.ndarray) -> np.ndarray | None:
        """Positions in `rows` by arrival; None where it was not noted for each."""
        arrived = np.array(list(dict.fromkeys(self.arrived)), np.int64)
        if arrived.size != rows.size or not np.array_equal(np.sort(arrived), rows):
            return None
        return np.searchsorted(rows, arrived)

    def number_micros(self) -> None:
        """Series of whole steps become those of the first micro step. Only before anybody has seen them."""
        for row, desc in enumerate(self.series):
            if desc.micro_step == -1:
                self.series[row] = replace(desc, micro_step=0)

    def end_step(self) -> None:
        """The step is over and measured whole."""
        self._ended = self.rows()
        self.clear()

    def forget(self) -> None:
        """The step is given up: what was measured in it must never be read."""
        if self.bins is not None:
            self.bins.forget()
        self._ended = self._ended[:0]
        self.clear()

    def clear(self) -> None:
        """Takes the step's values out; the series stay."""
        n = len(self.series)
        self.arrived.clear()
        if self.stats:
            self.present[:n] = 0
        else:
            self.flags[:n] = 0


@dataclass
class TableSnapshot:
    """What one table held at one step: only rows that were measured. Immutable by convention, safe for any thread."""

    kind: Kind
    stats: tuple[Stat, ...]
    series: list[SeriesDesc]
    rows: np.ndarray  # row numbers, stable in a generation: keys for state kept per series
    values: np.ndarray  # [n] of STATS, or [n, statistics or bins] float64 (counts of a histogram: uint64)
    arrival: np.ndarray | None = None  # positions in the order in which they were measured, None = not noted
    only: Extra = Extra.NONE  # for sinks that want this, NONE = for all
    generation: int = 0  # of its table

    @property
    def key(self) -> tuple[Kind, tuple[Stat, ...], Extra, int, int]:
        """Tells tables apart: those of a step, and from those of another config."""
        return self.kind, self.stats, self.only, self.values.shape[1] if is_histogram(self) else 0, self.generation

    def column(self, op: str) -> np.ndarray:
        """A msprobe op ("norm", "mean", "min", "max", "zeros", "nans") as float64, with NaN and Inf passed on as
        torch's own reductions do."""
        return msprobe_op(self.values, op)


def shot_of(table: SeriesTable, values: np.ndarray, present: np.ndarray | None) -> TableSnapshot | None:
    """What a copy of a table's rows held; present: None where the values are STATS, which say so themselves."""
    rows = np.flatnonzero(values["flags"] & PRESENT if present is None else present)
    if rows.size == 0:
        return None
    return table.shot([table.series[i] for i in rows], rows, values[rows])


_Table = TypeVar("_Table", SeriesTable, TableSnapshot)


@dataclass
class Frame:
    """Everything measured at one step on this rank."""

    step: int
    tables: list[TableSnapshot] = field(default_factory=list)
    scalars: dict[str, float] = field(default_factory=dict)
    marks: dict[str, float] = field(default_factory=dict)  # "telltale.wall_ns": for the dashboard's axes, not for files
    definitions: dict[str, str] = field(default_factory=dict)  # of those metrics that have one


def is_histogram(table: SeriesTable | TableSnapshot) -> bool:
    """Whether a row holds a histogram's counts."""
    return table.stats == (Stat.HIST,)


def wanted(tables: list[_Table], wants: Extra) -> list[_Table]:
    """The tables that are for all, and those that `wants` names; the list itself where that is every one."""
    if all(not table.only or table.only & wants for table in tables):
        return tables
    return [table for table in tables if not table.only or table.only & wants]


def msprobe_op(stats: np.ndarray, op: str) -> np.ndarray:
    """One op of STATS records in msprobe's sense: float64 accumulation, non-finite elements spread to norm, mean, min
    and max; zeros a share, nans a count."""
    if op == "nans":
        return stats["nans"].astype(np.float64)
    numel = stats["numel"].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        if op == "zeros":
            return stats["zero_count"] / numel
        has_nan = stats["nans"] > 0
        has_pos = stats["pos_infs"] > 0
        has_neg = stats["neg_infs"] > 0
        if op == "norm":
            out = np.sqrt(stats["sumsq"])
            out = np.where(has_pos | has_neg, math.inf, out)
        elif op == "mean":
            out = stats["sum"] / stats["finite"]
            out = np.where(has_pos, math.inf, out)
            out = np.where(has_neg, np.where(has_pos, math.nan, -math.inf), out)
        elif op == "min":
            out = np.where(stats["finite"] > 0, stats["min"].astype(np.float64), math.inf)
            out = np.where(has_neg, -math.inf, out)
        elif op == "max":
            out = np.where(stats["finite"] > 0, stats["max"].astype(np.float64), -math.inf)
            out = np.where(has_pos, math.inf, out)
        else:
            raise ValueError(f"unknown op {op!r}")
        return np.where(has_nan, math.nan, out)


def record(numbers: list[float]) -> tuple[Any, ...]:
    """One STATS record, of sum, sum of squares, min, max, numel, finite, zero_count, nans, pos_infs and neg_infs, and
    of a checksum's four quarters, lowest first."""
    total, squares, low, high, numel, finite, zeros, nans, pos, neg, *quarters = numbers
    some = finite > 0
    return (
        total,
        squares,
        min(math.sqrt(squares), 3.4028234663852886e38) if some else 0.0,
        total / finite if some else 0.0,
        low if some else 0.0,
        high if some else 0.0,
        zeros / numel,
        PRESENT | HASHED if quarters else PRESENT,
        int(numel),
        int(finite),
        int(zeros),
        int(nans),
        int(pos),
        int(neg),
        sum(int(quarter) << 16 * i for i, quarter in enumerate(quarters)),
    )
