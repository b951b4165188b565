# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of metrics, texts and settings in the dashboard, for integrations whose framework has no monitor here."""

from __future__ import annotations

import atexit
import os
import sys
import time
import weakref
from typing import Any

from .. import exits, identity, native, runpage, short
from ..config import MonitorConfig
from ..console import log
from ..kinds import Kind, Stat
from ..series import Frame, SeriesDesc, SeriesTable
from ..sinks.base import RunContext
from ..sinks.stream import StreamSink
from ..slots import Slot

_open: weakref.WeakSet[RunStream] = weakref.WeakSet()


class RunStream:
    """Nothing of it raises or waits; without a dashboard or spool it only says so, once. Where a monitor watches the
    same training, what is logged goes to its run. Thread: training."""

    def __init__(self, framework: str, device: str, options: dict[str, Any]) -> None:
        """options: of the native agent (join, run_name, run_id, mode, spool_dir, rank, ...)."""
        self._options = {"framework": framework, "device": device, **options}
        self._sink: StreamSink | None = None
        self._step = 0
        self._monitor: Any = None
        self._ahead = 0
        self._tables: dict[Kind, SeriesTable] = {}
        self._rows: dict[tuple[Kind, str, Slot], int] = {}
        self.rank = identity.rank(options.get("rank"))
        self.page = runpage.RunPage(_version(), self.rank, self.tell)

    def begin(self, step: int) -> None:
        """There is something to tell from here on."""
        self._step = step
        self._monitor = short.current()
        if self._monitor is not None:
            return
        mode = self._options.get("mode") or os.environ.get("TELLTALE_MODE")
        has_place = bool(self._options.get("join") or os.environ.get("TELLTALE_JOIN")) or mode == "offline"
        if mode == "disabled" or not has_place:
            if mode != "disabled" and self.rank == 0:
                log.warning(
                    "no dashboard is named, so metrics go to none; for the dashboard copy its join string into "
                    "TELLTALE_JOIN"
                )
            return
        if trouble := native.trouble():
            log.warning("%s; until then nothing goes to the dashboard", trouble)
            return
        sink = StreamSink(**self._options)
        try:
            sink.open(RunContext(MonitorConfig(), rank=self.rank, world_size=identity.world_size(), start_step=step))
        except Exception as error:  # noqa: BLE001 - a dashboard's trouble is not the training's
            log.warning("the stream to the dashboard cannot start: %s", error)
            return
        self._sink = sink
        runpage.before.hand_over(self.page)
        self.page.begin(sink.blob, sink.event, lambda: self._step, lambda field: True)
        exits.watch()
        _open.add(self)

    @property
    def is_on(self) -> bool:
        """Whether what is logged goes anywhere."""
        return self._sink is not None or self._monitor is not None

    @property
    def takes_tensors(self) -> bool:
        """Whether statistics of tensors have a place beside the metrics."""
        return self._sink is not None

    @property
    def kinds_elsewhere(self) -> frozenset[Kind]:
        """Kinds of tensors that a monitor of the same training measures itself."""
        config = self._monitor.config if self._monitor is not None else MonitorConfig()
        found = {Kind.GRAD_UNREDUCED} if config.wg_distribution else set()
        return frozenset(found | ({Kind.EXP_AVG, Kind.EXP_AVG_SQ} if config.mv_distribution else set()))

    def log_tensors(
        self, step: int, kind: Kind, stats: tuple[Stat, ...], values: dict[tuple[str, Slot], tuple[float, ...]]
    ) -> None:
        """Statistics of tensors of one kind by name and slot; always the same ones of a kind."""
        if self._sink is None:
            return
        table = self._tables.setdefault(kind, SeriesTable(kind, stats))
        table.clear()
        for (name, slot), numbers in values.items():
            row = self._rows.get((kind, name, slot), -1)
            if row < 0:
                row = self._rows[kind, name, slot] = table.add(SeriesDesc(name, slot))
            if row >= 0:
                table.put(row, *numbers)
        try:
            self._sink.write_tables(step, [table])
        except Exception as error:  # noqa: BLE001
            log.warning("step %d did not go to the dashboard: %s: %s", step, type(error).__name__, error)

    def log(self, step: int, values: dict[str, float], definitions: dict[str, str], samples: float = 0.0) -> None:
        """A step's metrics. samples: consumed by the job until its end, for the dashboard's axis; 0 = not known."""
        try:
            seen = {"telltale.samples_seen": samples} if samples > 0 else {}
            if self._monitor is not None:
                # It may count steps from another number; the one that has just ended is this one.
                self._ahead = self._monitor.step - 1 - step
                self._monitor.log({**values, **seen}, step + self._ahead)
            elif self._sink is not None:
                self._step = step
                marks = {"telltale.wall_ns": float(time.time_ns()), **seen}
                values = {**values, **self.page.sample()}
                self._sink.write(Frame(step, [], values, marks, definitions))
        except Exception as error:  # noqa: BLE001
            log.warning("step %d did not go to the dashboard: %s: %s", step, type(error).__name__, error)

    def log_late(self, step: int, values: dict[str, float]) -> None:
        """Metrics of a step that is over."""
        if self._monitor is not None:
            self._monitor.log(values, step + self._ahead)
        elif self._sink is not None and values:
            self._sink.write_late(step, values)

    def settings(self, values: dict[str, Any], texts: dict[str, str]) -> None:
        """What the run was started with, as hyperparameters and, each by its name, as texts."""
        page = self._monitor.page if self._monitor is not None else self.page
        if sentence := page.facts.add_hyperparameters(values):
            self.tell(sentence)
        page.send_hyperparameters()
        for name, text in texts.items():
            if self._monitor is not None:
                self._monitor.log_document("text", name, text, self._step)
            else:
                self.page.text(name, text, self._step)

    def tell(self, sentence: str) -> None:
        """To the user, and in the run."""
        log.warning("%s", sentence)
        if self._sink is not None:
            self._sink.event("log", self._step, sentence)

    def flush(self, timeout: float = 5.0) -> bool:
        """Waits until everything is safe; not for the training loop."""
        return self._sink.flush(timeout) if self._sink is not None else True

    def counters(self) -> dict[str, int]:
        """The native agent's."""
        return self._sink.counters() if self._sink is not None else {}

    def close(self, reason: str = "finished") -> None:
        """The last words. Again: nothing."""
        _open.discard(self)
        sink, self._monitor = self._sink, None
        if sink is None:
            return
        self.page.close()
        self._sink = None
        sink.close(reason)

    def forget(self) -> None:
        """In a forked child."""
        if self._sink is not None:
            self._sink.forget()
        self._sink = self._monitor = None
        self.page.forget()


def _version() -> str:
    return str(getattr(sys.modules.get("telltale"), "__version__", ""))


def _close_all() -> None:
    for stream in list(_open):
        stream.close(exits.reason())


def _after_fork() -> None:
    for stream in list(_open):
        stream.forget()
    _open.clear()


atexit.register(_close_all)
os.register_at_fork(after_in_child=_after_fork)
