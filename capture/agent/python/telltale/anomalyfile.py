# SPDX-License-Identifier: GPL-3.0-or-later
"""The dump of alerts, anomaly.json."""

from __future__ import annotations

import json
import os
import shutil
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

_MOST_PENDING = 10_000  # entries kept while the disk is full
_END = b"\n}"


class AnomalyFile:
    """One JSON object that grows by entries. The file is whole valid JSON at every moment: entries are added to a
    second copy, which then takes the file's name, and the former becomes the second copy, one addition behind. So an
    addition costs what it adds, not the size of the file, and a reader that opened the former has until the next
    addition. Thread: one."""

    def __init__(self, folder: str) -> None:
        self.path = os.path.join(folder, "anomaly.json")
        self._folder = folder
        self._spare = os.path.join(folder, ".anomaly.next")
        self._keep = os.path.join(folder, ".anomaly.keep")
        self._behind: list[bytes] | None = None  # what the second copy lacks; None = there is no second copy
        self._pending: list[bytes] = []
        self.lost = 0  # entries that a full disk cost

    def start(self) -> None:
        """Begins an empty object; a file from before becomes anomaly.previous.json. OSError when it cannot be made."""
        os.makedirs(self._folder, exist_ok=True)
        self._remove(self._spare, self._keep)
        if os.path.exists(self.path):
            os.replace(self.path, os.path.join(self._folder, "anomaly.previous.json"))
        with open(self._spare, "wb") as file:
            file.write(b"{}")
        os.replace(self._spare, self.path)

    def add(self, entries: dict[str, dict[str, Any]]) -> None:
        """Adds entries with new keys. OSError when they could not be written; they are kept for the next call."""
        for key, entry in entries.items():
            self._pending.append(_text(key, entry).encode())
        excess = len(self._pending) - _MOST_PENDING
        if excess > 0:
            del self._pending[:excess]
            self.lost += excess
        if not self._pending:
            return
        try:
            self._publish()
        except OSError:
            self._remove(self._spare, self._keep)
            self._behind = None
            raise

    def close(self) -> None:
        """Removes the second copy."""
        self._remove(self._spare, self._keep)
        self._behind = None

    def _publish(self) -> None:
        if not os.path.exists(self.path):
            self.start()
        if self._behind is None:
            shutil.copyfile(self.path, self._spare)
            self._behind = []
        _extend(self._spare, self._behind + self._pending)
        try:
            os.link(self.path, self._keep)
        except OSError:  # a file system without hard links: the next addition copies the file
            os.replace(self._spare, self.path)
            self._behind = None
        else:
            os.replace(self._spare, self.path)
            os.replace(self._keep, self._spare)
            self._behind = self._pending
        self._pending = []

    @staticmethod
    def _remove(*paths: str) -> None:
        for path in paths:
            try:
                os.unlink(path)
            except OSError:
                pass


def _text(key: str, entry: dict[str, Any]) -> str:
    """What json.dumps({key: entry}, indent=1) has between its braces: its own code that indents takes several times as
    long, and a training that has gone wrong has an entry for each tensor at each step."""
    fields = ",\n".join([f"  {_quoted(name)}: {_value(value)}" for name, value in entry.items()])
    return f" {_quoted(key)}: {{\n{fields}\n }}"


def _value(value: Any) -> str:
    if type(value) is str:
        return _quoted(value)
    if type(value) is int:
        return str(value)
    return json.dumps(value, indent=1).replace("\n", "\n  ")


def _extend(path: str, pieces: list[bytes]) -> None:
    """Puts entries in front of the object's end."""
    if not pieces:
        return
    with open(path, "r+b") as file:
        size = file.seek(0, os.SEEK_END)
        is_empty = size <= len(b"{}")
        file.seek(0 if is_empty else size - len(_END))
        file.write((b"{\n" if is_empty else b",\n") + b",\n".join(pieces) + _END)
