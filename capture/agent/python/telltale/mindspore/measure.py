# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a MindSpore tensor once and writes its statistics into a row of a table.

A tensor that is there is read where it lies, by the native kernel. The address of one that is still being computed
waits for it: such a tensor is kept and read when the optimizer steps, as many as the budget holds. What is over it, and
what lies on a device, MindSpore's own operations measure, which wait for nothing; the results are fetched then, too.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
from mindspore import Tensor, dtype

from .. import native
from ..agent.measurer import AnyMeasurer, Pending, fills_one_range
from ..kinds import DType
from ..series import STATS, SeriesTable, record
from . import deviceops, executor

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
_SIGNS = (DType.F32, DType.F64, DType.F16, DType.BF16)
_HASHED = 0x100  # TT_WITH_CHECKSUM
_ITEM = STATS.itemsize
MOST_KEPT = 256 << 20  # bytes of tensors that wait to be read
_CHANGED = "it was changed in place before it could be read, and reading it at once would have made the training wait"


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
    def __init__(
        self, eps: float, threads: int, checksum: bool = False, has_bins: bool = False, use_native: bool | None = None
    ) -> None:
        self.configure(eps, threads, checksum, has_bins)
        self.is_native = native.available() if use_native is None else use_native
        self._lib = native.library() if self.is_native else None
        self._is_here = executor.is_on_host()
        self._lock = threading.Lock()
        # Tensors that wait to be read, with their versions; results of MindSpore's operations; metrics.
        self._kept: list[tuple[SeriesTable, int, Any, int]] = []
        self._bytes = 0
        self._results: list[tuple[SeriesTable, int, Any]] = []
        self._told = self._lacks = self._has_told_lack = False
        self.refused: list[tuple[SeriesTable, int, str]] = []  # found out when it was read, for the engine to tell

    def configure(self, eps: float, threads: int, checksum: bool = False, has_bins: bool = False) -> None:
        self.eps, self.threads, self.checksum, self.has_bins = eps, threads, checksum, has_bins

    def prepare(self, tensors: Iterable[Any]) -> None:
        return None

    def refusal(self, tensor: Any) -> str:
        return refusal(tensor)

    # -- in hooks ------------------------------------------------------------------------------------------------

    def one(self, tensor: Any, table: SeriesTable, row: int) -> str:
        """Arrays of float32 too, of what was computed here."""
        if isinstance(tensor, np.ndarray):
            self._read_array(np.ascontiguousarray(tensor), table, row)
            return ""
        why = refusal(tensor)
        if why or tensor.size == 0:
            return why
        if not self._is_here:
            self._by_operations(tensor, table, row)
        elif executor.is_blocking():
            self.read(dense(tensor), table, row)
        else:
            self._keep(tensor, table, row)
        return ""

    def _keep(self, tensor: Any, table: SeriesTable, row: int) -> None:
        size = tensor.nbytes
        with self._lock:
            is_kept = self._bytes + size <= MOST_KEPT
            if is_kept:
                self._bytes += size
                self._kept.append((table, row, tensor, getattr(tensor, "_version", 0)))
        if not is_kept:
            self._by_operations(tensor, table, row)

    def _by_operations(self, tensor: Any, table: SeriesTable, row: int) -> None:
        self._lacks = self._lacks or self.checksum or table.bins is not None
        with executor.no_grad():
            found = deviceops.statistics(tensor, self.eps)
        with self._lock:
            self._results.append((table, row, found))

    # -- where it may wait ---------------------------------------------------------------------------------------

    def settle(self, only: SeriesTable | None = None) -> None:
        """Reads what was kept, and fetches results. When an optimizer steps: its gradients are there by then, and with
        them all that led to them."""
        with self._lock:
            kept = [entry for entry in self._kept if only is None or entry[0] is only]
            results = [entry for entry in self._results if only is None or entry[0] is only]
            self._kept = [] if only is None else [entry for entry in self._kept if entry[0] is not only]
            self._results = [] if only is None else [entry for entry in self._results if entry[0] is not only]
            self._bytes -= sum(tensor.nbytes for _, _, tensor, _ in kept)
        for table, row, tensor, version in kept:
            if getattr(tensor, "_version", 0) != version:
                self.refused.append((table, row, _CHANGED))
            else:
                self.read(dense(tensor), table, row)
        for table, row, values in results:
            numbers = values.asnumpy().reshape(-1).tolist()
            if table.stats:
                table.put(row, *numbers)
            else:
                table.results[row] = record(numbers)

    def read(self, tensor: Any, table: SeriesTable, row: int) -> None:
        """One that fills one range of memory."""
        if self._lib is None:
            table.results[row] = record(plain_statistics(tensor.asnumpy(), self.eps))
        else:
            self._read_at(tensor.data_ptr(), tensor.size, DTYPES[tensor.dtype], table, row)

    def _read_array(self, array: np.ndarray, table: SeriesTable, row: int) -> None:
        if self._lib is None:
            table.results[row] = record(plain_statistics(array, self.eps))
        elif array.size:
            self._read_at(array.ctypes.data, array.size, DType.F32, table, row)

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

    def batch(self, tensors: Iterable[Any], table: SeriesTable, first: int = 0) -> list[tuple[int, str]]:
        refused = []
        for row, tensor in enumerate(tensors, first):
            if tensor is None:
                continue
            why = refusal(tensor)
            if why:
                refused.append((row, why))
            elif tensor.size and self._is_here:
                self.read(dense(tensor), table, row)
            elif tensor.size:
                self._by_operations(tensor, table, row)
        return refused

    def together(self, found: list[tuple[int, Any]], table: SeriesTable) -> list[tuple[int, str]]:
        return [(row, why) for row, tensor in found if (why := self.one(tensor, table, row))]

    def agreement(self, pairs: list[tuple[Any, Any]], table: SeriesTable, rows: list[int]) -> None:
        for row, (left, right) in zip(rows, pairs):
            kinds = DTYPES[left.dtype], DTYPES[right.dtype]
            if self._lib is not None and self._is_here and all(kind in _SIGNS for kind in kinds):
                sides = [tensor.contiguous() for tensor in (left, right)]  # elements must pair up
                described = [native.Tensor(t.data_ptr(), t.size, int(kind), 0) for t, kind in zip(sides, kinds)]
                out = ctypes.c_double()
                self._lib.tt_sign_agreement(
                    ctypes.byref(described[0]), ctypes.byref(described[1]), 1, ctypes.byref(out), self.threads
                )
                table.put(row, out.value)
                continue
            product = np.sign(left.asnumpy().astype(np.float64)) * np.sign(right.asnumpy().astype(np.float64))
            table.put(row, (float(np.nan_to_num(product, nan=0.0).mean()) + 1) / 2)

    # -- the step ------------------------------------------------------------------------------------------------

    def later(self, table: SeriesTable, row: int, values: Any) -> None:
        with self._lock:
            self._results.append((table, row, values))

    def withdraw(self, table: SeriesTable, rows: set[int]) -> dict[int, Any]:
        return {}  # metrics are numbers by the time that they come here

    @property
    def has_pending(self) -> bool:
        return False  # by the time that a step ends everything is read

    def forget(self, tables: list[SeriesTable]) -> None:
        with self._lock:
            self._kept = [entry for entry in self._kept if all(entry[0] is not table for table in tables)]
            self._results = [entry for entry in self._results if all(entry[0] is not table for table in tables)]
            self._bytes = sum(tensor.nbytes for _, _, tensor, _ in self._kept)

    def now(self, table: SeriesTable) -> Pending:
        self.settle(table)
        return Pending()

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

    def take_pending(self) -> Pending:
        self.settle()
        return Pending()


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
