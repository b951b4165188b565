# SPDX-License-Identifier: GPL-3.0-or-later
"""The signs that a run has, as the files that grad_probe writes."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import native
from ..reading.binding import ReadError
from ..reading.openedrun import open_run
from .probestream import SIGNS
from .signfile import PartFile, ProbeError, header, unpacked
from .summaryfile import NAME, csv_bytes

# Documents of a kind, complete ones, in the order in which they came. libtelltale_reader.so hands out none.
_PARTS = """
SELECT blob.name, blob.step, coalesce(source.rank, 0), blob.blob_id, blob.part, blob.parts, blob.crc, blob.data
FROM blob LEFT JOIN stream ON stream.id = blob.stream LEFT JOIN source ON source.id = stream.source
WHERE blob.kind = ?
ORDER BY blob.step, 3, blob.stream, min(blob.id) OVER (PARTITION BY blob.stream, blob.blob_id), blob.part
"""


def write_signs(run: str, folder: str) -> list[str]:
    """Writes rank{R}/step{N}/{name}.npy of a run, by path or id, and summaries with the order of the parameters; what
    is damaged or incomplete is left out, one sentence each. Raises ProbeError where the run has none."""
    try:
        with open_run(run) as opened:
            path = opened.path
    except ReadError as error:
        where = "" if os.path.exists(run) else f"there is no folder {run} that grad_probe wrote, and "
        raise ProbeError(f"{where}{error}") from None
    notes: list[str] = []
    names: dict[tuple[int, int], list[str]] = {}
    with contextlib.closing(sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)) as database:
        writers: dict[tuple[int, int, str], _Growing] = {}
        try:
            for name, step, rank, data in _documents(database, notes):
                key = rank, step, name
                if key not in writers:
                    for other in [one for one in writers if one[:2] != key[:2]]:
                        writers.pop(other).end(notes)
                    names.setdefault(key[:2], []).append(name)
                    writers[key] = _Growing(folder, *key)
                writers[key].add(data, notes)
        except sqlite3.Error as error:
            notes.append(f"{path} cannot be read whole: {error}")
        for writer in writers.values():
            writer.end(notes)
    if not names:
        raise ProbeError(
            f'{run} has no signs of gradients: "telltale": {{"stream": true}} in grad_probe\'s config sends them'
        )
    for (rank, step), of in names.items():
        file = PartFile(os.path.join(folder, f"rank{rank}", f"grad_summary_{step}.csv"))
        file.append(csv_bytes([[NAME], *([name] for name in of)]))
        file.finish()
    return notes


def _documents(database: sqlite3.Connection, notes: list[str]) -> Iterator[tuple[str, int, int, bytes]]:
    """Name, step, rank and bytes of each."""
    held = b""
    expected = 0
    for name, step, rank, _, part, parts, crc, data in database.execute(_PARTS, (SIGNS,)):
        if part == 0:
            held, expected = b"", 0
        if part != expected or (native.available() and native.crc32c(data) != crc & 0xFFFFFFFF):
            notes.append(f"step {step}: the stored signs of {name} are damaged")
            expected = -1
            continue
        held += data
        expected += 1
        if expected == parts:
            yield name, step, rank, held


class _Growing:
    """A file of signs whose documents come one after another."""

    def __init__(self, folder: str, rank: int, step: int, name: str) -> None:
        self._what = f"step {step}: the stored signs of {name}"
        self._path = os.path.join(folder, f"rank{rank}", f"step{step}", f"{name.replace('/', '%2F')}.npy")
        self._file = PartFile(self._path)
        self._next = 0
        self._numel = -1

    def add(self, document: bytes, notes: list[str]) -> None:
        line, _, data = document.partition(b"\n")
        try:
            head: dict[str, Any] = json.loads(line)
            shape, first, count = tuple(map(int, head["shape"])), int(head["first"]), int(head["count"])
            bits = np.frombuffer(data, np.uint8)
            if first == 0 and self._next:  # the step was computed anew: the last time counts
                self._file.give_up()
                self._file, self._next = PartFile(self._path), 0
            if first != self._next or bits.size != (count + 7) // 8:
                raise ValueError
        except (ValueError, KeyError, TypeError):
            notes.append(f"{self._what} are not whole")
            self._next = -1
            return
        if first == 0:
            self._numel = math.prod(shape)
            self._file.append(header(shape))
        self._file.append(unpacked(bits, count))
        self._next += count

    def end(self, notes: list[str]) -> None:
        if self._next == self._numel:
            self._file.finish()
            return
        self._file.give_up()
        if self._next >= 0:
            notes.append(f"{self._what} are not whole")
