# SPDX-License-Identifier: GPL-3.0-or-later
"""What grad_probe says of a gradient, added up part after part: each part of it is read while it is in the cache."""

from __future__ import annotations

import hashlib
import zlib

import numpy as np

from .. import native
from ..kinds import DType
from ..series import STATS, msprobe_op
from .probeconfig import Number, ProbeConfig

_PIECE = 1 << 17  # elements


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
        kernel = native.library().tt_stats_tensor if part.dtype != np.float64 and native.available() else None
        records = np.zeros(-(-part.size // _PIECE), STATS)
        data, result = part.ctypes.data, records.ctypes.data
        signs = []
        for i in range(len(records)):
            piece = part[i * _PIECE : (i + 1) * _PIECE]
            if kernel is not None:
                at = data + i * _PIECE * part.itemsize
                kernel(at, piece.size, int(dtype), 0.0, result + i * STATS.itemsize, 1)
            piece = _widened(piece, dtype)
            if kernel is None:
                self._read(piece)
            if self.bounds is not None:
                self._count(piece)
            elif not self._has_signs:
                self._hash(piece)
            if self._has_signs:
                signs.append(np.packbits(piece > 0, bitorder="little"))
        if kernel is not None and len(records):
            self._take_records(records)
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

    def _take_records(self, records: np.ndarray) -> None:
        norms = msprobe_op(records, "norm")
        self._nans += int(records["nans"].sum())
        squares = np.where(np.isfinite(norms), records["sumsq"], norms)
        self._take(msprobe_op(records, "min").min(), msprobe_op(records, "max").max(), float(squares.sum()))

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


def _widened(piece: np.ndarray, dtype: DType) -> np.ndarray:
    """As float32 or float64."""
    if dtype is DType.BF16:
        return (piece.astype(np.uint32) << 16).view(np.float32)
    return piece.astype(np.float32) if piece.dtype == np.float16 else piece


def _narrowed(value: float) -> float:
    """As float32, which is what msprobe writes of every type, where that has a place for it."""
    with np.errstate(over="ignore"):
        narrow = float(np.float32(value))
    return narrow if np.isfinite(narrow) or not np.isfinite(value) else float(value)
