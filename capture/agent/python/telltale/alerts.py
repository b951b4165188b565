# SPDX-License-Identifier: GPL-3.0-or-later
"""Alerts inside the training job: msprobe's rules, console lines and anomaly.json."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from typing import Any, Callable

import numpy as np

from .anomalyfile import AnomalyFile
from .config import MonitorConfig
from .console import log
from .detectors import LetterScanner, Scanner, make_scanner
from .kinds import Kind
from .series import Extra, Frame, SeriesDesc, SeriesTable, TableSnapshot
from .sinks.base import RunContext
from .sinks.filesink import FileSink
from .sinks.layout import COUNTS, METADATA, FileKind, column, ops_of, sorted_tables, split, tag
from .sinks.rundir import RunDirectory
from .sinks.worker import FrameWorker, explain

EventFunction = Callable[[str, int, str, str, str], None]  # kind, step, text, json, rule

_MOST_EVENTS = 64  # of one step; one more says how many were left out
_YELLOW, _PLAIN = "\033[93m", "\033[0m"
# msprobe counts the tensors it registers in the order of execution; kinds that it never registers have call_id -1.
_CALL_ORDER = (
    Kind.ACTV,
    Kind.ATTENTION,
    Kind.LINEAR,
    Kind.ROUTER,
    Kind.ACTV_GRAD,
    Kind.GRAD_UNREDUCED,
    Kind.GRAD_REDUCED,
    Kind.EXP_AVG,
    Kind.EXP_AVG_SQ,
    Kind.MG_DIRECTION,
)


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
        self._scanner: Scanner = LetterScanner([])
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
        self._scanner = make_scanner(config.alert_rules, config.alert_two_sided)
        if config.alert_dump and config.alert_rules and self._file is None:
            folder = os.path.join(self.directory.base, "anomaly_detected", f"rank{self._context.rank}")
            self._file = AnomalyFile(folder)
            try:
                self._file.start()
            except OSError as error:
                log.warning("anomaly.json cannot be begun: %s; it is tried again at the first alert", explain(error))

    def _write(self, frame: Frame) -> None:
        assert self._context is not None
        entries: dict[str, dict[str, Any]] = {}
        lines: list[str] = []
        events: list[tuple[str, str, str]] = []
        calls = _first_calls(frame)
        prefix = self._prefix()
        for table in sorted_tables(frame.tables):
            for files, order in split(table, self._config):
                hits = self._judge(frame.step, table, files, order, calls.get(table.kind))
                for rule, message, entry, document in hits:
                    lines.append(f"{prefix}{_YELLOW}> {message}{_PLAIN}\n")
                    self._enter(entries, entry)
                    events.append((message, document, rule))
        self.hits += len(lines)
        if lines:
            self._say("".join(lines))
            self._send(frame.step, events)
        failure = ""
        if entries and self._config.alert_dump and self._file is not None:
            try:
                self._file.add(entries)
            except OSError as error:
                failure = explain(error, self._file.path)
        self._count(frame.step, failure)

    def _judge(
        self, step: int, table: TableSnapshot, files: FileKind, order: np.ndarray, first_call: int | None
    ) -> list[tuple[str, str, dict[str, Any], str]]:
        """(rule, console sentence, entry, JSON of the event) per hit, in msprobe's order."""
        context = self._context
        assert context is not None
        ops, values = self._values(table, files, order)
        if not ops:
            return []
        found = []
        for hit in self._scanner.scan((table.kind, files.prefix), table.rows[order], ops, values):
            row = int(order[hit.position])
            desc = table.series[row]
            name = tag(self._names, table.kind, files, desc, context.rank)
            value = str(int(hit.value)) if hit.op in COUNTS and math.isfinite(hit.value) else repr(hit.value)
            message = (
                f"Rule {hit.rule} reports anomaly signal in {(name, hit.op)} at step {step}, current value {value}, "
                f"history mean {hit.mean!r}."
            )
            call = -1 if first_call is None else first_call + row
            entry = self._entry(step, desc, call, name, message)
            document = {
                "rule": hit.rule,
                "kind": table.kind.word,
                "name": desc.name,
                "slot": desc.slot.text,
                "vpp_stage": desc.vpp_stage,
                "micro_step": desc.micro_step,
                "op": hit.op,
                "value": _json_number(hit.value),
                "history_mean": _json_number(hit.mean),
                "call_id": call,
                "tag": name,
            }
            found.append((hit.rule, message, entry, json.dumps(document)))
        return found

    def _values(self, table: TableSnapshot, files: FileKind, order: np.ndarray) -> tuple[list[str], np.ndarray]:
        ops, columns = [], []
        for op in ops_of(files, self._config):
            values = None if op in METADATA or op == "id" else column(table, op, self._config.eps)
            if values is not None:
                ops.append(op)
                columns.append(values[order])
        return ops, np.column_stack(columns) if columns else np.zeros((0, 0))

    def _entry(self, step: int, desc: SeriesDesc, call: int, name: str, message: str) -> dict[str, Any]:
        context = self._context
        assert context is not None
        return {
            "rank": context.rank,
            "step": step,
            "micro_step": max(desc.micro_step, 0),
            "pp_stage": context.pp_stage,
            "vpp_stage": desc.vpp_stage,
            "call_id": call,
            "tag_name": name,
            "message": message,
            "group_mates": list(context.group_mates),
        }

    def _enter(self, entries: dict[str, dict[str, Any]], entry: dict[str, Any]) -> None:
        """Hits of one tensor at one step share a key: msprobe keeps the last, the mended form keeps all sentences."""
        key = f"{entry['tag_name']}_step_{entry['step']}_call_{entry['call_id']}"
        before = entries.get(key)
        if before is not None and self._config.alert_two_sided:
            entry["message"] = f"{before['message']} {entry['message']}"
        entries[key] = entry

    def _send(self, step: int, events: list[tuple[str, str, str]]) -> None:
        if self._on_event is None:
            return
        for message, document, rule in events[:_MOST_EVENTS]:
            self._on_event("anomaly", step, message, document, rule)
        left = len(events) - _MOST_EVENTS
        if left > 0:
            self._on_event("anomaly", step, f"{left} more alerts at step {step}", json.dumps({"more": left}), "")

    def _prefix(self) -> str:
        assert self._context is not None
        rank = f" [rank {self._context.rank}]" if self._context.world_size > 1 else ""
        return f"{time.strftime('%Y-%m-%d %H:%M:%S')} ({os.getpid()}){rank} [INFO] "

    def _end(self) -> None:
        if self._file is not None:
            self._file.close()


def _first_calls(frame: Frame) -> dict[Kind, int]:
    """call_id of each table's first row: forward before backward before optimizer, rows in their order of execution."""
    sizes = {table.kind: len(table.series) for table in frame.tables}
    first, calls = 0, {}
    for kind in _CALL_ORDER:
        calls[kind] = first
        first += sizes.get(kind, 0)
    return calls


def _json_number(value: float) -> float | str:
    """JSON has no NaN and no Inf: they become text."""
    return value if math.isfinite(value) else repr(value)


def _to_stdout(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError):
        pass
