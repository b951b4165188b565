# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps the last steps in memory for programs that want the numbers themselves."""

from __future__ import annotations

import threading
from collections import deque
from typing import Callable, Union

from ..config import MonitorConfig
from ..kinds import Kind
from ..series import Frame
from .base import RunContext, Sink
from .layout import METADATA, Names, column, dtype_text, ops_of, shape_text, sorted_tables, split, tag

Metrics = dict[str, dict[str, Union[float, str]]]

KEPT = 16  # frames


class ApiSink(Sink):
    """The last frames, and a function that is called with each. Thread: any."""

    what = "the api output"
    def __init__(self, keep: int = KEPT, callback: Callable[[Frame], None] | None = None) -> None:
        """callback: called on the training thread between two steps; what it raises is raised to the monitor, which
        counts and tells it."""
        self._frames: deque[Frame] = deque(maxlen=max(keep, 1))
        self._lock = threading.Lock()
        self._config = MonitorConfig()
        self._names = Names(False)
        self._rank = 0
        self.callback = callback

    def open(self, context: RunContext) -> None:
        with self._lock:
            self._config = context.config
            self._names = Names(context.config.squash_name, context.info.get("parameters"))
            self._rank = context.rank

    def write(self, frame: Frame) -> None:
        with self._lock:
            self._frames.append(frame)
        if self.callback is not None:
            self.callback(frame)

    def frames(self) -> list[Frame]:
        """What is kept, oldest first."""
        with self._lock:
            return list(self._frames)

    def latest(self, kind: Kind | None = None) -> Frame | None:
        """The newest frame (that holds something of a kind), None when there is none."""
        for frame in reversed(self.frames()):
            if kind is None or any(table.kind is kind for table in frame.tables):
                return frame
        return None

    def metrics(self, kind: Kind, step: int | None = None, tags: bool = False) -> Metrics:
        """Name -> {op: value} of a kind at a step (the newest that has the kind when None): the config's ops as
        numbers, "shape" and "dtype" as text. tags: msprobe's tags as names ("0:head.weight/rank0/post_grad"); else a
        name, with ":0" for the micro step behind it where the kind has those, and "1:" in front where a chunk is not
        the first."""
        frame = self.latest(kind) if step is None else next((f for f in self.frames() if f.step == step), None)
        return {} if frame is None else frame_metrics(frame, kind, self._config, self._names, self._rank, tags)


def frame_metrics(
    frame: Frame, kind: Kind, config: MonitorConfig, names: Names, rank: int = 0, tags: bool = True
) -> Metrics:
    """A kind of one frame as msprobe's generate_wgrad_metrics() and generate_xy_metrics() give it: see
    ApiSink.metrics."""
    found: Metrics = {}
    for table in sorted_tables(frame.tables):
        if table.kind is not kind:
            continue
        for files, order in split(table, config):
            ops = ops_of(files, config)
            columns = {op: column(table, op, config.eps) for op in ops if op not in METADATA}
            for row in order:
                desc = table.series[row]
                cells: dict[str, float | str] = {
                    op: float(values[row]) for op, values in columns.items() if values is not None
                }
                if "shape" in ops:
                    cells["shape"] = shape_text(kind, desc)
                if "dtype" in ops:
                    cells["dtype"] = dtype_text(kind, desc)
                name = tag(names, kind, files, desc, rank)
                found[name if tags else _plain(name)] = cells
    return found


def _plain(name: str) -> str:
    """A tag without its rank and task, and without the first chunk's number."""
    return name.rsplit("/", 2)[0].removeprefix("0:")
