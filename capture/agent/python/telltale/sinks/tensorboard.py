# SPDX-License-Identifier: GPL-3.0-or-later
"""TensorBoard event files with msprobe's folders and tags."""

from __future__ import annotations

import dataclasses
import logging
import os
import socket
import time
from dataclasses import dataclass
from itertools import count, groupby

import numpy as np

from ..bins import EDGES
from ..config import MonitorConfig
from ..kinds import Kind
from ..series import Frame, SeriesDesc, TableSnapshot
from .base import RunContext
from .filesink import FileSink
from .layout import METADATA, FileKind, column, file_kind, is_histogram, ops_of, sorted_tables, split
from .rundir import RunDirectory
from .textfile import GrowingFile
from .tfrecord import Histogram, ScalarRecord, first_record, histogram_record
from .worker import FrameWorker, explain

log = logging.getLogger("telltale")

FOLDER = "tb"  # in the run's directory; msprobe's rank folders lie below it
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

    rows: np.ndarray
    ops: list[str]
    record: ScalarRecord


def _whose(desc: SeriesDesc) -> tuple[int, str]:
    return desc.vpp_stage, desc.name


class TensorBoardSink(FileSink):
    """Writes each step's tables as scalars: rank{R}/{kind}/, tags `vp0:blocks.0.input:micro0/norm`; run scalars under
    their own names in rank{R}/scalar. NaN and Inf are written as they are. Needs no TensorBoard to write.

    Thread: open, write, flush and close are for the training thread; the files belong to the worker.
    """

    format = "tensorboard"

    def __init__(self, worker: FrameWorker | None = None, directory: RunDirectory | None = None) -> None:
        super().__init__(worker, directory)
        self._files: dict[str, GrowingFile] = {}
        self._plans: dict[tuple[Kind, str], _Plan] = {}

    @property
    def folder(self) -> str:
        """What to give to `tensorboard --logdir`."""
        return os.path.join(self.directory.path, FOLDER)

    def open(self, context: RunContext) -> None:
        super().open(context)
        log.info("event files go to %s", self.folder)

    def _configure(self, config: MonitorConfig) -> None:
        self._plans.clear()

    def _write(self, frame: Frame) -> None:
        now = time.time()
        records: dict[str, list[bytes]] = {}
        for table in sorted_tables(frame.tables):
            for files, order in split(table, self._config):
                data = self._record(frame.step, table, files, order, now)
                records.setdefault(files.prefix, []).append(data)
            if is_histogram(table):
                prefix = file_kind(table, self._config).prefix
                records.setdefault(prefix, []).append(self._histograms(frame, table, now))
        if frame.scalars:
            values = np.array(list(frame.scalars.values()), np.float64)
            records.setdefault("scalar", []).append(ScalarRecord(list(frame.scalars)).fill(frame.step, values, now))
        failed = ""
        for prefix, parts in records.items():
            try:
                self._file(prefix).append(b"".join(parts))
            except OSError as error:
                failed = failed or explain(error, self.folder)
        self._count(frame.step, failed)

    def _record(self, step: int, table: TableSnapshot, files: FileKind, order: np.ndarray, now: float) -> bytes:
        key = (table.kind, files.prefix)
        plan = self._plans.get(key)
        rows = table.rows[order]
        if plan is None or not np.array_equal(plan.rows, rows):
            plan = self._plans[key] = self._plan(table, files, order)
        columns = [column(table, op, self._config.eps) for op in plan.ops]
        values = np.concatenate([values[order] for values in columns if values is not None] or [np.zeros(0)])
        return plan.record.fill(step, values, now)

    def _histograms(self, frame: Frame, table: TableSnapshot, now: float) -> bytes:
        """Series of one name in a row are the bins of one histogram, whose two ends are open."""
        files = file_kind(table, self._config)
        known = {
            (desc.vpp_stage, desc.name): i
            for other in frame.tables
            if other.kind is table.kind and not other.stats
            for i, desc in enumerate(other.series)
        }
        stats = next((other.values for other in frame.tables if other.kind is table.kind and not other.stats), None)
        found = []
        for (stage, name), group in groupby(range(len(table.series)), lambda i: _whose(table.series[i])):
            rows = list(group)
            counts = table.values[rows, 0]
            position = known.get((stage, name))
            if stats is None or position is None:
                low, high, total, squares = EDGES[0], EDGES[-1], 0.0, 0.0
            else:
                one = stats[position]
                low, high = min(float(one["min"]), EDGES[0]), max(float(one["max"]), EDGES[-1])
                total, squares = float(one["sum"]), float(one["sumsq"])
            stem = self._names.row(table.kind, files, dataclasses.replace(table.series[rows[0]], slot=""))
            limits = np.append(EDGES, high)
            tag = f"vp{stage}:{stem}/adam_{'ratio' if table.kind is Kind.UPDATE_RATIO else 'update'}"
            found.append(Histogram(tag, low, high, total, squares, limits, counts))
        return histogram_record(frame.step, found, now)

    def _plan(self, table: TableSnapshot, files: FileKind, order: np.ndarray) -> _Plan:
        ops = [op for op in ops_of(files, self._config) if op not in METADATA]
        ops = [op for op in ops if column(table, op, self._config.eps) is not None]
        stems = []
        for row in order:
            desc = table.series[row]
            micro = f":micro{max(desc.micro_step, 0)}" if files.has_micro_step else ""
            stems.append(f"vp{desc.vpp_stage}:{self._names.row(table.kind, files, desc)}{micro}")
        tags = [f"{stem}/{op}" for op in ops for stem in stems]
        return _Plan(table.rows[order], ops, ScalarRecord(tags))

    def _file(self, prefix: str) -> GrowingFile:
        file = self._files.get(prefix)
        if file is None:
            folder = os.path.join(self.folder, f"rank{self.directory.rank}", prefix)
            file = self._files[prefix] = event_file(folder)
        return file

    def _end(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()
