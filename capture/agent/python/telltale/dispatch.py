# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands a finished step to every sink, and waits for a device's results off the training thread."""

from __future__ import annotations

import abc
import time
from collections import deque
from dataclasses import replace
from typing import Any, Callable

import numpy as np

from .agent.measurer import Pending
from .flightrecorder import FlightRecorder, KeptStep
from .kinds import Kind
from .native import ConfigWords
from .series import STATS, Extra, Frame, SeriesDesc, SeriesTable, TableSnapshot, record, samples_each, wanted
from .sinks.base import RunContext, Sink
from .systemmetrics import GROUP

_NO_FILES = ("telltale.", GROUP)  # metrics that are the stream's alone
_AT_ONCE = 4  # steps that the flight recorder sends between two steps
NO_ROOM = 5.0  # seconds that one of them waits for room in the stream, where nothing else does


def frame_of(step: int, tables: list[SeriesTable]) -> Frame:
    """A copy of what the tables hold; scalars by name."""
    frame = Frame(step)
    for table in tables:
        shot = table.snapshot()
        if shot is not None and not _put_scalars(frame, shot):
            frame.tables.append(shot)
    return frame


def _put_scalars(frame: Frame, shot: TableSnapshot) -> bool:
    """Run metrics go into a frame by name; whether it was those."""
    if shot.kind is not Kind.SCALAR:
        return False
    for desc, value in zip(shot.series, shot.values[:, 0]):
        into = frame.marks if desc.name.startswith(_NO_FILES) else frame.scalars
        into[desc.name] = float(value)
        if desc.definition:
            frame.definitions[desc.name] = desc.definition
    return True


def _part_for(sink: Sink, frame: Frame) -> Frame:
    """What a sink gets of a frame."""
    tables = wanted(frame.tables, sink.wants)
    return frame if tables is frame.tables else replace(frame, tables=tables)


class Worker(abc.ABC):
    """Waits for results from a device to arrive. Thread: its own; what is to be done here the training thread."""

    last: Frame  # the last step that had something

    @abc.abstractmethod
    def take(
        self, step: int, tables: list[SeriesTable], pending: Pending, finish: Callable[[Frame], None] | None
    ) -> None:
        """A step whose results are on their way."""

    @abc.abstractmethod
    def take_scalars(self, step: int, values: dict[str, float], there: dict[str, Any]) -> None:
        """Metrics that come after their step, in the order of the frames."""

    @abc.abstractmethod
    def take_kept(self, leaving: deque[KeptStep]) -> None:
        """What the flight recorder sends goes out between the frames."""

    @abc.abstractmethod
    def drain(self, timeout: float) -> None:
        """Waits until everything has been delivered."""

    @abc.abstractmethod
    def stop(self) -> None:
        """Nothing comes any more."""


