# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's csv files."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from ..config import MonitorConfig
from ..console import log
from ..kinds import Kind
from ..series import Extra, Frame, TableSnapshot
from .base import RunContext
from .filesink import FileSink
from .layout import FileKind, split
from .rows import RowWriter, rounded
from .rundir import RunDirectory
from .textfile import GrowingFile, cell, encoded
from .worker import FrameWorker, explain


def step_range(step: int, count: int) -> tuple[int, int]:
    """First and last step of the file a step belongs to, aligned to step 0."""
    first = step // count * count
    return first, first + count - 1


@dataclass
class _Open:
    file: GrowingFile
    steps: tuple[int, int]  # first and last that belong in it
    header: str


class CsvSink(FileSink):
    """Writes each step's tables to msprobe's csv files, on the file sinks' thread.

    A step is lost, counted and told, when the queue is full or a file cannot be written; the next one is tried again.
    Thread: open, write, flush and close are for the training thread; the files belong to the worker.
    """

    what = "the csv output"
    format = "csv"
    wants = Extra.HEAD_0 | Extra.CALLS_BY_OP
    has_files = True

    def __init__(self, worker: FrameWorker | None = None, directory: RunDirectory | None = None) -> None:
        super().__init__(worker, directory)
        self._writers: dict[tuple[Kind, str], RowWriter] = {}
        self._files: dict[str, _Open] = {}

    def open(self, context: RunContext) -> None:
        super().open(context)
        log.info("csv files go to %s", self.directory.path)

    def _configure(self, config: MonitorConfig) -> None:
        self._writers.clear()

    def _write(self, frame: Frame) -> None:
        texts: dict[str, tuple[str, list[str]]] = {}
        for table in self._tables(frame):
            for files, order in split(table, self._config):
                writer = self._writer(table, files)
                head, parts = texts.setdefault(files.prefix, (writer.header, []))
                parts.append(writer.lines(frame.step, table, order))
        if frame.scalars:
            head = "vpp_stage,name,step,value\n"
            texts.setdefault("scalar", (head, []))[1].append(self._scalars(frame))
        failed = ""
        for prefix, (head, parts) in texts.items():
            try:
                self._file(prefix, frame.step, head).append(encoded("".join(parts)))
            except OSError as error:
                failed = failed or explain(error, self.directory.path)
                self._forget(prefix)
        self._count(frame.step, failed)

    def _writer(self, table: TableSnapshot, files: FileKind) -> RowWriter:
        key = (table.kind, files.prefix)
        writer = self._writers.get(key)
        if writer is None:
            writer = self._writers[key] = RowWriter(table.kind, files, self._config, self._names)
        return writer

    def _scalars(self, frame: Frame) -> str:
        digits = self._config.ndigits
        values = rounded(np.array(list(frame.scalars.values()), np.float64), digits).tolist()
        texts = (f"{value:.9g}" if digits is None else repr(value) for value in values)
        return "".join(f"0,{cell(name)},{frame.step},{text}\n" for name, text in zip(frame.scalars, texts))

    def _file(self, prefix: str, step: int, head: str) -> GrowingFile:
        """The file a step's rows of one kind go to. A file of other columns is never appended to: after a change of ops
        within a range, a second file begins with the step."""
        current = self._files.get(prefix)
        if current is not None and current.steps[0] <= step <= current.steps[1] and current.header == head:
            return current.file
        self._forget(prefix)
        folder = self.directory.make()
        first, last = step_range(step, self._config.step_count_per_record)
        path = os.path.join(folder, f"{prefix}_{first}-{last}.csv")
        if not _may_append(path, head):
            path = os.path.join(folder, f"{prefix}_{step}-{last}.csv")
            if not _may_append(path, head):
                raise FileExistsError(0, f"the file has other columns than this run: {os.path.basename(path)}")
        file = GrowingFile(path)
        try:
            if file.is_empty:
                file.append(encoded(head))
            elif file.is_torn:
                file.append(b"\n")
        except OSError:
            file.close()
            raise
        self._files[prefix] = _Open(file, (first, last), head)
        return file

    def _forget(self, prefix: str) -> None:
        current = self._files.pop(prefix, None)
        if current is not None:
            current.file.close()

    def _end(self) -> None:
        for prefix in list(self._files):
            self._forget(prefix)


def _may_append(path: str, head: str) -> bool:
    """Whether a file is missing, empty, or begins with this header."""
    try:
        with open(path, encoding="utf-8", errors="replace", newline="") as file:
            found = file.readline(1 << 20)
    except FileNotFoundError:
        return True
    return found in ("", head)
