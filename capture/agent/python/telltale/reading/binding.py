# SPDX-License-Identifier: GPL-3.0-or-later
"""libtelltale_reader.so through ctypes: the code that the desktop reads runs with.

Follows model/reader/telltale_reader.h.
"""

from __future__ import annotations

import ctypes as c
import json
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

from ..nativelibrary import load

ABI = 1


class ReaderMissing(RuntimeError):
    """The native reader is not there, or is another version's."""


class ReadError(RuntimeError):
    """A run cannot be read, or was asked for what it does not have: a sentence that says what to do."""


class ColumnView(c.Structure):
    """tr_column"""

    _fields_ = [
        ("name", c.c_char_p),
        ("type", c.c_uint32),
        ("width", c.c_uint32),
        ("data", c.c_void_p),
        ("missing", c.c_void_p),
    ]


class FrameView(c.Structure):
    """tr_frame_view"""

    _fields_ = [
        ("size", c.c_uint32),
        ("columns", c.c_uint32),
        ("rows", c.c_uint64),
        ("steps", c.c_void_p),
        ("series", c.c_uint64),
        ("counts", c.c_void_p),
        ("series_json", c.c_char_p),
        ("column", c.POINTER(ColumnView)),
        ("edge_count", c.c_uint64),
        ("edges", c.c_void_p),
        ("damaged", c.c_uint64),
    ]


@cache
def library() -> Any:
    """The loaded library; raises ReaderMissing with a sentence that says what to do."""
    return load("libtelltale_reader.so", "TELLTALE_READER_LIBRARY", _declare, "tr_abi_version", ABI, ReaderMissing)


def _declare(lib: Any) -> None:
    pointer, text = c.c_void_p, c.c_char_p
    signatures: dict[str, tuple[Any, list[Any]]] = {
        "tr_abi_version": (c.c_uint32, []),
        "tr_open": (pointer, [text, text, c.c_char_p, c.c_size_t]),
        "tr_close": (None, [pointer]),
        "tr_error": (text, [pointer]),
        "tr_facts": (pointer, [pointer]),
        "tr_document": (pointer, [pointer]),
        "tr_series": (pointer, [pointer, text]),
        "tr_log": (pointer, [pointer, text]),
        "tr_incidents": (pointer, [pointer]),
        "tr_free": (None, [pointer]),
        "tr_frame_read": (pointer, [pointer, text, c.c_uint32]),
        "tr_frame_get": (c.c_int, [pointer, c.POINTER(FrameView)]),
        "tr_frame_free": (None, [pointer]),
    }
    for name, (result, arguments) in signatures.items():
        function = getattr(lib, name)
        function.restype, function.argtypes = result, arguments


class NativeFrame:
    """A frame that the library holds: its arrays are its memory, which lives as long as this does."""

    def __init__(self, lib: Any, handle: int) -> None:
        self._lib, self._handle = lib, handle
        self.view = FrameView(size=c.sizeof(FrameView))
        if not lib.tr_frame_get(handle, c.byref(self.view)):
            raise ReaderMissing("libtelltale_reader.so and this package are of different versions")

    def __del__(self) -> None:
        self._lib.tr_frame_free(self._handle)


class NativeRun:
    """A run that the library has open. Threads: any, one question at a time."""

    def __init__(self, run: str, data_dir: str | None) -> None:
        self._lib = library()
        self._lock = threading.Lock()
        why = c.create_string_buffer(1024)
        self._handle = self._lib.tr_open(run.encode(), data_dir.encode() if data_dir else None, why, len(why))
        if not self._handle:
            raise ReadError(why.value.decode("utf-8", "replace"))

    def close(self) -> None:
        """Ends it; a second time does nothing."""
        with self._lock:
            handle, self._handle = self._handle, None
        if handle:
            self._lib.tr_close(handle)

    def ask(self, question: str, *arguments: Any) -> Any:
        """The document that `tr_<question>` gives."""
        with self._lock:
            found = getattr(self._lib, f"tr_{question}")(self._opened(), *arguments)
            if not found:
                raise ReadError(self._lib.tr_error(self._handle).decode("utf-8", "replace"))
        try:
            return json.loads(c.cast(found, c.c_char_p).value or b"null")
        finally:
            self._lib.tr_free(found)

    def frame(self, selection: dict[str, Any], threads: int = 0) -> NativeFrame:
        """Every stored value of a selection."""
        with self._lock:
            found = self._lib.tr_frame_read(self._opened(), json.dumps(selection).encode(), threads)
            if not found:
                raise ReadError(self._lib.tr_error(self._handle).decode("utf-8", "replace"))
        return NativeFrame(self._lib, found)

    def _opened(self) -> int:
        if not self._handle:
            raise ReadError("this run is closed: open it again with telltale.open()")
        return int(self._handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()


def selection_of(
    kind: str | Sequence[str] | None = None,
    stat: str | Sequence[str] | None = None,
    modules: str = "",
    ranks: int | Sequence[int] | None = None,
    steps: int | slice | range | tuple[int, int] | None = None,
) -> dict[str, Any]:
    """The selection of telltale_reader.h that these words of Python's mean."""
    chosen: dict[str, Any] = {"modules": modules}
    if kind is not None:
        chosen["kinds"] = [kind] if isinstance(kind, str) else list(kind)
    if stat is not None:
        chosen["stats"] = [stat] if isinstance(stat, str) else list(stat)
    if ranks is not None:
        chosen["ranks"] = [ranks] if isinstance(ranks, int) else [int(rank) for rank in ranks]
    if steps is not None:
        chosen["steps"] = list(_ends(steps))
    return chosen


_FARTHEST = 1 << 60


def _ends(steps: int | slice | range | tuple[int, int]) -> tuple[int, int]:
    """First and last step. A slice and a range end before their stop, as Python's do; a pair has both its ends."""
    if isinstance(steps, int):
        return steps, steps
    if isinstance(steps, (slice, range)):
        if steps.step not in (None, 1):
            raise ValueError("steps are consecutive: take every n-th of the frame that was read")
        return (
            -_FARTHEST if steps.start is None else int(steps.start),
            _FARTHEST if steps.stop is None else int(steps.stop) - 1,
        )
    first, last = steps
    return int(first), int(last)
