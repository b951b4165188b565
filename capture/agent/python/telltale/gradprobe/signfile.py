# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of signs: a NumPy array of bools in the gradient's shape, True where it is above zero. Zero, negative and NaN
are alike, as msprobe has it."""

from __future__ import annotations

import io
import math
import os
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import numpy.lib.format as npy

CHUNK = 1 << 20  # bytes of each file that are in memory while two are compared


class ProbeError(ValueError):
    """Something written by grad_probe cannot be used: one sentence."""


class PartFile:
    """A file that is written part by part and has its name only when it is whole. Errors are OSError."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._temporary = os.path.join(os.path.dirname(path), f".{os.getpid()}.{os.path.basename(path)[:200]}.part")
        self._file: BinaryIO | None = None

    def append(self, data: Any) -> None:
        if self._file is None:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            self._file = open(self._temporary, "wb")
        self._file.write(data)

    def finish(self) -> None:
        self.append(b"")
        assert self._file is not None
        self._file.close()
        os.replace(self._temporary, self.path)

    def give_up(self) -> None:
        """Leaves nothing behind."""
        if self._file is not None:
            try:
                self._file.close()
            except OSError:
                pass  # what it still had to write is lost with the rest
            if os.path.exists(self._temporary):
                os.unlink(self._temporary)


def header(shape: tuple[int, ...]) -> bytes:
    """What stands before the elements."""
    out = io.BytesIO()
    npy.write_array_header_1_0(out, {"descr": "|b1", "fortran_order": False, "shape": shape})
    return out.getvalue()


def unpacked(bits: np.ndarray, count: int) -> np.ndarray:
    """A byte an element of signs that lie eight a byte."""
    return np.unpackbits(bits, count=count, bitorder="little")


@dataclass(frozen=True)
class SignFile:
    """One that was found, as its head has it."""

    path: str
    shape: tuple[int, ...]
    is_fortran: bool
    start: int  # of the elements

    @property
    def numel(self) -> int:
        return math.prod(self.shape)


def open_signs(path: str) -> SignFile:
    """Reads the head and looks whether the rest is there. Raises ProbeError."""
    try:
        with open(path, "rb") as file:
            version = npy.read_magic(file)
            read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
            shape, is_fortran, dtype = read(file)
            found = SignFile(path, shape, is_fortran, file.tell())
            size = os.fstat(file.fileno()).st_size
    except OSError as error:
        raise ProbeError(f"{path} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise ProbeError(f"{path} is no NumPy file that can be read: {error}".splitlines()[0]) from None
    if dtype != np.bool_:
        raise ProbeError(f"{path} has elements of {dtype}, and signs are bools")
    if size != found.start + found.numel:
        what = "cut off" if size < found.start + found.numel else "longer than its head says"
        raise ProbeError(f"{path} is {what}: {found.start + found.numel} bytes are right, and it has {size}")
    return found


def equal_signs(a: SignFile, b: SignFile) -> int:
    """How many elements are the same, with a fixed amount of memory. Raises ProbeError."""
    if a.shape != b.shape:
        raise ProbeError(f"{a.path} has the shape {list(a.shape)} and {b.path} {list(b.shape)}")
    try:
        if a.is_fortran != b.is_fortran:
            return _equal_across(a, b)
        left, right = np.empty(CHUNK, np.uint8), np.empty(CHUNK, np.uint8)
        differing = 0
        with open(a.path, "rb", buffering=0) as first, open(b.path, "rb", buffering=0) as second:
            first.seek(a.start)
            second.seek(b.start)
            todo = a.numel
            while todo:
                count = min(todo, CHUNK)
                _fill(first, left[:count], a.path)
                _fill(second, right[:count], b.path)
                np.bitwise_xor(left[:count], right[:count], out=left[:count])
                differing += int(np.count_nonzero(left[:count].view(np.bool_)))
                todo -= count
        return a.numel - differing
    except OSError as error:
        raise ProbeError(f"{error.filename or a.path} cannot be read: {error.strerror or error}") from None


def _fill(file: Any, into: np.ndarray, path: str) -> None:
    view = memoryview(into)
    while view:
        got = file.readinto(view)
        if not got:
            raise ProbeError(f"{path} became shorter while it was read")
        view = view[got:]


def _equal_across(a: SignFile, b: SignFile) -> int:
    """Of two whose elements lie in different order."""
    left, right = (np.load(one.path, mmap_mode="r") for one in (a, b))
    rows = max(1, CHUNK * len(left) // max(1, left.size))
    return sum(
        int(np.count_nonzero(left[i : i + rows] == right[i : i + rows])) for i in range(0, len(left), rows)
    )  # fmt: skip
