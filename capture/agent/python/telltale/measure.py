# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a torch tensor once and writes its statistics into a row of a table.

Host tensors go through the native kernel, those on NVIDIA cards through its kernels for them. Where these are missing,
and for other devices, torch's own operations compute the same quantities; results on a device are fetched at the end of
the step, without waiting.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

from . import native, octaves
from .agent.measurer import AnyMeasurer, Pending, fills_one_range
from .devicestats import DeviceStats
from .kinds import DType
from .quiet import quiet
from .series import PRESENT, STATS, SeriesTable, record

DTYPES: dict[torch.dtype, DType] = {
    torch.float32: DType.F32,
    torch.float64: DType.F64,
    torch.float16: DType.F16,
    torch.bfloat16: DType.BF16,
    torch.int8: DType.I8,
    torch.uint8: DType.U8,
    torch.int16: DType.I16,
    torch.int32: DType.I32,
    torch.int64: DType.I64,
    torch.bool: DType.BOOL,
}
_CODES = {dtype: int(code) for dtype, code in DTYPES.items()}
_HASHING_CODES = {dtype: code | 0x100 for dtype, code in _CODES.items()}  # TT_WITH_CHECKSUM
_INTEGERS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}  # by their width
_TENSORS = np.dtype([("data", "<u8"), ("numel", "<u8"), ("dtype", "<u4"), ("reserved", "<u4")])
_NATIVE_SIGNS = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
_ITEM = STATS.itemsize
_PLAIN = (torch.Tensor, torch.nn.Parameter)
_FREED = "its storage has been freed"
_CAPTURED = "a CUDA graph is being captured, and a reading that is replayed with it would never come home"


def local(tensor: Any) -> Any:
    """The part of a distributed tensor that lies on this rank; a plain tensor itself. Never a collective."""
    if type(tensor) in _PLAIN:
        return tensor
    inner = getattr(tensor, "_local_tensor", None)
    return tensor if inner is None else inner


def refusal(tensor: Any) -> str:
    """Why a tensor cannot be read, "" when it can."""
    if not isinstance(tensor, torch.Tensor):
        return "it is not a tensor"
    if torch._C._functorch.is_functorch_wrapped_tensor(tensor):
        return "it lives inside a functorch transform"
    if tensor.is_meta:
        return "it is on the meta device"
    if type(tensor).__name__ == "AsyncCollectiveTensor":
        return "a collective is still filling it, and waiting for that would disturb the training"
    if tensor.layout is not torch.strided:
        return "" if tensor.layout is torch.sparse_coo else "it is not a dense tensor"
    if tensor.is_quantized or tensor.dtype.is_complex or tensor.dtype not in _CODES:
        return f"its element type {tensor.dtype} has no statistics"
    return ""


def is_dense(tensor: torch.Tensor) -> bool:
    """Whether the elements fill one range of memory, in whatever order (the statistics do not depend on it)."""
    return fills_one_range(tensor.shape, tensor.stride())


def readable(tensor: torch.Tensor) -> torch.Tensor:
    """The same values in one range of memory: the tensor itself where possible, else a copy."""
    if tensor.layout is torch.strided and not tensor.is_neg() and is_dense(tensor):
        return tensor
    with quiet(tensor.device):
        tensor = tensor.detach()
        if tensor.layout is torch.sparse_coo:
            # Rows that were looked up several times stand there several times: they must be added up first.
            return tensor.coalesce()._values().contiguous()
        return tensor.resolve_neg().contiguous()


