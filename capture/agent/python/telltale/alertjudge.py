# SPDX-License-Identifier: GPL-3.0-or-later
"""What the alert rules say of a step, in msprobe's words: in the training and over a run that was recorded."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .config import MonitorConfig
from .detectors import make_scanner
from .kinds import Kind, Stat
from .series import Frame, SeriesDesc, TableSnapshot
from .sinks.base import RunContext
from .sinks.layout import COUNTS, METADATA, FileKind, Names, column, ops_of, sorted_tables, split, tag

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
_MOST = float(np.finfo(np.float32).max)


@dataclass
class Alerts:
    """Of one step, in msprobe's order."""

    found: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)  # rule, sentence, the event's document
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)  # of anomaly.json


class AlertJudge:
    """Applies a config's rules to one step after the other. Values are judged as float32: that is what msprobe's
    tensors hold, and what a run is recorded in. Thread: one."""

    def __init__(self, context: RunContext, config: MonitorConfig, names: Names) -> None:
        self._context = context
        self._config = config
        self._names = names
        self._scanner = make_scanner(config.alert_rules, config.alert_two_sided)

    def judge(self, frame: Frame) -> Alerts:
        alerts = Alerts()
        calls = _first_calls(frame)
        for table in sorted_tables(frame.tables):
            for files, order in split(table, self._config):
                self._judge(frame.step, table, files, order, calls.get(table.kind), alerts)
        return alerts

    def _judge(
        self, step: int, table: TableSnapshot, files: FileKind, order: np.ndarray, first_call: int | None, to: Alerts
    ) -> None:
        ops, values = self._values(table, files, order)
        if not ops:
            return
        key = table.kind, files.prefix, table.generation
        for hit in self._scanner.scan(key, table.rows[order], ops, values):
            row = int(order[hit.position])
            desc = table.series[row]
            name = tag(self._names, table.kind, files, desc, self._context.rank)
            value = str(int(hit.value)) if hit.op in COUNTS and math.isfinite(hit.value) else repr(hit.value)
            message = (
                f"Rule {hit.rule} reports anomaly signal in {(name, hit.op)} at step {step}, current value {value}, "
                f"history mean {hit.mean!r}."
            )
            call = -1 if first_call is None else first_call + row
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
            to.found.append((hit.rule, message, document))
            self._enter(to.entries, self._entry(step, desc, call, name, message))

    def _values(self, table: TableSnapshot, files: FileKind, order: np.ndarray) -> tuple[list[str], np.ndarray]:
        ops, columns = [], []
        if table.stats and Stat.VALUE not in table.stats:
            table = _as_recorded(table)
        for op in ops_of(files, self._config):
            values = None if op in METADATA or op == "id" else column(table, op, self._config.eps)
            if values is not None:
                ops.append(op)
                columns.append((values if table.stats or op in COUNTS else as_float(values))[order])
        return ops, np.column_stack(columns) if columns else np.zeros((0, 0))

    def _entry(self, step: int, desc: SeriesDesc, call: int, name: str, message: str) -> dict[str, Any]:
        context = self._context
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


def as_float(values: np.ndarray) -> np.ndarray:
    """As a column of float32 holds them: what is finite stays finite."""
    finite = np.isfinite(values)
    return np.where(finite, np.clip(values, -_MOST, _MOST), values).astype(np.float32).astype(np.float64)


def _as_recorded(table: TableSnapshot) -> TableSnapshot:
    return replace(table, values=as_float(table.values))


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