class Dispatcher:
    """Thread: training; sinks are called on the training thread, or, once a step had results on a device, on one
    worker thread."""

    def __init__(self, sinks: list[Sink], tell: Callable[[str], None]) -> None:
        self.sinks = sinks
        self._tell = tell
        self._failed: set[int] = set()
        self.make_worker: Callable[[Dispatcher], Worker] | None = None  # where results may be on a device
        self._worker: Worker | None = None
        self.recorder: FlightRecorder | None = None
        self.files_wait = False  # nothing is collected now: run metrics go to the stream alone

    @property
    def wants(self) -> Extra:
        """What at least one sink wants beside what all get."""
        found = Extra.NONE
        for sink in self.sinks:
            found |= sink.wants
        return found

    @property
    def has_worker(self) -> bool:
        """Whether sinks are written on a thread of their own."""
        return self._worker is not None

    @property
    def takes_kept(self) -> bool:
        """Whether what the flight recorder keeps has somewhere to go."""
        return any(sink.takes_kept for sink in self.sinks)

    def open(self, context: RunContext) -> None:
        if self.recorder is not None:
            self.recorder.let_go()
        if self._worker is not None:
            self._worker.drain(0.5)  # what it still has is of the series that the sinks know now
        for sink in list(self.sinks):
            try:
                sink.open(context)
            except Exception as error:  # noqa: BLE001 - one sink's trouble is not the training's, nor the others'
                self.sinks.remove(sink)
                self._tell(f"{sink.what} cannot start: {error}")

    def leave_out(self, duplicates: frozenset[tuple[int, str]]) -> None:
        """Tells the sinks which reduced gradients other ranks keep."""
        self._each("leave_out", duplicates)

    def publish(
        self,
        step: int,
        tables: list[SeriesTable],
        pending: Pending,
        finish: Callable[[Frame], None] | None = None,
    ) -> None:
        """Takes a step out of the tables; they may be cleared afterwards. finish: what is to be done with a frame whose
        results came from a device, before the sinks get it. Thread of finish: the worker."""
        if pending or self._worker is not None:
            self._the_worker().take(step, tables, pending, finish)
            return
        if self.recorder is not None:
            tables = self.recorder.take(step, tables)
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

    def deliver(self, frame: Frame, recorder: FlightRecorder | None) -> None:
        """A frame whose values came from a device. recorder: of the config under which it was measured, for its part.
        Thread: the worker."""
        if self.recorder is not None and self.recorder is not recorder:
            self.recorder.look_at_frame(frame)
        if recorder is not None:
            frame = recorder.take_frame(frame)
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

    def _the_worker(self) -> Worker:
        if self._worker is None:
            assert self.make_worker is not None  # who has results on a device has set it
            self._worker = self.make_worker(self)
        return self._worker

    def lost(self, step: int, samples: int, scalars: int, why: str) -> None:
        """A step that cannot be delivered. Thread: the worker."""
        self._each("dropped", step, samples, scalars)
        self._tell(f"{why} are dropped and counted")

    def missing(self, step: int, samples: int) -> None:
        """Samples of a step that could not be read, which has been said. Thread: the worker."""
        self._each("dropped", step, samples, 0)

    def scalar(self, step: int, values: dict[str, float], there: dict[str, Any] | None = None) -> None:
        """Metrics of a step that is already out; there: tensors of one element on a device."""
        if self.recorder is not None:
            self.recorder.look_at(step, values)
        if there or self._worker is not None:
            self._the_worker().take_scalars(step, values, there or {})  # the sinks are that thread's
        else:
            self._each("write_late", step, values)

    def event(self, kind: str, step: int, text: str, document: str = "{}", rule: str = "") -> None:
        self._each("event", kind, step, text, document, rule)

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        self._each("blob", kind, name, step, data)

    def cost(self, inside_ns: int, elapsed_ns: int, steps: int) -> None:
        self._each("cost", inside_ns, elapsed_ns, steps)

    def thinning(self, every: int, percent: float) -> None:
        self._each("thinning", every, percent)

    def recorder_asked(self) -> str | None:
        """Why a sink's reader wants what the flight recorder keeps."""
        for sink in self.sinks:
            if sink.takes_kept and (why := sink.recorder_asked()) is not None:
                return why
        return None

    def send_kept(self, tables: list[SeriesTable], is_last: bool) -> None:
        """Sends some of what the flight recorder has on its way, and all of it where this is the last time."""
        recorder = self.recorder
        takers = [sink for sink in self.sinks if sink.takes_kept]
        if recorder is None:
            return
        for sink in takers:
            for table in tables:
                sink.know(table)
        if self._worker is not None:
            self._worker.take_kept(recorder.leaving)
            return
        self.write_kept(recorder.leaving, len(recorder.leaving) if is_last else _AT_ONCE, NO_ROOM if is_last else 0)

    def write_kept(self, leaving: deque[KeptStep], most: int, patience: float) -> None:
        """patience: seconds that they may wait for room. Thread: where sinks are written."""
        end = time.monotonic() + patience
        while most and leaving:
            frame = leaving[0].frame()
            for sink in self.sinks:
                if not sink.takes_kept:
                    continue
                while not self._takes_kept(sink, _part_for(sink, frame)):
                    if not patience:
                        return  # with a later step
                    if time.monotonic() > end:
                        samples = sum(samples_each(shot) * len(shot.series) for shot in frame.tables)
                        self._each("dropped", frame.step, samples, 0)
                        break
                    time.sleep(0.002)
            leaving.popleft()
            most -= 1

    def _takes_kept(self, sink: Sink, frame: Frame) -> bool:
        try:
            return sink.write_kept(frame)
        except Exception as error:  # noqa: BLE001
            self._complain(sink, error)
            return True

    def config_due(self, step: int) -> tuple[int, str] | None:
        """What a sink has that is to be in force from `step` on."""
        for sink in self.sinks:
            try:
                due = sink.config_due(step)
            except Exception as error:  # noqa: BLE001
                self._complain(sink, error)
            else:
                if due is not None:
                    return due
        return None

    def config_words(self) -> ConfigWords:
        """As the sink that takes configs has them."""
        return next((sink.config_words() for sink in self.sinks if sink.takes_configs), ConfigWords())

    def config_in_force(self, rev: int, step: int, document: str, why: str) -> None:
        self._each("config_in_force", rev, step, document, why)

    def config_refuse(self, rev: int, step: int, why: str) -> None:
        self._each("config_refuse", rev, step, why)

    def takes_configs(self) -> bool:
        """Whether configs may ever come from elsewhere."""
        return any(sink.takes_configs for sink in self.sinks)

    def takes_pages(self) -> bool:
        """Whether what a run says of itself has somewhere to go."""
        return any(sink.takes_pages() for sink in self.sinks)

    def is_steered(self) -> bool:
        """Whether somebody is there now who may offer one. Thread: any."""
        return any(sink.is_steered() for sink in self.sinks)

    def is_config_offered(self, text: str) -> bool:
        """Thread: any."""
        return any(sink.is_config_offered(text) for sink in self.sinks)

    def flush(self, timeout: float) -> bool:
        if self._worker is not None:
            self._worker.drain(timeout)
        return all([sink.flush(timeout) for sink in self.sinks])

    def close(self, reason: str) -> None:
        if self.recorder is not None:
            if self._worker is not None:
                self._worker.drain(5.0)
            self.recorder.close(reason)
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
            self._tell(f"{sink.what} failed: {type(error).__name__}: {error}; training goes on")


