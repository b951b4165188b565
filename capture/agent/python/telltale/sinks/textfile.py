# SPDX-License-Identifier: GPL-3.0-or-later
"""Csv cells, and files that only grow by whole pieces."""

from __future__ import annotations

import os
import re

_NEEDS_QUOTES = frozenset(',"\n\r')


# As the core's terminalText(): C0 but for the line's end, DEL, C1, separators of lines, marks of direction, byte order.
_CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]")


def cell(text: str) -> str:
    """A csv cell, quoted where it must be, as pandas and Python's csv module do it; what a terminal that shows the file
    would act on is written as JSON escapes it."""
    text = _CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)
    if not _NEEDS_QUOTES.isdisjoint(text):
        return '"' + text.replace('"', '""') + '"'
    return text


def encoded(text: str) -> bytes:
    """UTF-8; what is not text (lone surrogates) becomes question marks instead of an error."""
    return text.encode("utf-8", "replace")


class GrowingFile:
    """A file that is only appended to. append() writes all of its data or nothing: what a full disk cut off is taken
    back. Thread: one."""

    def __init__(self, path: str) -> None:
        """Opens or makes the file. OSError when that fails."""
        self.path = path
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        self._size = os.fstat(self._fd).st_size

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been written yet, by anyone."""
        return self._size == 0

    @property
    def is_torn(self) -> bool:
        """Whether the last line has no end: a process that was killed may have left half of one."""
        return self._size > 0 and os.pread(self._fd, 1, self._size - 1) != b"\n"

    def append(self, data: bytes) -> None:
        """OSError when it could not be written whole; the file is then as it was."""
        left = memoryview(data)
        try:
            while left:
                left = left[os.write(self._fd, left) :]
        except OSError:
            try:
                os.ftruncate(self._fd, self._size)
            except OSError:
                pass
            raise
        self._size += len(data)

    def close(self) -> None:
        """Ends the file; further calls do nothing."""
        if self._fd >= 0:
            fd, self._fd = self._fd, -1
            os.close(fd)
