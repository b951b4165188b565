# SPDX-License-Identifier: GPL-3.0-or-later
"""TensorBoard event files with msprobe's tags."""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass
from itertools import count

import numpy as np

from ..bins import edges_of
from ..config import MonitorConfig
from ..console import log
from ..kinds import Kind
from ..series import Extra, Frame, TableSnapshot, is_histogram
from .base import RunContext
from .filesink import FileSink
from .layout import METADATA, FileKind, column, file_kind, ops_of, split, tag
from .rundir import RunDirectory
from .textfile import GrowingFile
from .tfrecord import Histogram, ScalarRecord, first_record, histogram_record
from .worker import FrameWorker, explain

_numbers = count()


def event_file(folder: str) -> GrowingFile:
    """A new event file, its first record written. OSError when that fails."""
    os.makedirs(folder, exist_ok=True)
    name = f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}.{next(_numbers)}"
    file = GrowingFile(os.path.join(folder, name))
    try:
        file.append(first_record())
    except OSError:
        file.close()
        raise
    return file


@dataclass
class _Plan:
    """Tags of one table, made once for as long as the same series are measured."""

    generation: int
    rows: np.ndarray
    ops: list[str]
    record: ScalarRecord


_WHAT = {Kind.UPDATE: "adam_update", Kind.UPDATE_RATIO: "adam_ratio"}  # as msprobe calls them


class TensorBoardSink(FileSink):
    """Writes each step's tables as scalars into an event file in the run's directory, under the tags that the documents
    give: `0:blocks.0.input:0/rank0/actv_norm`, `0:head.weight/rank0/post_grad_norm`; run metrics under their own names.
    NaN and Inf are written as they are. Needs no TensorBoard to write.

    Thread: open, write, flush and close are for the training thread; the files belong to the worker.
    """

    what = "the TensorBoard output"
    format = "tensorboard"
    wants = Extra.CALLS_BY_SITE
    has_files = True

    def __init__(self, worker: FrameWorker | None = None, directory: RunDirectory | None = None) -> None:
        super().__init__(worker, directory)
        self._file: GrowingFile | None = None
        self._plans: dict[tuple[Kind, str], _Plan] = {}

    @property
    def folder(self) -> str:
        """What to give to `tensorboard --logdir`, or the folder above it for all ranks and runs."""
        return self.directory.path

    def open(self, context: RunContext) -> None:
        super().open(context)
        log.info("event files go to %s", self.folder)

    def _configure(self, config: MonitorConfig) -> None:
        self._plans.clear()

    def _write(self, frame: Frame) -> None:
        now = time.time()
        records: list[bytes] = []
        for table in self._tables(frame):
            for files, order in split(table, self._config):
                records.append(self._record(frame.step, table, files, order, now))
            if is_histogram(table):
                records.append(self._histograms(frame, table, now))
        if frame.scalars:
            values = np.array(list(frame.scalars.values()), np.float64)
            records.append(ScalarRecord(list(frame.scalars)).fill(frame.step, values, now))
        failed = ""
        if records:
            try:
                self._open_file().append(b"".join(records))
            except OSError as error:
                failed = explain(error, self.folder)
        self._count(frame.step, failed)

    def _record(self, step: int, table: TableSnapshot, files: FileKind, order: np.ndarray, now: float) -> bytes:
        key = (table.kind, files.prefix)
        plan = self._plans.get(key)
        rows = table.rows[order]
        if plan is None or plan.generation != table.generation or not np.array_equal(plan.rows, rows):
            plan = self._plans[key] = self._plan(table, files, order)
        columns = [column(table, op, self._config.eps) for op in plan.ops]
        values = np.concatenate([values[order] for values in columns if values is not None] or [np.zeros(0)])
        return plan.record.fill(step, values, now)

    def _histograms(self, frame: Frame, table: TableSnapshot, now: float) -> bytes:
        """Histograms, whose two ends are open, between the extremes of their tensors."""
        files = file_kind(table, self._config)
        known = {
            (desc.vpp_stage, desc.name): i
            for other in frame.tables
            if other.kind is table.kind and not other.stats
            for i, desc in enumerate(other.series)
        }
        stats = next((other.values for other in frame.tables if other.kind is table.kind and not other.stats), None)
        inner = np.array(edges_of(table.values.shape[1])[1:-1])
        found = []
        for desc, counts in zip(table.series, table.values):
            position = known.get((desc.vpp_stage, desc.name))
            if stats is None or position is None:
                low, high, total, squares = inner[0], inner[-1], 0.0, 0.0
            else:
                one = stats[position]
                low, high = min(float(one["min"]), inner[0]), max(float(one["max"]), inner[-1])
                total, squares = float(one["sum"]), float(one["sumsq"])
            stem = self._names.row(table.kind, files, desc)
            limits = np.append(inner, high)
            label = f"{desc.vpp_stage}:{stem}/rank{self.directory.rank}/{_WHAT.get(table.kind, 'histogram')}"
            found.append(Histogram(label, low, high, total, squares, limits, counts))
        return histogram_record(frame.step, found, now)

    def _plan(self, table: TableSnapshot, files: FileKind, order: np.ndarray) -> _Plan:
        ops = [op for op in ops_of(files, self._config) if op not in METADATA]
        ops = [op for op in ops if column(table, op, self._config.eps) is not None]
        stems = [tag(self._names, table.kind, files, table.series[row], self.directory.rank) for row in order]
        tags = [f"{stem}_{op}" for op in ops for stem in stems]
        return _Plan(table.generation, table.rows[order], ops, ScalarRecord(tags))

    def _open_file(self) -> GrowingFile:
        if self._file is None:
            self._file = event_file(self.folder)
        return self._file

    def _end(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