class Measurer(AnyMeasurer):
    """Thread: any; a row has one writer."""

    def __init__(
        self,
        eps: float,
        threads: int,
        use_native: bool | None = None,
        checksum: bool = False,
        has_bins: bool = False,
    ) -> None:
        self.configure(eps, threads, checksum, has_bins)
        self.is_native = native.available() if use_native is None else use_native
        if self.is_native:
            lib = native.library()
            self._tensor = lib.tt_stats_tensor
            self._batch = lib.tt_stats_bins
            self._binned = lib.tt_stats_tensor_bins
            self._cards = DeviceStats()
        self._told = False
        self._pending: list[tuple[SeriesTable, int, torch.Tensor]] = []
        self._scratch: dict[int, np.ndarray] = {}

    def configure(self, eps: float, threads: int, checksum: bool = False, has_bins: bool = False) -> None:
        """What holds from the next tensor on."""
        self.eps, self.threads, self.checksum, self.has_bins = eps, threads, checksum, has_bins
        self._codes = _HASHING_CODES if checksum else _CODES

    def prepare(self, tensors: Iterable[Any]) -> None:
        """Makes ready what takes its time on the cards that hold these, before a hook would."""
        if self.is_native:
            devices = {tensor.get_device() for tensor in map(local, tensors) if tensor.is_cuda}
            for device in devices:
                self._cards.open(device)

    def refusal(self, tensor: Any) -> str:
        return refusal(tensor)

    def one(self, tensor: Any, table: SeriesTable, row: int) -> str:
        """Measures one tensor now; returns why not, "" when done. An empty tensor has no value."""
        if self._is_simple(tensor):
            pointer = tensor.data_ptr()
            if pointer:
                return self._read(tensor, pointer, table, row)
        return self._other(tensor, table, row)

    def _read(self, dense: torch.Tensor, pointer: int, table: SeriesTable, row: int) -> str:
        """A tensor whose elements fill one range of memory."""
        if dense.is_cpu and self.is_native:
            code = self._codes[dense.dtype]
            to = table.address + row * _ITEM
            if table.bins is None:
                self._tensor(pointer, dense.numel(), code, self.eps, to, self.threads)
                return ""
            bins = table.bins_at(row) or None
            if self._binned(pointer, dense.numel(), code, self.eps, to, bins, self.threads) == 0 and bins:
                table.bins.present[row] = 1
            return ""
        if dense.is_cpu:
            fill(table, row, torch_stats(dense, self.eps, self.checksum).tolist())
            if table.bins is not None and table.bins_at(row):
                table.bins.put(row, *octaves.counts(dense).tolist())
            return ""
        return (self._on_card if dense.is_cuda else self._by_torch)(dense, table, row)

    def _is_simple(self, tensor: Any) -> bool:
        """Whether the native kernels can read a tensor as it is."""
        return (
            self.is_native
            and type(tensor) in _PLAIN
            and tensor.layout is torch.strided
            and tensor.dtype in _CODES
            and tensor.is_contiguous()
            and not tensor.is_neg()
        )

    def _on_card(self, dense: torch.Tensor, table: SeriesTable, row: int) -> str:
        status = -1
        if self.is_native:
            device, code = dense.get_device(), self._codes[dense.dtype]
            status = self._cards.one(device, dense.data_ptr(), dense.numel(), code, self.eps, table, row)
        if status < 0:
            return self._by_torch(dense, table, row)
        return _CAPTURED if status else ""

    def _by_torch(self, dense: torch.Tensor, table: SeriesTable, row: int) -> str:
        if dense.is_cuda and torch.cuda.is_current_stream_capturing():
            return _CAPTURED
        self._pending.append((table, row, torch_stats(dense, self.eps, self.checksum)))
        if table.bins is not None and table.bins_at(row):
            self._pending.append((table.bins, row, octaves.counts(dense)))
        return ""

    def _other(self, tensor: Any, table: SeriesTable, row: int) -> str:
        tensor = local(tensor)
        why = refusal(tensor)
        if why:
            return why
        if tensor.numel() == 0:
            return ""
        dense = readable(tensor)
        has_address = dense.is_cpu or dense.is_cuda  # others may have no such thing
        pointer = dense.data_ptr() if has_address else 0
        return _FREED if has_address and not pointer else self._read(dense, pointer, table, row)

    def batch(self, tensors: Iterable[Any], table: SeriesTable, first: int = 0) -> list[tuple[int, str]]:
        """Measures tensors (None = not there) into consecutive rows in one call; returns (row, why not)."""
        tensors = list(tensors)
        if not self.is_native:
            reasons = [
                (first + i, "" if t is None else self._other(t, table, first + i)) for i, t in enumerate(tensors)
            ]
            return [entry for entry in reasons if entry[1]]
        described = self._scratch.get(len(tensors))
        if described is None:
            described = self._scratch[len(tensors)] = np.zeros(len(tensors), _TENSORS)
        refused: list[tuple[int, str]] = []
        keep: list[torch.Tensor] = []
        pointers = [0] * len(tensors)
        numels = [0] * len(tensors)
        codes = [1] * len(tensors)
        cards: dict[int, list[tuple[int, torch.Tensor]]] = {}
        for i, tensor in enumerate(tensors):
            if tensor is None:
                continue
            is_simple = self._is_simple(tensor)
            if is_simple and tensor.is_cuda:
                cards.setdefault(tensor.get_device(), []).append((first + i, tensor))
                continue
            if not (is_simple and tensor.is_cpu):
                tensor = local(tensor)
                why = refusal(tensor)
                if why or not tensor.is_cpu:
                    why = why or self._other(tensor, table, first + i)
                    if why:
                        refused.append((first + i, why))
                    continue
                tensor = readable(tensor)
                keep.append(tensor)
            pointer = tensor.data_ptr()
            if not pointer:
                if tensor.numel():
                    refused.append((first + i, _FREED))
                continue
            pointers[i] = pointer
            numels[i] = tensor.numel()
            codes[i] = self._codes[tensor.dtype]
        for device, found in cards.items():
            refused += self._batch_on_card(device, found, table)
        if not any(pointers):
            return refused
        described["data"] = pointers
        described["numel"] = numels
        described["dtype"] = codes
        results = np.zeros(len(tensors), STATS) if len(keep) + len(refused) else None
        # Rows of tensors that went another way must not be overwritten by the empty results of this call.
        target = table.address + first * _ITEM if results is None else results.ctypes.data
        bins = table.bins if table.bins is not None and table.bins_at(first + len(tensors) - 1) else None
        counted = table.bins_at(first) if bins is not None else None
        self._batch(described.ctypes.data, len(tensors), self.eps, target, counted, self.threads)
        if bins is not None:
            flags = table.flags[first : first + len(tensors)] if results is None else results["flags"]
            bins.present[first : first + len(tensors)] |= (flags & PRESENT != 0).astype(np.uint8)
        if results is not None:
            measured = results["flags"] & PRESENT != 0
            table.results[first : first + len(tensors)][measured] = results[measured]
        return refused

    def together(self, found: list[tuple[int, Any]], table: SeriesTable) -> list[tuple[int, str]]:
        """Measures tensors that are there at one moment into (row, tensor): those on a card in one launch. Returns
        (row, why not)."""
        refused: list[tuple[int, str]] = []
        cards: dict[int, list[tuple[int, torch.Tensor]]] = {}
        for row, tensor in found:
            why = ""
            is_simple = self._is_simple(tensor)
            dense = tensor if is_simple else local(tensor)
            if not self.is_native or not dense.is_cuda:
                why = self.one(tensor, table, row)
            elif is_simple or not (why := refusal(dense)):
                dense = dense if is_simple else readable(dense)
                cards.setdefault(dense.get_device(), []).append((row, dense))
            if why:
                refused.append((row, why))
        for device, those in cards.items():
            refused += self._batch_on_card(device, those, table)
        return refused

    def _batch_on_card(
        self, device: int, found: list[tuple[int, torch.Tensor]], table: SeriesTable
    ) -> list[tuple[int, str]]:
        """(row, tensor) of those that fill one range of memory."""
        refused: list[tuple[int, str]] = []
        rows: list[int] = []
        described: array[int] = array("Q")
        for row, tensor in found:
            pointer, numel = tensor.data_ptr(), tensor.numel()
            if pointer and numel:
                rows.append(row)
                described.extend((pointer, numel, self._codes[tensor.dtype]))
            elif numel:
                refused.append((row, _FREED))
        if not rows:
            return refused
        status = -1
        if self._cards.open(device):
            status = self._cards.batch(device, described, rows, self.eps, table)
        if status < 0:
            todo = [(row, tensor) for row, tensor in found if tensor.numel() and tensor.data_ptr()]
            return refused + [(row, why) for row, tensor in todo if (why := self._by_torch(tensor, table, row))]
        return refused + ([(row, _CAPTURED) for row in rows] if status else [])

    def agreement(self, pairs: list[tuple[Any, Any]], table: SeriesTable, rows: list[int]) -> None:
        """(mean(sign a * sign b) + 1) / 2 of each pair of tensors of one shape, into rows of a table with that one
        statistic. Zeros and NaN count as half."""
        cards: dict[int, list[int]] = {}
        for i, pair in enumerate(pairs):
            if all(self._is_simple(t) and t.is_cuda and t.dtype in _NATIVE_SIGNS for t in pair):
                cards.setdefault(pair[0].get_device(), []).append(i)
        done: set[int] = set()
        for device, numbers in cards.items():
            left, right = (_described([pairs[i][side] for i in numbers]) for side in (0, 1))
            if self._cards.open(device) and (
                self._cards.agreement(device, left, right, table, [rows[i] for i in numbers]) >= 0
            ):
                done.update(numbers)
        rest = [i for i in range(len(pairs)) if i not in done]
        for i, value in zip(rest, self._agreement([pairs[i] for i in rest])):
            if isinstance(value, float):
                table.put(rows[i], value)
            else:
                self.later(table, rows[i], value)

    def _agreement(self, pairs: list[tuple[Any, Any]]) -> list[Any]:
        """A float, or a one-element tensor on the pair's device."""
        values: list[Any] = [None] * len(pairs)
        host: list[int] = []
        left = np.zeros(len(pairs), _TENSORS)
        right = np.zeros(len(pairs), _TENSORS)
        keep = []
        for i, pair in enumerate(pairs):
            if self.is_native and all(t.is_cpu and t.dtype in _NATIVE_SIGNS for t in pair):
                for side, tensor in zip((left, right), pair):
                    # Elements must pair up, so both need the same order in memory.
                    flat = tensor if tensor.is_contiguous() else tensor.detach().contiguous()
                    keep.append(flat)
                    side[len(host)] = (flat.data_ptr(), flat.numel(), _CODES[flat.dtype], 0)
                host.append(i)
            else:
                with quiet(pair[0].device):
                    product = torch.sign(pair[0].detach()) * torch.sign(pair[1].detach())
                    mean = (torch.nan_to_num(product.float(), nan=0.0).mean(dtype=torch.float64) + 1) / 2
                    values[i] = float(mean) if mean.is_cpu else mean.reshape(1)
        if host:
            out = np.zeros(len(host), np.float64)
            native.library().tt_sign_agreement(
                left.ctypes.data, right.ctypes.data, len(host), out.ctypes.data, self.threads
            )
            for i, value in zip(host, out.tolist()):
                values[i] = value
        return values

    def later(self, table: SeriesTable, row: int, values: torch.Tensor) -> None:
        """Values on a device: torch_stats()', or a row of the table's own stats."""
        self._pending.append((table, row, values))

    def withdraw(self, table: SeriesTable, rows: set[int]) -> dict[int, torch.Tensor]:
        """Takes what these rows have on a device out of the step: the last values, by row."""
        found = {row: values for other, row, values in self._pending if other is table and row in rows}
        if found:
            self._pending = [entry for entry in self._pending if entry[0] is not table or entry[1] not in found]
        return found

    @property
    def has_pending(self) -> bool:
        """Whether results of this step are still on a device."""
        return bool(self._pending) or (self.is_native and bool(self._cards))

    def forget(self, tables: list[SeriesTable]) -> None:
        """Drops results of these tables that are still on a device."""
        if self._pending:
            self._pending = [entry for entry in self._pending if all(entry[0] is not table for table in tables)]
        if self.is_native:
            self._cards.forget(tables)

    def now(self, table: SeriesTable) -> Pending:
        """What one table has on a device; it stays in the step."""
        pending = Pending([entry for entry in self._pending if entry[0] is table])
        if self.is_native:
            pending.queued = self._cards.look(table)
        return pending

    def trouble(self) -> str:
        """What the native kernel could not have, once; "" when it had everything."""
        if not self.is_native:
            return ""
        sentence, self._cards.trouble = self._cards.trouble, ""
        if not sentence and not self._told:
            sentence = (native.library().tt_stats_trouble() or b"").decode()
            self._told = bool(sentence)
        return sentence

    def take_pending(self) -> Pending:
        """Results still on a device, for the caller to fetch together."""
        pending, self._pending = Pending(self._pending), []
        if self.is_native:
            pending.queued = self._cards.take()
        return pending


