# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands a finished step to every sink, and waits for a device's results off the training thread."""

from __future__ import annotations

import queue
import time
from collections import deque
from dataclasses import replace
from typing import Any, Callable

import numpy as np

from .kinds import Kind
from .measure import record
from .series import STATS, Extra, Frame, SeriesTable, TableSnapshot, wanted
from .sinks.base import RunContext, Sink
from .threads import start_thread

_MOST_WAITING = 64  # steps whose device results have not arrived


def frame_of(step: int, tables: list[SeriesTable]) -> Frame:
    """A copy of what the tables hold; scalars by name."""
    frame = Frame(step)
    for table in tables:
        shot = table.snapshot()
        if shot is None:
            continue
        if table.kind is Kind.SCALAR:
            for desc, value in zip(shot.series, shot.values[:, 0]):
                into = frame.marks if desc.name.startswith("telltale.") else frame.scalars
                into[desc.name] = float(value)
        else:
            frame.tables.append(shot)
    return frame


def _part_for(sink: Sink, frame: Frame) -> Frame:
    """What a sink gets of a frame."""
    tables = wanted(frame.tables, sink.wants)
    return frame if tables is frame.tables else replace(frame, tables=tables)


class Dispatcher:
    """Thread: training; sinks are called on the training thread, or, once a step had results on a device, on one
    worker thread."""

    def __init__(self, sinks: list[Sink], tell: Callable[[str], None]) -> None:
        self.sinks = sinks
        self._tell = tell
        self._failed: set[int] = set()
        self._worker: _DeviceWorker | None = None
        self.files_wait = False  # nothing is collected now: run metrics go to the stream alone

    @property
    def wants(self) -> Extra:
        """What at least one sink wants beside what all get."""
        found = Extra.NONE
        for sink in self.sinks:
            found |= sink.wants
        return found

    def open(self, context: RunContext) -> None:
        for sink in list(self.sinks):
            try:
                sink.open(context)
            except Exception as error:  # noqa: BLE001 - one sink's trouble is not the training's, nor the others'
                self.sinks.remove(sink)
                self._tell(f"{type(sink).__name__} cannot start: {error}")

    def leave_out(self, duplicates: frozenset[tuple[int, str]]) -> None:
        """Tells the sinks which reduced gradients other ranks keep."""
        self._each("leave_out", duplicates)

    def publish(self, step: int, tables: list[SeriesTable], pending: list[tuple[SeriesTable, int, Any]]) -> None:
        """Takes a step out of the tables; they may be cleared afterwards."""
        if pending or self._worker is not None:
            if self._worker is None:
                self._worker = _DeviceWorker(self)
            self._worker.take(step, tables, pending)
            return
        frame: Frame | None = None
        for sink in self.sinks:
            try:
                if sink.write_tables(step, wanted(tables, sink.wants)):
                    continue
                if frame is None:
                    frame = frame_of(step, tables)
                if frame.tables or not self.files_wait:
                    sink.write(_part_for(sink, frame))
            except Exception as error:  # noqa: BLE001
                self._complain(sink, error)

    def deliver(self, frame: Frame) -> None:
        """A frame whose values came from a device. Thread: the worker."""
        for sink in self.sinks:
            try:
                sink.write(_part_for(sink, frame))
            except Exception as error:  # noqa: BLE001
                self._complain(sink, error)

    def last_of(self, kind: Kind) -> TableSnapshot | None:
        """What the last step held that was fetched from a device; waits for it."""
        if self._worker is None:
            return None
        self._worker.drain(5.0)
        return next((shot for shot in self._worker.last.tables if shot.kind is kind), None)

    def lost(self, step: int, samples: int, scalars: int) -> None:
        """A step that the queue of the device's results had no room for. Thread: the worker."""
        for sink in self.sinks:
            sink.dropped(step, samples, scalars)
        self._tell("results from the device arrive more slowly than the steps; some steps are dropped and counted")

    def scalar(self, step: int, values: dict[str, float]) -> None:
        """Metrics of a step that is already out."""
        if self._worker is not None:
            self._worker.take_scalars(step, values)  # the sinks are that thread's
            return
        self._each("write_late", step, values)

    def event(self, kind: str, step: int, text: str, document: str = "{}") -> None:
        self._each("event", kind, step, text, document)

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        self._each("blob", kind, name, step, data)

    def flush(self, timeout: float) -> bool:
        if self._worker is not None:
            self._worker.drain(timeout)
        return all([sink.flush(timeout) for sink in self.sinks])

    def close(self, reason: str) -> None:
        if self._worker is not None:
            self._worker.drain(5.0)
            self._worker.stop()
        self.sinks.sort(key=lambda sink: sink.is_last)
        self._each("close", reason)

    def forget(self) -> None:
        """In a forked child: threads and sockets are the parent's."""
        for sink in self.sinks:
            sink.forget()
        self.sinks = []

    def _each(self, what: str, *given: Any) -> None:
        """Every sink, whatever becomes of the others."""
        for sink in self.sinks:
            try:
                getattr(sink, what)(*given)
            except Exception as error:  # noqa: BLE001
                self._complain(sink, error)

    def _complain(self, sink: Sink, error: Exception) -> None:
        if id(sink) not in self._failed:
            self._failed.add(id(sink))
            self._tell(f"{type(sink).__name__} failed: {type(error).__name__}: {error}; training goes on")


