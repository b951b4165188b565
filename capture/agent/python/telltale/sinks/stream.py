# SPDX-License-Identifier: GPL-3.0-or-later
"""Streams to the dashboard through the native core: slab ring, spool, wire."""

from __future__ import annotations

import ctypes
import json
import os
import shlex
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import native
from ..bins import edges_of
from ..console import log
from ..kinds import Kind, Stat
from ..names import bare_name
from ..series import (
    PASS,
    PRESENT,
    STATS,
    Extra,
    Frame,
    SeriesDesc,
    SeriesTable,
    TableSnapshot,
    is_hashed,
    is_histogram,
    samples_each,
)
from .base import RunContext, Sink

_ITEM = STATS.itemsize
_PART = 4096  # series in one layout
_CLOSE_SECONDS = 5.0
_SCALARS = "scalars"  # the sink's own table
_MOST_METRICS = 4096  # names


@dataclass
class _Part:
    first: int
    count: int
    layout: int
    width: int  # values of a series, 0 = STATS


class StreamSink(Sink):
    """Copies a step's tables into one slab of the agent's ring."""

    what = "the stream to the dashboard"
    takes_configs = True
    is_last = True
    takes_kept = True

    def __init__(self, **options: Any) -> None:
        """Takes the fields of tt_options that the caller knows; the rest comes from the environment."""
        self._options = options
        self.agent: native.Agent | None = None
        self._parts: dict[Any, list[_Part]] = {}  # by the key of their table
        self._scalars = SeriesTable(Kind.SCALAR, (Stat.VALUE,), capacity=_MOST_METRICS)
        self._scalar_rows: dict[str, int] = {}
        self._names: dict[tuple[int, str], str] = {}  # (chunk, shown name) -> the model's own
        self._stripped: dict[str, str] = {}
        self._told_names = 0
        self._last_counters: dict[str, int] = {}
        self._refused = [0, 0]  # samples and scalars of the step that have no series to go to
        self._told: set[str] = set()
        self._hashed = False
        self._closing = threading.Lock()  # documents come on other threads, too

    def open(self, context: RunContext) -> None:
        self._hashed = context.config.checksum
        if self.agent is not None:
            # The monitor begins anew, with new tables.
            for key in list(self._parts):
                if key != _SCALARS:
                    del self._parts[key]
            return
        options = dict(context.info.get("agent", {}), **self._options)
        options.setdefault("rank", context.rank)
        options.setdefault("world_size", context.world_size)
        self.agent = native.Agent(**options)

    def write_tables(self, step: int, tables: list[SeriesTable]) -> bool:
        agent = self.agent
        if agent is None:
            return True
        todo: list[tuple[SeriesTable, _Part]] = []
        metrics: dict[int, float] = {}
        for table in tables:
            if table.kind is Kind.SCALAR:
                values = table.values[: len(table), 0].tolist()
                present = table.present[: len(table)].tolist()
                self._take(metrics, ((d, v) for d, v, is_there in zip(table.series, values, present) if is_there))
                continue
            self.know(table)
            for part in self._parts.get(table.key, ()):
                if not _is_present(table, part):
                    continue
                if part.layout:
                    todo.append((table, part))
                else:
                    self._refuse(*_counts(table, part))
        self._send(step, todo, metrics)
        return True

    def _take(self, metrics: dict[int, float], values: Iterable[tuple[SeriesDesc, float]]) -> None:
        """Adds run metrics by their rows in the sink's own table: one series a name, whether a value comes with its
        step or after it. Every step has some, so they go without numpy's detours."""
        for desc, value in values:
            row = self._scalar_rows.get(desc.name)
            if row is None:
                row = self._scalars.add(desc)
                if row >= 0:
                    self._scalar_rows[desc.name] = row
            if row >= 0:
                metrics[row] = value
                continue
            self._refuse(0, 1)
            self._tell_once(
                f"more than {_MOST_METRICS} metric names", f"{desc.name[:100]!r} and later ones are not stored"
            )

    def _send(self, step: int, todo: list[tuple[SeriesTable, _Part]], metrics: dict[int, float]) -> None:
        agent = self.agent
        assert agent is not None
        self._know(self._scalars, _SCALARS)
        layouts = self._parts.get(_SCALARS, [])  # a part a row
        known = {row: value for row, value in metrics.items() if layouts[row].layout}
        self._refuse(0, len(metrics) - len(known))
        self._count_refused(step)
        if not todo and not known:
            return
        slab = agent.begin(step)
        if not slab:
            self._drop(step, todo, len(known))
            return
        for table, part in todo:
            self._copy(slab, table, part)
        self._count_refused(step)
        for row, value in known.items():
            to, flags = agent.doubles(slab, layouts[row].layout)
            if to:
                ctypes.c_double.from_address(to).value = value
                ctypes.c_uint8.from_address(flags).value = 1
        agent.commit(slab)

    def _refuse(self, samples: int, scalars: int) -> None:
        self._refused[0] += samples
        self._refused[1] += scalars

    def _count_refused(self, step: int) -> None:
        samples, scalars = self._refused
        if samples or scalars:
            self._refused = [0, 0]
            self.dropped(step, samples, scalars)

    def _tell_once(self, what: str, details: str) -> None:
        """To the user, and in the run."""
        if what in self._told:
            return
        self._told.add(what)
        sentence = f"{what}; {details}"
        log.warning("%s", sentence)
        self.event("log", 0, sentence)

    def write(self, frame: Frame) -> None:
        """The slower way, for steps that were fetched from a device."""
        agent = self.agent
        if agent is None:
            return
        slab = 0
        is_full = False
        for shot in frame.tables:
            for part, inside in self._places(shot):
                if part.layout and not is_full:
                    slab = slab or agent.begin(frame.step)
                    is_full = not slab
                if slab and part.layout:
                    self._scatter(slab, shot, part, inside)
                else:
                    self._refuse(samples_each(shot) * int(np.count_nonzero(inside)), 0)
        self._count_refused(frame.step)
        if slab:
            agent.commit(slab)
        if frame.scalars or frame.marks:
            self._write_metrics(frame)

    def write_kept(self, frame: Frame) -> bool:
        agent = self.agent
        slab = agent.begin(frame.step) if agent is not None else 0
        if agent is None or not slab:
            return agent is None
        for shot in frame.tables:
            for part, inside in self._places(shot):
                if not part.layout:
                    self._refuse(samples_each(shot) * int(np.count_nonzero(inside)), 0)
                elif not self._scatter(slab, shot, part, inside):
                    agent.abandon(slab)
                    self._refused = [0, 0]  # it comes again, whole
                    return False
        self._count_refused(frame.step)
        agent.commit(slab)
        return True

    def _places(self, shot: TableSnapshot) -> Iterator[tuple[_Part, np.ndarray]]:
        """The parts that have rows of a frame, and which. What is in none, because another config has begun other
        tables since it was measured, is refused."""
        left = len(shot.rows)
        for part in self._parts.get(shot.key, ()):
            inside = (shot.rows >= part.first) & (shot.rows < part.first + part.count)
            found = int(np.count_nonzero(inside))
            left -= found
            if found:
                yield part, inside
        if left:
            self._refuse(samples_each(shot) * left, 0)
            self._tell_once(
                f"values of {shot.kind.word} came after another config had begun", "they are dropped and counted"
            )

    def recorder_asked(self) -> str | None:
        return self.agent.recorder_asked() if self.agent is not None else None

    def know(self, table: SeriesTable) -> None:
        """Registers the series of a table that are new."""
        self._know(table, table.key)

    def _know(self, table: SeriesTable, key: Any) -> None:
        known = self._known(key)
        if known < len(table.series):
            self._register(key, table, known)
            self._tell_names()

    def write_late(self, step: int, values: dict[str, float]) -> None:
        if self.agent is not None:
            self._write_metrics(Frame(step, [], values))

    def _write_metrics(self, frame: Frame) -> None:
        metrics: dict[int, float] = {}
        named = ((name, value) for values in (frame.scalars, frame.marks) for name, value in values.items())
        known = frame.definitions
        self._take(metrics, ((SeriesDesc(n, numel=1, definition=known.get(n, "")), value) for n, value in named))
        self._send(frame.step, [], metrics)

    def dropped(self, step: int, samples: int, scalars: int) -> None:
        if self.agent is not None:
            self.agent.dropped(step, samples, scalars)

    def event(self, kind: str, step: int, text: str, json: str = "{}", rule: str = "") -> None:
        with self._closing:
            if self.agent is not None:
                self.agent.event(kind, step, text, json, rule)

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        if kind in ("stack", "module_struct"):
            data = _with_bare_keys(data)
        elif kind == "attention_map":
            name = bare_name(name)  # as the series beside it
        with self._closing:
            if self.agent is not None:
                self.agent.blob(kind, name, step, data)

    def takes_pages(self) -> bool:
        return self.agent is not None and self.agent.counters()["mode"] != 0

    def cost(self, inside_ns: int, elapsed_ns: int, steps: int) -> None:
        if self.agent is not None:
            self.agent.cost(inside_ns, elapsed_ns, steps)

    def thinning(self, every: int, percent: float) -> None:
        if self.agent is not None:
            self.agent.thinning(every, round(percent * 10_000))

    def config_due(self, step: int) -> tuple[int, str] | None:
        return self.agent.config_due(step) if self.agent is not None else None

    def config_words(self) -> native.ConfigWords:
        return self.agent.config_words if self.agent is not None else super().config_words()

    def config_in_force(self, rev: int, step: int, document: str, why: str) -> None:
        if self.agent is not None:
            self.agent.config_in_force(rev, step, document, why)

    def config_refuse(self, rev: int, step: int, why: str) -> None:
        if self.agent is not None:
            self.agent.config_refuse(rev, step, why)

    def is_steered(self) -> bool:
        allowed = os.environ.get("TELLTALE_REMOTE_CONFIG", "").lower() in ("", "on", "1", "true", "yes")
        return allowed and bool(self.counters().get("connected"))

    def is_config_offered(self, text: str) -> bool:
        agent = self.agent
        return agent is not None and agent.is_config_offered(text)

    def flush(self, timeout: float) -> bool:
        return self.agent.flush(timeout) if self.agent is not None else True

    def close(self, reason: str) -> None:
        with self._closing:
            agent, self.agent = self.agent, None
        if agent is None:
            return
        agent.flush(0.0 if agent.counters()["mode"] == 2 else _CLOSE_SECONDS)
        before = self._last_counters = agent.counters()
        trouble, why = agent.last_error()
        folder = agent.spool_dir()
        is_whole = agent.close(reason)
        if is_whole or not before["in_flight"]:
            return
        left = before["in_flight"]
        kept = (before["spool_bytes"] > 0 or before["mode"] == 1) and trouble is not native.Trouble.SPOOL
        reason = f": {why}" if why else " in time" if before["mode"] == 1 else ""
        if not reason:
            return  # offline, and in the spool as asked for
        sentence = f"{left} samples did not reach the dashboard{reason}"
        if kept and os.path.isdir(folder):
            sentence += (
                "; they are kept in the spool: this run's next agent delivers them, or "
                f"`telltale import {shlex.quote(folder)}`"
            )
        log.warning("%s", sentence)

    def counters(self) -> dict[str, int]:
        """The agent's counters; after close() those of its end."""
        return self.agent.counters() if self.agent is not None else self._last_counters

    def forget(self) -> None:
        self._closing = threading.Lock()  # somebody may have held it when the process forked
        if self.agent is not None:
            self.agent.forget()
            self.agent = None

    def _known(self, key: Any) -> int:
        parts = self._parts.get(key)
        return parts[-1].first + parts[-1].count if parts else 0

    def _register(self, key: Any, table: SeriesTable, known: int) -> None:
        assert self.agent is not None
        series = table.series
        total = len(series)
        while known < total:
            # A metric may come more than once in a step, so each has a layout of its own.
            count = 1 if key == _SCALARS else min(_PART, total - known)
            shown = series[known : known + count]
            if table.kind is not Kind.SCALAR:  # metrics are called as the user called them
                own = {desc.name for desc in series}
                shown = [self._shown(desc, own) for desc in shown]
            if is_histogram(table):
                layout = self.agent.add_histograms(int(table.kind), edges_of(table.values.shape[1]), shown)
            else:
                layout = self.agent.add_layout(int(table.kind), self._columns(table), shown)
            width = table.values.shape[1] if table.stats else 0
            self._parts.setdefault(key, []).append(_Part(known, count, layout, width))
            known += count
            if not layout:
                self._tell_once(f"series of {table.kind.word} are not stored", self.agent.last_error()[1])

    def _columns(self, table: SeriesTable) -> list[int]:
        """Numbers of the statistics to send; none = those that every tensor has."""
        hashed = self._hashed and is_hashed(table.kind)
        return [int(stat) for stat in (PASS if hashed and not table.stats else table.stats)]

    def _shown(self, desc: SeriesDesc, own: set[str]) -> SeriesDesc:
        """The series under its name without what DDP, torch.compile, FSDP and checkpointing put into it: the same model
        has the same names however it is wrapped."""
        bare = bare_name(desc.name)
        if bare == desc.name or bare in own:
            return desc
        if self._names.setdefault((desc.vpp_stage, bare), desc.name) != desc.name:
            return desc  # another one is called so already
        self._stripped[desc.name] = bare
        return replace(desc, name=bare)

    def _tell_names(self) -> None:
        """The table of what was stripped, into the run."""
        if self.agent is None or len(self._stripped) == self._told_names:
            return
        if not self._told_names:
            words = sorted({part for name, bare in self._stripped.items() for part in _added(name, bare)})
            self.agent.event("log", 0, f"names are shown without what wrappers put into them: {', '.join(words)}")
        self._told_names = len(self._stripped)
        table = json.dumps(self._stripped, ensure_ascii=False, indent=0)
        self.agent.blob("names", "names.json", 0, table.encode())

    def _copy(self, slab: int, table: SeriesTable, part: _Part) -> None:
        assert self.agent is not None
        a, b = part.first, part.first + part.count
        if not table.stats:
            to = self.agent.stats(slab, part.layout)
            if to:
                ctypes.memmove(to, table.address + a * _ITEM, part.count * _ITEM)
        else:
            self._put(slab, table, part, table.values[a:b], table.present[a:b])

    def _scatter(self, slab: int, shot: TableSnapshot, part: _Part, inside: np.ndarray) -> bool:
        """Whether there was room."""
        assert self.agent is not None
        rows = shot.rows[inside] - part.first
        if not shot.stats:
            to = self.agent.stats(slab, part.layout)
            if to:
                block = np.frombuffer((ctypes.c_char * (part.count * _ITEM)).from_address(to), STATS)
                block[rows] = shot.values[inside]
            return bool(to)
        values = np.zeros((part.count, shot.values.shape[1]), shot.values.dtype)
        present = np.zeros(part.count, np.uint8)
        values[rows] = shot.values[inside]
        present[rows] = 1
        return self._put(slab, shot, part, values, present)

    def _put(
        self, slab: int, table: SeriesTable | TableSnapshot, part: _Part, values: np.ndarray, present: np.ndarray
    ) -> bool:
        """Whether there was room. What is not of the layout's size is refused."""
        assert self.agent is not None
        if values.shape != (part.count, part.width):
            self._refuse(samples_each(table) * int(np.count_nonzero(present)), 0)
            self._tell_once(
                f"values of {table.kind.word} are dropped and counted",
                f"a series has {values.shape[1]} of them where {part.width} are expected",
            )
            return True
        if is_histogram(table):
            to, flags = self.agent.counts(slab, part.layout)
            data = np.ascontiguousarray(values, np.uint64)
        else:
            to, flags = self.agent.floats(slab, part.layout)
            with np.errstate(over="ignore"):
                data = np.ascontiguousarray(values.T, np.float32)
        if to:
            ctypes.memmove(to, data.ctypes.data, data.nbytes)
            ctypes.memmove(flags, np.ascontiguousarray(present).ctypes.data, part.count)
        return bool(to)

    def _drop(self, step: int, todo: list[tuple[SeriesTable, _Part]], scalars: int) -> None:
        assert self.agent is not None
        samples = 0
        for table, part in todo:
            more_samples, more_scalars = _counts(table, part)
            samples += more_samples
            scalars += more_scalars
        self.agent.dropped(step, samples, scalars)


