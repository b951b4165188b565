# SPDX-License-Identifier: GPL-3.0-or-later
"""Waits for a torch device's results off the training thread."""

from __future__ import annotations

import queue
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Callable

import torch

from .agent.measurer import Pending
from .devicestats import Queued, mark
from .dispatch import NO_ROOM, Dispatcher, Worker, add_rows, frame_of, join
from .flightrecorder import KeptStep
from .kinds import Kind, Stat
from .quiet import quiet
from .series import Frame, SeriesDesc, SeriesTable, samples_each, wanted
from .threads import start_thread

_MOST_WAITING = 64  # steps whose device results have not arrived


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
                join(self.frame, shot)
        while self.copied:
            one = self.copied[0]
            if one.behind is not None and not one.behind.arrive():
                return False
            add_rows(self.frame, one.names, one.host.tolist())
            self.copied.pop(0)
        if self.finish is not None:
            self.finish(self.frame)
        return True


class DeviceWorker(Worker):
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
                self._dispatcher.write_kept(step, len(step), NO_ROOM)
            elif step is not None:
                self._hand_on(step)
            while self._missed:
                # Its memory is the card's until it has arrived.
                missed = self._missed.popleft()
                missed.arrive_somehow()
                self._lose(missed, "results from the device arrive more slowly than the steps; some steps")
            if step is None:
                return
            self._queue.task_done()

    def _hand_on(self, step: _Step) -> None:
        why = step.arrive_somehow()
        if why:
            self._lose(step, f"{why}; a step's results from the device")
            return
        if step.frame.tables:
            self.last = step.frame
        self._dispatcher.deliver(step.frame)

    def _lose(self, step: _Step, why: str) -> None:
        self._dispatcher.lost(step.frame.step, step.samples, step.scalars, why)

    def drain(self, timeout: float) -> None:
        end = time.monotonic() + timeout
        while self._queue.unfinished_tasks and time.monotonic() < end:
            time.sleep(0.002)

    def stop(self) -> None:
        try:
            self._queue.put(None, timeout=1.0)
        except queue.Full:
            pass


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