class _DeviceWorker:
    """Waits for copies from a device to arrive. Thread: its own; take() the training thread."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._queue: queue.Queue[Any] = queue.Queue(_MOST_WAITING)
        self._missed: deque[tuple[int, int, int]] = deque()  # step, samples, scalars that found no room
        self.last = Frame(-1)  # the last step that had something
        self._thread = start_thread(self._run, "telltale-device")

    def take(self, step: int, tables: list[SeriesTable], pending: list[tuple[SeriesTable, int, Any]]) -> None:
        import torch

        for sink in self._dispatcher.sinks:
            for table in wanted(tables, sink.wants):
                if table.kind is not Kind.SCALAR:
                    sink.know(table)
        frame = frame_of(step, tables)
        groups: dict[Any, list[tuple[SeriesTable, int, Any]]] = {}
        for entry in pending:
            groups.setdefault((entry[2].device, entry[2].dtype, entry[2].shape), []).append(entry)
        fetched = []
        for entries in groups.values():
            with torch.no_grad():
                stacked = torch.stack([entry[2] for entry in entries])
            is_cuda = stacked.is_cuda
            host = torch.empty(stacked.shape, dtype=stacked.dtype, pin_memory=is_cuda)
            host.copy_(stacked, non_blocking=True)
            event = None
            if is_cuda:
                event = torch.cuda.Event()
                event.record()
            many = stacked.shape[1] if stacked.dim() == 3 else 1
            names = [(table.key, row, table.series[row : row + many]) for table, row, _ in entries]
            fetched.append((names, host, event, stacked))
        try:
            self._queue.put_nowait((frame, fetched))
        except queue.Full:
            samples = 6 * (len(pending) + sum(len(shot.series) for shot in frame.tables))
            self._missed.append((step, samples, len(frame.scalars)))

    def take_scalars(self, step: int, values: dict[str, float]) -> None:
        """Metrics that come after their step, in the order of the frames."""
        try:
            self._queue.put_nowait((Frame(step, [], dict(values)), []))
        except queue.Full:
            self._missed.append((step, 0, len(values)))

    def _run(self) -> None:
        while True:
            item = self._queue.get()
            if item is None:
                return
            frame, fetched = item
            for names, host, event, _keep in fetched:
                while event is not None and not event.query():
                    time.sleep(0.0005)
                _merge(frame, names, host.tolist())
            if frame.tables:
                self.last = frame
            self._dispatcher.deliver(frame)
            while self._missed:
                self._dispatcher.lost(*self._missed.popleft())
            self._queue.task_done()

    def drain(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        while self._queue.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.002)

    def stop(self) -> None:
        try:
            self._queue.put(None, timeout=1.0)
        except queue.Full:
            pass


def fetched(shot: TableSnapshot | None, table: SeriesTable, pending: list[tuple[int, Any]]) -> TableSnapshot | None:
    """A table's values with those that are still on a device. Waits for the device: only for who asks for them."""
    if not pending:
        return shot
    frame = Frame(-1, [] if shot is None else [shot])
    names = [(table.key, row, [table.series[row]]) for row, _ in pending]
    _merge(frame, names, [values.tolist() for _, values in pending])
    return frame.tables[0]


def _merge(frame: Frame, names: list[Any], numbers: list[Any]) -> None:
    """Adds device results to a frame, by kind, rows in order."""
    fresh: dict[Any, list[tuple[int, Any, tuple[Any, ...]]]] = {}
    for (key, first, descs), values in zip(names, numbers):
        rows = values if isinstance(values[0], list) else [values]
        entries = fresh.setdefault(key, [])
        for i, (desc, one) in enumerate(zip(descs, rows)):
            entries.append((first + i, desc, tuple(one) if key[1] else record(one)))
    for key, entries in fresh.items():
        old = next((shot for shot in frame.tables if shot.key == key), None)
        if old is not None:
            frame.tables.remove(old)
            entries += [(int(r), d, tuple(v)) for r, d, v in zip(old.rows, old.series, old.values)]
        entries.sort(key=lambda entry: entry[0])
        kind, stats, only = key
        frame.tables.append(
            TableSnapshot(
                kind,
                stats,
                [entry[1] for entry in entries],
                np.array([entry[0] for entry in entries]),
                np.array([entry[2] for entry in entries], None if stats else STATS),
                only=only,
            )
        )
