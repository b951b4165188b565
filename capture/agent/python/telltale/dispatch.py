# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands a finished step to every sink, and waits for a device's results off the training thread."""

from __future__ import annotations

import queue
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import Any, Callable

import numpy as np
import torch

from .devicestats import Queued, mark
from .flightrecorder import FlightRecorder, KeptStep
from .kinds import Kind, Stat
from .measure import Pending, record
from .native import ConfigWords
from .quiet import quiet
from .series import STATS, Extra, Frame, SeriesDesc, SeriesTable, TableSnapshot, samples_each, wanted
from .sinks.base import RunContext, Sink
from .systemmetrics import GROUP
from .threads import start_thread

_NO_FILES = ("telltale.", GROUP)  # metrics that are the stream's alone
_MOST_WAITING = 64  # steps whose device results have not arrived
_AT_ONCE = 4  # steps that the flight recorder sends between two steps
_NO_ROOM = 5.0  # seconds that one of them waits for room in the stream, where nothing else does


def frame_of(step: int, tables: list[SeriesTable]) -> Frame:
    """A copy of what the tables hold; scalars by name."""
    frame = Frame(step)
    for table in tables:
        shot = table.snapshot()
        if shot is None:
            continue
        if table.kind is Kind.SCALAR:
            for desc, value in zip(shot.series, shot.values[:, 0]):
                into = frame.marks if desc.name.startswith(_NO_FILES) else frame.scalars
                into[desc.name] = float(value)
                if desc.definition:
                    frame.definitions[desc.name] = desc.definition
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
            if self._worker is None:
                self._worker = _DeviceWorker(self)
            self._worker.take(step, tables, pending, finish)
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

    def deliver(self, frame: Frame) -> None:
        """A frame whose values came from a device. Thread: the worker."""
        if self.recorder is not None:
            frame = self.recorder.take_frame(frame)
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

    def lost(self, step: _Step, why: str) -> None:
        """A step that cannot be delivered. Thread: the worker."""
        self._each("dropped", step.frame.step, step.samples, step.scalars)
        self._tell(f"{why} are dropped and counted")

    def scalar(self, step: int, values: dict[str, float], there: dict[str, Any] | None = None) -> None:
        """Metrics of a step that is already out; there: tensors of one element on a device."""
        if self.recorder is not None:
            self.recorder.look_at(step, values)
        if there and self._worker is None:
            self._worker = _DeviceWorker(self)
        if self._worker is not None:
            self._worker.take_scalars(step, values, there or {})  # the sinks are that thread's
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
        self.write_kept(recorder.leaving, len(recorder.leaving) if is_last else _AT_ONCE, _NO_ROOM if is_last else 0)

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
                        samples = sum(samples_each(shot.kind, shot.stats) * len(shot.series) for shot in frame.tables)
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


class _Event:
    """A mark on a stream where there are no kernels of our own to make one."""

    def __init__(self) -> None:
        self._event = torch.cuda.Event()
        self._event.record()

    def arrive(self) -> bool:
        while not self._event.query():
            time.sleep(0.0005)
        return True


@dataclass
class _Copied:
    """Results on their way to the host."""

    names: list[tuple[SeriesTable, int, SeriesDesc]]
    host: torch.Tensor
    behind: Queued | _Event | None  # arrives with them, None = they are there
    source: torch.Tensor  # kept while it is read


@dataclass
class _Step:
    """What the worker delivers. Thread: one at a time."""

    frame: Frame
    copied: list[_Copied] = field(default_factory=list)
    queued: Queued | None = None
    finish: Callable[[Frame], None] | None = None
    kept: frozenset[Kind] = frozenset()  # by the flight recorder, so that nobody waits for it

    @property
    def samples(self) -> int:
        """How many are in it, arrived or not, that are to be sent."""
        shots = [shot for shot in self.frame.tables if shot.kind not in self.kept]
        found = sum(samples_each(shot.kind, shot.stats) * len(shot.series) for shot in shots)
        names = [table for one in self.copied for table, _, _ in one.names if table.kind not in self.kept]
        found += sum(samples_each(table.kind, table.stats) for table in names)
        return found + (self.queued.samples(self.kept) if self.queued is not None else 0)

    @property
    def scalars(self) -> int:
        """The same of run metrics."""
        there = sum(table.kind is Kind.SCALAR for one in self.copied for table, _, _ in one.names)
        return len(self.frame.scalars) + there

    def arrive_somehow(self) -> str:
        """Waits for everything and puts it into the frame; why that cannot be, "" when it is there."""
        try:
            return "" if self._arrive() else "the device failed"
        except Exception as error:  # noqa: BLE001 - the steps behind it must still come
            return f"{type(error).__name__}: {error}"

    def _arrive(self) -> bool:
        if self.queued is not None:
            if not self.queued.arrive():
                return False
            shots = self.queued.shots()
            self.queued.release()
            self.queued = None
            for shot in shots:
                _join(self.frame, shot)
        while self.copied:
            one = self.copied[0]
            if one.behind is not None and not one.behind.arrive():
                return False
            _add_rows(self.frame, one.names, one.host.tolist())
            self.copied.pop(0)
        if self.finish is not None:
            self.finish(self.frame)
        return True


