# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace

from ..config import MonitorConfig
from ..console import log
from ..kinds import Kind
from ..series import Frame, TableSnapshot
from .base import RunContext, Sink
from .layout import Names, sorted_tables
from .rundir import RunDirectory
from .worker import FrameWorker, Losses, explain

_CLOSE_SECONDS = 10.0  # a disk that hangs does not keep the job from ending


def frame_bytes(frame: Frame) -> int:
    """Memory that a waiting frame holds, about."""
    return sum(table.values.nbytes + 8 * len(table.series) for table in frame.tables) + 64 * len(frame.scalars)


class FileSink(Sink, ABC):
    """What sinks that write on the worker's thread have in common: the queue, the directory, and the counting of steps
    that were lost because the queue was full or a file could not be written.

    Thread: open, write, flush and close any one; _configure, _write and _end run on the worker.
    """

    format = ""  # the config's word for it
    close_seconds = _CLOSE_SECONDS

    def __init__(self, worker: FrameWorker | None = None, directory: RunDirectory | None = None) -> None:
        """worker, directory: shared with other sinks, or of its own."""
        self.worker = worker or FrameWorker()
        self.worker.retain()
        self._closed = False
        self._abandoned = False
        self.directory = directory or RunDirectory()
        self.losses = Losses(self.format)
        self._config = MonitorConfig()
        self._names = Names(False)
        self._duplicates: frozenset[tuple[int, str]] = frozenset()

    def open(self, context: RunContext) -> None:
        for note in self.directory.choose(context.rank, context.config.append_output):
            log.warning("%s", note)
        config = context.config
        names = Names(config.squash_name, context.info.get("parameters"))
        self.worker.post(lambda: self._take_config(config, names), must=True)

    def leave_out(self, duplicates: frozenset[tuple[int, str]]) -> None:
        self.worker.post(lambda: setattr(self, "_duplicates", duplicates), must=True)

    def write(self, frame: Frame) -> None:
        self.losses.took()
        if not self.worker.post(lambda: self._try(frame), frame_bytes(frame)):
            self.losses.refuse(frame.step)

    def flush(self, timeout: float) -> bool:
        return self.worker.flush(timeout)

    def close(self, reason: str) -> None:
        if self._closed:
            return
        self._closed = True
        self.worker.post(self._end, must=True)
        if not self.worker.release(self.close_seconds):
            self._abandoned = True
            self.losses.abandon()
        self.losses.close()

    def _take_config(self, config: MonitorConfig, names: Names) -> None:
        self._config = config
        self._names = names
        self._configure(config)

    def _try(self, frame: Frame) -> None:
        if self._abandoned:
            return
        try:
            self._write(frame)
        except Exception as error:  # noqa: BLE001 - a step that cannot be written is lost, not the thread
            self.losses.lose(frame.step, explain(error))

    def _count(self, step: int, failure: str) -> None:
        if failure:
            self.losses.lose(step, failure)
        else:
            self.losses.wrote(step)

    def _configure(self, config: MonitorConfig) -> None:
        """A config takes effect."""

    def _tables(self, frame: Frame) -> list[TableSnapshot]:
        """The frame's tables in msprobe's order, without the gradients that another rank's files have."""
        tables = sorted_tables(frame.tables)
        if not self._duplicates:
            return tables
        own = [self._own(table) if table.kind is Kind.GRAD_REDUCED else table for table in tables]
        return [table for table in own if table.series]

    def _own(self, table: TableSnapshot) -> TableSnapshot:
        keep = [i for i, desc in enumerate(table.series) if (desc.vpp_stage, desc.name) not in self._duplicates]
        return replace(
            table,
            series=[table.series[i] for i in keep],
            rows=table.rows[keep],
            values=table.values[keep],
            arrival=None,
        )

    @abstractmethod
    def _write(self, frame: Frame) -> None:
        """Writes a step; OSError is its own to handle."""

    def _end(self) -> None:
        """Closes what is open."""