def _described(tensors: list[torch.Tensor]) -> array[int]:
    """As DeviceStats.batch() takes it; the tensors must outlive the call that reads it."""
    return array("Q", [word for t in tensors for word in (t.data_ptr(), t.numel(), _CODES[t.dtype])])


def torch_stats(tensor: torch.Tensor, eps: float, checksum: bool = False) -> torch.Tensor:
    """[sum, sumsq, min, max, numel, finite, zero_count, nans, pos_infs, neg_infs] as float64 on the tensor's device
    (float32 where the device has no float64); with a checksum four numbers more, 16 bits of it each, lowest first."""
    wide = torch.float32 if tensor.device.type in ("mps",) else torch.float64
    with quiet(tensor.device):
        x = tensor.detach().reshape(-1)
        quarters: list[torch.Tensor] = []
        if checksum:
            bits = x.view(torch.uint8) if x.dtype in (torch.bool, torch.uint8) else x.view(_INTEGERS[x.element_size()])
            total = bits.sum(dtype=torch.int64)  # it wraps around
            quarters = [((total >> shift) & 0xFFFF).to(wide) for shift in (0, 16, 32, 48)]
        if x.dtype is torch.bool:
            x = x.to(torch.uint8)
        finite = torch.isfinite(x)
        zero = torch.zeros((), dtype=x.dtype, device=x.device)
        kept = torch.where(finite, x, zero).to(wide)
        inf = torch.full((), math.inf, dtype=wide, device=x.device)
        return torch.stack(
            [
                kept.sum(),
                (kept * kept).sum(),
                torch.where(finite, kept, inf).min(),
                torch.where(finite, kept, -inf).max(),
                torch.full((), float(x.numel()), dtype=wide, device=x.device),
                finite.sum().to(wide),
                (kept.abs() < eps).logical_and(finite).sum().to(wide),
                torch.isnan(x).sum().to(wide),
                torch.isposinf(x).sum().to(wide),
                torch.isneginf(x).sum().to(wide),
                *quarters,
            ]
        )


def fill(table: SeriesTable, row: int, numbers: list[float]) -> None:
    """Writes what torch_stats() gave into a row."""
    table.results[row] = record(numbers)
