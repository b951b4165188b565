# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a MindSpore tensor once and writes its statistics into a row of a table.

A tensor that is there is read where it lies, by the native kernel. The address of one that may still be being computed
waits for it (asynchronous launch): such a tensor is kept, as many as the budget holds, and read off the training thread
when the step is over (late.py). What is over the budget, and what lies on a device, MindSpore's own operations measure,
which wait for nothing; the results are fetched there, too.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable
from functools import partial
from typing import Any, Callable

import numpy as np
from mindspore import Parameter, Tensor, dtype

from .. import native
from ..agent.measurer import AnyMeasurer, At, Job, Pending, Rows, fills_one_range
from ..bins import OCTAVE_EDGES
from ..kinds import DType, Kind
from ..series import STATS, SeriesTable, record
from . import deviceops, executor
from .late import Budget, Held, LateStep, Work

DTYPES = {
    dtype.float32: DType.F32,
    dtype.float64: DType.F64,
    dtype.float16: DType.F16,
    dtype.bfloat16: DType.BF16,
    dtype.int8: DType.I8,
    dtype.uint8: DType.U8,
    dtype.int16: DType.I16,
    dtype.int32: DType.I32,
    dtype.int64: DType.I64,
    dtype.bool_: DType.BOOL,
}
_SIGNS = {dtype.float32, dtype.float64, dtype.float16, dtype.bfloat16}
_HASHED = 0x100  # TT_WITH_CHECKSUM
_ITEM = STATS.itemsize
MOST_KEPT = 256 << 20  # bytes of tensors that wait to be read
_UNCOUNTED = Budget(lambda: 0)  # of results, which are some numbers each


def refusal(tensor: Any) -> str:
    """Why a tensor cannot be read, "" when it can."""
    if not isinstance(tensor, Tensor):
        return "it is not a dense tensor" if hasattr(tensor, "indices") else "it is not a tensor"
    if tensor.dtype not in DTYPES:
        return f"its element type {tensor.dtype} has no statistics"
    return ""


def described(tensor: Any) -> dict[str, Any]:
    """The fields of a SeriesDesc that are of the tensor."""
    kind = tensor.dtype
    shape = tuple(tensor.shape)
    return {
        "shape": shape,
        "dtype": DTYPES.get(kind, DType.UNKNOWN),
        "numel": int(np.prod(shape, dtype=np.int64)),
        "torch_dtype": str(kind),
    }


def dense(tensor: Any) -> Any:
    """The same values in one range of memory: the tensor itself where possible, else a copy."""
    if tensor.is_contiguous() or fills_one_range(tensor.shape, tensor.stride()):
        return tensor
    with executor.no_grad():
        return tensor.contiguous()


