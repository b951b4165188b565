# SPDX-License-Identifier: GPL-3.0-or-later
"""Alerts inside the training job: msprobe's rules, console lines and anomaly.json."""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Callable

from .alertjudge import AlertJudge
from .anomalyfile import AnomalyFile
from .config import MonitorConfig
from .console import log
from .series import Extra, Frame, SeriesTable
from .sinks.base import RunContext
from .sinks.filesink import FileSink
from .sinks.rundir import RunDirectory
from .sinks.worker import FrameWorker, explain

EventFunction = Callable[[str, int, str, str, str], None]  # kind, step, text, json, rule

_MOST_EVENTS = 64  # of one step; one more says how many were left out
_YELLOW, _PLAIN = "\033[93m", "\033[0m"


class AlertSink(FileSink):
    """Judges every step by the config's alert rules, on the file sinks' thread: a console line per hit, an entry in
    anomaly_detected/rank{R}/anomaly.json when `dump` is set, and an event for the dashboard.

    Thread: open, write, flush and close are for the training thread; on_event is called on the worker.
    """

    what = "the alerts"
    format = "alert"
    wants = Extra.CALLS_BY_SITE

    def __init__(
        self,
        worker: FrameWorker | None = None,
        directory: RunDirectory | None = None,
        on_event: EventFunction | None = None,
        say: Callable[[str], Any] | None = None,
    ) -> None:
        """say: takes the console lines instead of standard output, one text of whole lines per step."""
        super().__init__(worker, directory)
        self._on_event = on_event
        self._say = say or _to_stdout
        self._context: RunContext | None = None
        self._judge: AlertJudge | None = None
        self._file: AnomalyFile | None = None
        self._has_rules = False
        self.hits = 0

    def open(self, context: RunContext) -> None:
        self._context = context
        self._has_rules = bool(context.config.alert_rules)
        super().open(context)

    def write_tables(self, step: int, tables: list[SeriesTable]) -> bool:
        return not self._has_rules

    def write(self, frame: Frame) -> None:
        if self._has_rules and frame.tables:
            super().write(frame)

    def _configure(self, config: MonitorConfig) -> None:
        assert self._context is not None
        self._judge = AlertJudge(self._context, config, self._names)
        if config.alert_dump and config.alert_rules and self._file is None:
            folder = os.path.join(self.directory.base, "anomaly_detected", f"rank{self._context.rank}")
            self._file = AnomalyFile(folder)
            try:
                self._file.start()
            except OSError as error:
                log.warning("anomaly.json cannot be begun: %s; it is tried again at the first alert", explain(error))

    def _write(self, frame: Frame) -> None:
        assert self._context is not None
        assert self._judge is not None
        alerts = self._judge.judge(frame)
        self.hits += len(alerts.found)
        if alerts.found:
            prefix = self._prefix()
            self._say("".join(f"{prefix}{_YELLOW}> {message}{_PLAIN}\n" for _, message, _ in alerts.found))
            self._send(frame.step, alerts.found)
        failure = ""
        if alerts.entries and self._config.alert_dump and self._file is not None:
            try:
                self._file.add(alerts.entries)
            except OSError as error:
                failure = explain(error, self._file.path)
        self._count(frame.step, failure)

    def _send(self, step: int, found: list[tuple[str, str, dict[str, Any]]]) -> None:
        if self._on_event is None:
            return
        for rule, message, document in found[:_MOST_EVENTS]:
            self._on_event("anomaly", step, message, json.dumps(document), rule)
        left = len(found) - _MOST_EVENTS
        if left > 0:
            self._on_event("anomaly", step, f"{left} more alerts at step {step}", json.dumps({"more": left}), "")

    def _prefix(self) -> str:
        assert self._context is not None
        rank = f" [rank {self._context.rank}]" if self._context.world_size > 1 else ""
        return f"{time.strftime('%Y-%m-%d %H:%M:%S')} ({os.getpid()}){rank} [INFO] "

    def _end(self) -> None:
        if self._file is not None:
            self._file.close()


def _to_stdout(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError):
        pass
