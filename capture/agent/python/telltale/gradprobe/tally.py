# SPDX-License-Identifier: GPL-3.0-or-later
"""What grad_probe says of a gradient, added up part after part: each part of it is read while it is in the cache."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator

import numpy as np

from .. import native
from ..kinds import DType
from ..series import STATS, msprobe_op
from .probeconfig import Number, ProbeConfig

_PIECE = 1 << 18  # elements
_THREADS = 2  # of the statistics kernel, as telltale.threads is without being said


class Tally:
    """Thread: one at a time."""

    def __init__(self, config: ProbeConfig) -> None:
        self.numel = 0
        self.zeros = 0
        self._nans = 0
        self._least, self._largest, self._squares = np.inf, -np.inf, 0.0
        self.bounds = config.bounds if config.grad_level == "L2" else None
        self.edges = [float(edge) for edge in np.array(self.bounds or (), np.float32)]  # as msprobe has them
        self._below = np.zeros(len(self.edges), np.int64)  # elements up to each
        self._has_signs = config.has_signs
        self._crc = 0
        self._md5 = hashlib.md5(usedforsecurity=False) if config.is_documented else None

    @property
    def counts(self) -> list[int]:
        """Elements in each interval (a, b]; NaN lies in none."""
        return [int(n) for n in np.diff([0, *self._below, self.numel - self._nans])]

    @property
    def checksum(self) -> str:
        """Of the elements as float32, in their order: CRC-32, which msprobe calls MD5, or what the documents have."""
        return self._md5.hexdigest() if self._md5 is not None else f"{self._crc:08x}"

    @property
    def extremes(self) -> tuple[Number, Number, Number] | None:
        """Largest, least and norm, which NaN and Inf spread to as by torch's own reductions; None of an empty one."""
        if self.numel == 0:
            return None
        return tuple(_narrowed(x) for x in (self._largest, self._least, np.sqrt(self._squares)))  # type: ignore[return-value]

    def add(self, part: np.ndarray, dtype: DType) -> np.ndarray | None:
        """Takes the next elements, flat and contiguous (bfloat16 as uint16). Their signs, eight a byte and the lowest
        bit first, where those are wanted; every part but the last has a multiple of eight elements."""
        self.numel += part.size
        is_read = part.dtype != np.float64 and native.available()
        if is_read:
            self._read_by_kernel(part, dtype)
        signs = []
        for piece in _pieces(part, dtype):
            if not is_read:
                self._read(piece)
            if self.bounds is not None:
                self._count(piece)
            elif not self._has_signs:
                self._hash(piece)
            if self._has_signs:
                signs.append(np.packbits(piece > 0, bitorder="little"))
        return np.concatenate(signs) if signs else np.zeros(0, np.uint8) if self._has_signs else None

    def add_numbers(self, numbers: list[float]) -> None:
        """The same of a part that was counted on a device: elements, NaN, least, largest, sum of squares, zeros, then
        elements up to each bound."""
        numel, nans, least, largest, squares, zeros, *below = numbers
        self.numel += int(numel)
        self.zeros += int(zeros)
        self._nans += int(nans)
        self._take(least, largest, squares)
        self._below += np.array(below, np.int64)

    def _take(self, least: float, largest: float, squares: float) -> None:
        with np.errstate(invalid="ignore"):
            self._least, self._largest = np.minimum(self._least, least), np.maximum(self._largest, largest)
            self._squares += squares

    def _read_by_kernel(self, part: np.ndarray, dtype: DType) -> None:
        if part.size == 0:
            return
        record = np.zeros(1, STATS)
        native.library().tt_stats_tensor(part.ctypes.data, part.size, int(dtype), 0.0, record.ctypes.data, _THREADS)
        least, largest = (float(msprobe_op(record, op)[0]) for op in ("min", "max"))
        norm = float(msprobe_op(record, "norm")[0])
        self._nans += int(record["nans"][0])
        self._take(least, largest, float(record["sumsq"][0]) if np.isfinite(norm) else norm)

    def _read(self, piece: np.ndarray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            wide = piece.astype(np.float64)
            self._nans += int(np.count_nonzero(np.isnan(piece)))
            self._take(float(wide.min()), float(wide.max()), float(np.dot(wide, wide)))

    def _count(self, piece: np.ndarray) -> None:
        for i, edge in enumerate(self.edges):
            self._below[i] += np.count_nonzero(piece <= edge)
        self.zeros += int(np.count_nonzero(piece == 0))

    def _hash(self, piece: np.ndarray) -> None:
        data = piece.astype(np.float32, copy=False).tobytes()
        self._crc = zlib.crc32(data, self._crc)
        if self._md5 is not None:
            self._md5.update(data)


def _pieces(part: np.ndarray, dtype: DType) -> Iterator[np.ndarray]:
    """Of float32 or float64."""
    for first in range(0, part.size, _PIECE):
        piece = part[first : first + _PIECE]
        if dtype is DType.BF16:
            piece = (piece.astype(np.uint32) << 16).view(np.float32)
        elif piece.dtype == np.float16:
            piece = piece.astype(np.float32)
        yield piece


def _narrowed(value: float) -> float:
    """As float32, which is what msprobe writes of every type, where that has a place for it."""
    with np.errstate(over="ignore"):
        narrow = float(np.float32(value))
    return narrow if np.isfinite(narrow) or not np.isfinite(value) else float(value)