class Reader(AnyMeasurer):
    """Thread: any; a row has one writer."""

    def __init__(
        self, eps: float, threads: int, checksum: bool = False, has_bins: bool = False, use_native: bool | None = None
    ) -> None:
        self.configure(eps, threads, checksum, has_bins)
        self.is_native = native.available() if use_native is None else use_native
        self._lib = native.library() if self.is_native else None
        self._is_here = executor.is_on_host()
        self._lock = threading.Lock()
        self._work: dict[Any, Work] = {}  # of the step in progress, by what it writes: what comes again counts
        self._budget = Budget(lambda: MOST_KEPT)
        self._copies: dict[int, Held] | None = None  # of parameters, while nobody changes them; None = somebody may
        self._told = self._lacks = self._has_told_lack = False
        # Told of rows that turn out to be unreadable, and of the training's own exceptions. Thread: the worker.
        self.refuse: Callable[[SeriesTable, int, str], None] = lambda table, row, why: None
        self.failed: Callable[[BaseException], None] = lambda error: None

    def configure(self, eps: float, threads: int, checksum: bool = False, has_bins: bool = False) -> None:
        self.eps, self.threads, self.checksum, self.has_bins = eps, threads, checksum, has_bins

    def prepare(self, tensors: Iterable[Any]) -> None:
        return None

    def refusal(self, tensor: Any) -> str:
        return refusal(tensor)

    @property
    def is_late(self) -> bool:  # type: ignore[override]
        return not (self._is_here and executor.is_blocking())

    # -- on the training thread, where nothing waits -------------------------------------------------------------

    def one(self, tensor: Any, table: SeriesTable, row: int) -> str:
        """Arrays of float32 too, of what was computed here."""
        if isinstance(tensor, np.ndarray):
            self.read_array(np.ascontiguousarray(tensor), table, row)
            return ""
        why = refusal(tensor)
        if why or tensor.size == 0:
            return why
        if not self.is_late:
            self.read(dense(tensor), table, row)
        elif (held := self._hold(tensor, False, table.kind) if self._is_here else None) is not None:
            job = partial(self._read_held, table, row)
            self._put([(table, row)], job, [held], self._lib is None)
        else:
            self._by_operations(tensor, table, row)
        return ""

    def _hold(self, tensor: Any, is_paired: bool = True, kind: Kind | None = None) -> Held | None:
        """None where there is no room."""
        is_state = isinstance(tensor, Parameter)
        if is_state and self._copies is not None and (known := self._copies.get(id(tensor))) is not None:
            return known
        if not self._budget.take(tensor.nbytes):
            return None
        is_safe = kind is Kind.ACTV_GRAD or (kind is Kind.ACTV and tensor._requires_grad and not is_state)
        held = Held(tensor, self._budget, is_paired, is_safe)
        if is_state and self._copies is not None:
            self._copies[id(tensor)] = held
        return held

    def copies_hold(self, they_do: bool) -> None:
        """Until this is called again, nobody writes into a parameter: one copy of each serves all who want it."""
        self._copies = {} if they_do else None

    def _by_operations(self, tensor: Any, table: SeriesTable, row: int) -> None:
        self._lacks = self._lacks or self.checksum or table.bins is not None
        with executor.no_grad():
            self.later(table, row, deviceops.statistics(tensor, self.eps))

    def _put(self, rows: Rows, job: Job, held: list[Held | None], as_arrays: bool = True, key: Any = None) -> None:
        with self._lock:
            self._work[key or rows[0]] = Work(rows, job, held, as_arrays)

    def afterwards(self, rows: Rows, job: Job, *tensors: Any) -> None:
        """The job gets each tensor's values by numpy."""
        if not rows:
            return
        if not self.is_late:
            job(lambda table: table, *(tensor.asnumpy() for tensor in tensors))
        else:
            given = [self._hold(tensor) for tensor in tensors]
            self._put(rows, lambda at, *held: job(at, *(one.values for one in held)), given, key=(*rows[0], True))

    def batch(self, tensors: Iterable[Any], table: SeriesTable, first: int = 0) -> list[tuple[int, str]]:
        there = ((row, tensor) for row, tensor in enumerate(tensors, first) if tensor is not None)
        return [(row, why) for row, tensor in there if (why := self.one(tensor, table, row))]

    def together(self, found: list[tuple[int, Any]], table: SeriesTable) -> list[tuple[int, str]]:
        return [(row, why) for row, tensor in found if (why := self.one(tensor, table, row))]

    def agreement(self, pairs: list[tuple[Any, Any]], table: SeriesTable, rows: list[int]) -> None:
        for row, (left, right) in zip(rows, pairs):
            if self._lib is None or not self._is_here or {left.dtype, right.dtype} - _SIGNS:
                self.afterwards([(table, row)], partial(_agreement_of_arrays, table, row), left, right)
            elif not self.is_late:
                sides = [tensor.contiguous() for tensor in (left, right)]  # elements must pair up
                table.put(row, self._agreement_at(*((t.data_ptr(), t.size, t.dtype) for t in sides)))
            else:
                given = [self._hold(left), self._hold(right)]
                self._put([(table, row)], partial(self._agreement_of_held, table, row), given, False)

    # -- where tensors are there ---------------------------------------------------------------------------------

    def read(self, tensor: Any, table: SeriesTable, row: int) -> None:
        """One that fills one range of memory."""
        if self._lib is None:
            self._read_plain(tensor.asnumpy(), table, row)
        else:
            self._read_at(tensor.data_ptr(), tensor.size, DTYPES[tensor.dtype], table, row)

    def _read_held(self, table: SeriesTable, row: int, at: At, held: Held) -> None:
        if self._lib is None:
            self._read_plain(held.values, at(table), row)
        else:
            self._read_at(held.pointer, held.size, DTYPES[held.dtype], at(table), row)

    def read_array(self, array: np.ndarray, table: SeriesTable, row: int) -> None:
        if self._lib is None:
            self._read_plain(array, table, row)
        elif array.size:
            self._read_at(array.ctypes.data, array.size, DType.F32, table, row)

    def _read_plain(self, values: np.ndarray, table: SeriesTable, row: int) -> None:
        """Where the native kernel is missing."""
        table.results[row] = record(plain_statistics(values, self.eps))
        if table.bins is not None and table.bins_at(row):
            table.bins.put(row, *np.histogram(values.reshape(-1).astype(np.float64), OCTAVE_EDGES)[0])

    def _read_at(self, pointer: int, numel: int, kind: DType, table: SeriesTable, row: int) -> None:
        assert self._lib is not None
        code = int(kind) | (_HASHED if self.checksum else 0)
        to = table.address + row * _ITEM
        if table.bins is None:
            self._lib.tt_stats_tensor(pointer, numel, code, self.eps, to, self.threads)
            return
        bins = table.bins_at(row) or None
        if self._lib.tt_stats_tensor_bins(pointer, numel, code, self.eps, to, bins, self.threads) == 0 and bins:
            table.bins.present[row] = 1

    def _agreement_of_held(self, table: SeriesTable, row: int, at: Any, *sides: Held) -> None:
        at(table).put(row, self._agreement_at(*((held.pointer, held.size, held.dtype) for held in sides)))

    def _agreement_at(self, *sides: tuple[int, int, Any]) -> float:
        assert self._lib is not None
        left, right = (native.Tensor(pointer, size, int(DTYPES[kind]), 0) for pointer, size, kind in sides)
        out = ctypes.c_double()
        self._lib.tt_sign_agreement(
            ctypes.byref(left), ctypes.byref(right), 1, ctypes.byref(out), self.threads
        )
        return out.value

    # -- the step ------------------------------------------------------------------------------------------------

    def later(self, table: SeriesTable, row: int, values: Any) -> None:
        self._put([(table, row)], partial(_fill, table, row), [Held(values, _UNCOUNTED, is_safe=True)])

    def withdraw(self, table: SeriesTable, rows: set[int]) -> dict[int, Any]:
        with self._lock:
            found = {row: self._work.pop((table, row)) for row in rows if (table, row) in self._work}
        return {row: work.held[0].tensor for row, work in found.items() if work.held[0] is not None}

    @property
    def has_pending(self) -> bool:
        return bool(self._work)

    def forget(self, tables: list[SeriesTable]) -> None:
        with self._lock:
            self._work = {key: work for key, work in self._work.items() if work.rows[0][0] not in tables}

    def now(self, table: SeriesTable) -> Pending:
        with self._lock:
            work = [one for one in self._work.values() if any(other is table for other, _ in one.rows)]
        return self._pending(work)

    def settle(self, table: SeriesTable) -> None:
        step = self.now(table).queued
        self.forget([table])
        if step is not None and step.arrive():
            for shot in step.shots():
                table.take(shot)

    def take_pending(self) -> Pending:
        with self._lock:
            work, self._work = list(self._work.values()), {}
        return self._pending(work)

    def _pending(self, work: list[Work]) -> Pending:
        return Pending(queued=LateStep(work, self.refuse, self.failed) if work else None)

    def trouble(self) -> str:
        if self._lacks and not self._has_told_lack:
            self._has_told_lack = True
            return (
                "MindSpore's own operations make no histograms (telltale.histogram) and no checksums "
                "(telltale.checksum): tensors on a device, and those for which no memory is kept, have none"
            )
        if self._lib is None or self._told:
            return ""
        sentence = (self._lib.tt_stats_trouble() or b"").decode()
        self._told = bool(sentence)
        return sentence