class _DeviceWorker:
    """Waits for copies from a device to arrive. Thread: its own; take() the training thread."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._queue: queue.Queue[Any] = queue.Queue(_MOST_WAITING)
        self._missed: deque[_Step] = deque()  # that found no room
        self.last = Frame(-1)  # the last step that had something
        self._thread = start_thread(self._run, "telltale-device")

    def take(
        self, step: int, tables: list[SeriesTable], pending: Pending, finish: Callable[[Frame], None] | None
    ) -> None:
        recorder = self._dispatcher.recorder
        for sink in self._dispatcher.sinks:
            for table in wanted(tables, sink.wants):
                if table.kind is not Kind.SCALAR and (recorder is None or not recorder.keeps(table)):
                    sink.know(table)
        kept = recorder.kinds if recorder is not None else frozenset()
        self._put(_Step(frame_of(step, tables), _copied(pending.tensors), pending.queued, finish, kept))

    def take_scalars(self, step: int, values: dict[str, float], there: dict[str, Any]) -> None:
        """Metrics that come after their step, in the order of the frames."""
        table = SeriesTable(Kind.SCALAR, (Stat.VALUE,), len(there))
        tensors = [(table, table.add(SeriesDesc(name, numel=1)), value) for name, value in there.items()]
        self._put(_Step(Frame(step, [], dict(values)), _copied(tensors)))

    def take_kept(self, leaving: deque[KeptStep]) -> None:
        """What the flight recorder sends goes out between the frames."""
        try:
            self._queue.put_nowait(leaving)
        except queue.Full:
            pass  # with the next step

    def _put(self, step: _Step) -> None:
        try:
            self._queue.put_nowait(step)
        except queue.Full:
            self._missed.append(step)

    def _run(self) -> None:
        while True:
            step = self._queue.get()
            if isinstance(step, deque):
                self._dispatcher.write_kept(step, len(step), _NO_ROOM)
            elif step is not None:
                self._hand_on(step)
            while self._missed:
                # Its memory is the card's until it has arrived.
                missed = self._missed.popleft()
                missed.arrive_somehow()
                self._dispatcher.lost(missed, "results from the device arrive more slowly than the steps; some steps")
            if step is None:
                return
            self._queue.task_done()

    def _hand_on(self, step: _Step) -> None:
        why = step.arrive_somehow()
        if why:
            self._dispatcher.lost(step, f"{why}; a step's results from the device")
            return
        if step.frame.tables:
            self.last = step.frame
        self._dispatcher.deliver(step.frame)

    def drain(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        while self._queue.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.002)

    def stop(self) -> None:
        try:
            self._queue.put(None, timeout=1.0)
        except queue.Full:
            pass


def fetched(table: SeriesTable, pending: Pending) -> TableSnapshot | None:
    """A table's values with those that are still on a device. Waits for the device: only for who asks for them."""
    shot = table.snapshot()
    frame = Frame(-1, [] if shot is None else [shot])
    _add_rows(
        frame,
        [(table, row, table.series[row]) for _, row, _ in pending.tensors],
        [values.tolist() for _, _, values in pending.tensors],
    )
    if pending.queued is not None and pending.queued.arrive():
        for other in pending.queued.shots():
            _join(frame, other)
    return frame.tables[0] if frame.tables else None


def _copied(tensors: list[tuple[SeriesTable, int, Any]]) -> list[_Copied]:
    """Queues copies to the host, one for all results of a shape."""
    groups: dict[Any, list[tuple[SeriesTable, int, Any]]] = {}
    for entry in tensors:
        groups.setdefault((entry[2].device, entry[2].dtype, entry[2].shape), []).append(entry)
    out = []
    for entries in groups.values():
        with quiet(entries[0][2].device):
            stacked = torch.stack([entry[2] for entry in entries])
            host = torch.empty(stacked.shape, dtype=stacked.dtype, pin_memory=stacked.is_cuda)
            host.copy_(stacked, non_blocking=True)
        behind = (mark(stacked.get_device()) or _Event()) if stacked.is_cuda else None
        names = [(table, row, table.series[row]) for table, row, _ in entries]
        out.append(_Copied(names, host, behind, stacked))
    return out


def _add_rows(frame: Frame, names: list[tuple[SeriesTable, int, SeriesDesc]], numbers: list[Any]) -> None:
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
        _join(frame, TableSnapshot(table.kind, table.stats, list(series), np.array(rows), found, only=table.only))


def _join(frame: Frame, shot: TableSnapshot) -> None:
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