def fetched(table: SeriesTable, pending: Pending) -> TableSnapshot | None:
    """A table's values with those that are still on a device. Waits for the device: only for who asks for them."""
    shot = table.snapshot()
    frame = Frame(-1, [] if shot is None else [shot])
    add_rows(
        frame,
        [(table, row, table.series[row]) for _, row, _ in pending.tensors],
        [values.tolist() for _, _, values in pending.tensors],
    )
    if pending.queued is not None and pending.queued.arrive():
        for other in pending.queued.shots():
            join(frame, other)
    return frame.tables[0] if frame.tables else None


def add_rows(frame: Frame, names: list[tuple[SeriesTable, int, SeriesDesc]], numbers: list[Any]) -> None:
    """Adds rows of numbers to a frame; run metrics by name."""
    fresh: dict[SeriesTable, list[tuple[int, SeriesDesc, tuple[Any, ...]]]] = {}
    for (table, row, desc), values in zip(names, numbers):
        fresh.setdefault(table, []).append((row, desc, tuple(values) if table.stats else record(values)))
    for table, entries in fresh.items():
        if table.kind is Kind.SCALAR:
            frame.scalars.update((desc.name, values[0]) for _, desc, values in entries)
            continue
        entries.sort(key=lambda entry: entry[0])
        rows, series, values = zip(*entries)
        found = np.array(list(values), None if table.stats else STATS)
        join(frame, table.shot(list(series), np.array(rows), found))


def add_shot(frame: Frame, shot: TableSnapshot) -> None:
    """Adds a table's rows, or run metrics, to a frame."""
    if not _put_scalars(frame, shot):
        join(frame, shot)


def join(frame: Frame, shot: TableSnapshot) -> None:
    """Adds a table's rows to those that the frame has of it, in their order."""
    old = next((one for one in frame.tables if one.key == shot.key), None)
    if old is None:
        frame.tables.append(shot)
        return
    rows = np.concatenate([old.rows, shot.rows])
    order = np.argsort(rows, kind="stable")
    series = old.series + shot.series
    values = np.concatenate([old.values, shot.values])[order]
    frame.tables = [one for one in frame.tables if one is not old]
    frame.tables.append(replace(shot, series=[series[i] for i in order], rows=rows[order], values=values, arrival=None))
