# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for results that are still to come off the training thread: those on a device, or still being computed."""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable

from .agent.measurer import Awaited, Copied, Pending
from .dispatch import NO_ROOM, Dispatcher, Worker, add_rows, add_shot, frame_of
from .flightrecorder import FlightRecorder, KeptStep
from .kinds import Kind, Stat
from .series import Frame, SeriesDesc, SeriesTable, samples_each, wanted
from .threads import start_thread

_MOST_WAITING = 64  # steps whose device results have not arrived
_TOO_LATE = "the training ended before a step's results were there; they"


@dataclass
class _Step:
    """What the worker delivers. Thread: one at a time."""

    frame: Frame
    copied: list[Copied] = field(default_factory=list)
    queued: Awaited | None = None
    finish: Callable[[Frame], None] | None = None
    recorder: FlightRecorder | None = None  # nobody waits for what it keeps
    order: list[Any] = field(default_factory=list)  # keys of the step's tables
    lost: int = 0  # samples that did not come with the others

    @property
    def kept(self) -> frozenset[Kind]:
        """By the flight recorder."""
        return self.recorder.kinds if self.recorder is not None else frozenset()

    @property
    def samples(self) -> int:
        """How many are in it, arrived or not, that are to be sent."""
        shots = [shot for shot in self.frame.tables if shot.kind not in self.kept]
        found = sum(samples_each(shot) * len(shot.series) for shot in shots)
        names = [table for one in self.copied for table, _, _ in one.names if table.kind not in self.kept]
        found += sum(samples_each(table) for table in names)
        return found + (self.queued.samples(self.kept) if self.queued is not None else 0)

    @property
    def scalars(self) -> int:
        """The same of run metrics."""
        there = sum(table.kind is Kind.SCALAR for one in self.copied for table, _, _ in one.names)
        there += self.queued.scalars() if self.queued is not None else 0
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
            shots, self.lost = self.queued.shots(), self.queued.lost
            self.queued.release()
            self.queued = None
            for shot in shots:
                add_shot(self.frame, shot)
            self.frame.tables.sort(key=lambda shot: self.order.index(shot.key) if shot.key in self.order else -1)
        while self.copied:
            numbers = self.copied[0].numbers()
            if numbers is None:
                return False
            add_rows(self.frame, self.copied.pop(0).names, numbers)
        if self.finish is not None:
            self.finish(self.frame)
        return True


class DeviceWorker(Worker):
    """Thread: its own; take() and take_scalars() the training thread."""

    def __init__(
        self, dispatcher: Dispatcher, copied: Callable[[list[tuple[SeriesTable, int, Any]]], list[Copied]]
    ) -> None:
        """copied: begins to copy a framework's tensors to the host."""
        self._dispatcher = dispatcher
        self._copied = copied
        self._current: _Step | None = None
        self._is_over = False
        self._lock = threading.Lock()  # who has the current step: the worker, or who ends it
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
        order = [table.key for table in tables]
        self._put(_Step(frame_of(step, tables), self._copied(pending.tensors), pending.queued, finish, recorder, order))

    def take_scalars(self, step: int, values: dict[str, float], there: dict[str, Any]) -> None:
        """Metrics that come after their step, in the order of the frames."""
        table = SeriesTable(Kind.SCALAR, (Stat.VALUE,), len(there))
        tensors = [(table, table.add(SeriesDesc(name, numel=1)), value) for name, value in there.items()]
        self._put(_Step(Frame(step, [], dict(values)), self._copied(tensors)))

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
            if step.queued is not None:
                step.queued.forsake()
            self._missed.append(step)

    def _run(self) -> None:
        while True:
            step = self._queue.get()
            if isinstance(step, deque):
                self._dispatcher.write_kept(step, len(step), NO_ROOM)
            elif step is not None:
                self._hand_on(step)
            while self._missed:
                missed = self._missed.popleft()
                many = missed.samples, missed.scalars  # before it arrives: of what was forsaken nothing will
                missed.arrive_somehow()  # its memory is the card's until then
                self._lose(missed, "results from the device arrive more slowly than the steps; some steps", many)
            if step is None:
                return
            self._queue.task_done()

    def _hand_on(self, step: _Step) -> None:
        with self._lock:
            is_over = self._is_over
            self._current = None if is_over else step
        if is_over:
            self._lose(step, _TOO_LATE)
            return
        why = step.arrive_somehow()
        with self._lock:
            if self._current is None:
                return  # the end came first, and it was counted there
            self._current = None
        if step.lost:
            self._dispatcher.missing(step.frame.step, step.lost)
        if why:
            self._lose(step, f"{why}; a step's results from the device")
            return
        if step.frame.tables:
            self.last = step.frame
        try:
            self._dispatcher.deliver(step.frame, step.recorder)
        except Exception as error:  # noqa: BLE001 - the steps behind it must still come
            self._lose(step, f"{type(error).__name__}: {error}; a step's results from the device")

    def _lose(self, step: _Step, why: str, many: tuple[int, int] | None = None) -> None:
        samples, scalars = many if many is not None else (step.samples, step.scalars)
        self._dispatcher.lost(step.frame.step, samples, scalars, why)

    def drain(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        while self._queue.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.002)

    def stop(self) -> None:
        with self._lock:
            self._is_over = True
            current, self._current = self._current, None
        left = [] if current is None else [current]
        try:
            while True:
                left.append(self._queue.get_nowait())
        except queue.Empty:
            self._queue.put(None)
        for step in left:
            if isinstance(step, _Step):
                self._lose(step, _TOO_LATE)