def _with_bare_keys(data: bytes) -> bytes:
    """A record of all modules ({"0:module.blocks.0": ...}) by the names that the dashboard's series have. What a
    wrapper wraps stands for both."""
    records = json.loads(data)
    bare = {}
    for key in sorted(records, key=len):
        stage, _, name = key.partition(":")
        bare[f"{stage}:{bare_name(name)}"] = records[key]
    return json.dumps(bare, ensure_ascii=False).encode()


def _added(name: str, bare: str) -> list[str]:
    """The components that a wrapper put into a name."""
    left = bare.split(".")
    added = []
    for part in reversed(name.split(".")):
        if left and part == left[-1]:
            left.pop()
        else:
            added.append(part)
    return added


class NoticeStream(StreamSink):
    """Shows a run whose measurements go elsewhere: its model, its config and its messages, and no values."""

    wants = Extra.NONE
    takes_kept = False

    def write_tables(self, step: int, tables: list[SeriesTable]) -> bool:
        return True

    def write(self, frame: Frame) -> None:
        """Values go to files alone."""

    def know(self, table: SeriesTable) -> None:
        """As write()."""

    def write_late(self, step: int, values: dict[str, float]) -> None:
        """As write()."""

    def dropped(self, step: int, samples: int, scalars: int) -> None:
        """As write()."""


def _counts(table: SeriesTable, part: _Part) -> tuple[int, int]:
    """Samples and scalars of the step in one part of a table."""
    a, b = part.first, part.first + part.count
    if not table.stats:
        return samples_each(table) * int(np.count_nonzero(table.flags[a:b] & PRESENT)), 0
    present = int(np.count_nonzero(table.present[a:b]))
    return (0, present) if table.kind is Kind.SCALAR else (samples_each(table) * present, 0)


def _is_present(table: SeriesTable, part: _Part) -> bool:
    a, b = part.first, part.first + part.count
    marks = table.present if table.stats else table.flags
    return bool(np.count_nonzero(marks[a:b]))  # any() takes three times as long