def _fill(table: SeriesTable, row: int, at: Callable[[SeriesTable], SeriesTable], held: Any) -> None:
    """What MindSpore's operations found goes into a row."""
    numbers = held.values.reshape(-1).tolist()
    if table.stats:
        at(table).put(row, *numbers)
    else:
        at(table).results[row] = record(numbers)


def _agreement_of_arrays(table: SeriesTable, row: int, at: Any, left: np.ndarray, right: np.ndarray) -> None:
    product = np.sign(left.astype(np.float64)) * np.sign(right.astype(np.float64))
    at(table).put(row, (float(np.nan_to_num(product, nan=0.0).mean()) + 1) / 2)


def plain_statistics(values: np.ndarray, eps: float) -> list[float]:
    """What record() takes, by numpy: where the native kernel is missing."""
    x = values.reshape(-1).astype(np.float64)
    finite = np.isfinite(x)
    kept = x[finite]
    low, high = (float(kept.min()), float(kept.max())) if kept.size else (0.0, 0.0)
    return [
        float(kept.sum()), float((kept * kept).sum()), low, high, x.size, int(finite.sum()),
        int((np.abs(kept) < eps).sum()), int(np.isnan(x).sum()), int(np.isposinf(x).sum()), int(np.isneginf(x).sum()),
    ]  # fmt: skip
