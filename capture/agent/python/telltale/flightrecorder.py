# SPDX-License-Identifier: GPL-3.0-or-later
"""telltale.flight_recorder: the last steps of what the config does not send, kept in memory until something goes
wrong."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from .config import MonitorConfig
from .console import log
from .kinds import Kind
from .series import PRESENT, Frame, SeriesTable, TableSnapshot, is_histogram, shot_of

MOST_BYTES = 64 << 20  # of all steps that are kept, and of those on their way
_KINDS = {
    "wg_distribution": (Kind.GRAD_UNREDUCED, Kind.GRAD_REDUCED),
    "param_distribution": (Kind.PARAM_ORIGIN, Kind.PARAM_UPDATED),
    "mv_distribution": (Kind.EXP_AVG, Kind.EXP_AVG_SQ),
    "xy_distribution": (Kind.ACTV, Kind.ACTV_GRAD),
    "attention_hook": (Kind.ATTENTION,),
}
_HOW = "targets", "flight_recorder", "monitor_mbs_grad", "sa_order", "attention_queries", "actv_grad_input"
ROW_BYTES = 16  # beside its values
_LAST = {Kind.PARAM_UPDATED: 1, Kind.SCALAR: 2}
_NEVER = -(1 << 62)


def is_left_out(config: MonitorConfig, rank: int) -> bool:
    """Whether the config sends nothing of this rank."""
    return bool(config.module_ranks) and rank not in config.module_ranks


def kept_config(config: MonitorConfig, rank: int) -> MonitorConfig | None:
    """What is measured to be kept: the kinds that watch() collects without a config, of the config's targets, as far
    as the config does not send them. None where nothing is to be kept."""
    if not config.flight_recorder:
        return None
    sends = not is_left_out(config, rank)
    fields: dict[str, Any] = {name: not (sends and getattr(config, name)) for name in _KINDS}
    if sends and (config.attention_maps or (config.recording_l2_features and "attention_hook" in config.l2_targets)):
        fields["attention_hook"] = False
    if not any(fields.values()):
        return None
    how = {name: getattr(config, name) for name in _HOW}
    return MonitorConfig(all_xy=not config.targets, **how, **fields)


def _speaks(table: SeriesTable | TableSnapshot) -> int:
    """What broke earlier in a step is the better reason, and tensors say it better than metrics."""
    return _LAST.get(table.kind, 0)


@dataclass
class KeptStep:
    """What is kept of one. Whole tables as they were, or what came from a device."""

    number: int
    tables: list[tuple[SeriesTable, np.ndarray, np.ndarray | None]]
    shots: list[TableSnapshot]
    bytes: int

    def frame(self) -> Frame:
        found = (shot_of(table, values, present) for table, values, present in self.tables)
        return Frame(self.number, [shot for shot in found if shot is not None] + self.shots)


class Way(Protocol):
    """What a recorder needs of the dispatcher."""

    @property
    def has_worker(self) -> bool: ...
    @property
    def takes_kept(self) -> bool: ...
    def recorder_asked(self) -> str | None: ...
    def send_kept(self, tables: list[SeriesTable], is_last: bool) -> None: ...
    def event(self, kind: str, step: int, text: str, document: str, rule: str) -> None: ...


class FlightRecorder:
    """Thread: take(), look_at(), look_at_frame() and take_frame() where steps are published; trip() any; the rest
    training. A hook never meets it: it gets what was measured when the step is over."""

    def __init__(self, kept: MonitorConfig, dispatcher: Way, tables: Callable[[], list[SeriesTable]]) -> None:
        """kept: as kept_config() has it; tables: those of the steps that are measured."""
        self.kept = kept
        self._most = kept.flight_recorder
        self._dispatcher = dispatcher
        self._tables = tables
        self.kinds = frozenset(kind for name, kinds in _KINDS.items() if getattr(kept, name) for kind in kinds)
        self._ring: deque[KeptStep] = deque()
        self.leaving: deque[KeptStep] = deque()  # on their way; who sends one takes it out
        self._bytes = self._step = 0
        self._fits = self._most  # steps, as far as memory goes
        self._is_short_told = self._is_broken = False
        self._last_bad: dict[Any, np.ndarray] = {}  # by table: the step at which each row was not finite last
        self._why: str | None = None
        self._lock = threading.Lock()

    def keeps(self, table: SeriesTable | TableSnapshot) -> bool:
        return table.kind in self.kinds

    # -- what was measured ---------------------------------------------------------------------------------------

    def take(self, step: int, tables: list[SeriesTable]) -> list[SeriesTable]:
        """Keeps its part of a step that is over; the rest, which is to be sent."""
        self._safely(self._take, step, tables)
        return [table for table in tables if not self.keeps(table)]

    def take_frame(self, frame: Frame) -> Frame:
        """The same of a step that came from a device."""
        self._safely(self._take_frame, frame)
        sent = [shot for shot in frame.tables if not self.keeps(shot)]
        return frame if len(sent) == len(frame.tables) else replace(frame, tables=sent)

    def look_at_frame(self, frame: Frame) -> None:
        """One of another config, of which nothing is kept here, may be a reason, too."""
        self._safely(self._look_at_frame, frame)

    def look_at(self, step: int, scalars: dict[str, float]) -> None:
        """Run metrics: one that is not finite is a reason, too."""
        self._safely(self._look_at, step, scalars)

    def _safely(self, work: Callable[..., None], *given: Any) -> None:
        """An error of our own ends the recorder, and nothing else."""
        if self._is_broken:
            return
        try:
            work(*given)
        except Exception as error:  # noqa: BLE001 - the training's step goes on
            self._is_broken = True
            self._ring.clear()
            self.leaving.clear()
            self._tell(f"the flight recorder has failed and keeps nothing more: {type(error).__name__}: {error}", {})

    def _take(self, step: int, tables: list[SeriesTable]) -> None:
        kept: list[tuple[SeriesTable, np.ndarray, np.ndarray | None]] = []
        size = 0
        for table in sorted(tables, key=_speaks):
            n = len(table)
            values = table.values[:n] if table.stats else table.results[:n]
            there = table.present[:n] != 0 if table.stats else table.flags[:n] & PRESENT != 0
            if not is_histogram(table):
                self._look(step, table, values, there)
            if self.keeps(table) and there.any():
                table.take_changes()
                kept.append((table, values.copy(), there if table.stats else None))
                size += values.nbytes + n * ROW_BYTES
        if kept:
            self._keep(KeptStep(step, kept, [], size))

    def _take_frame(self, frame: Frame) -> None:
        kept = [shot for shot in frame.tables if self.keeps(shot)]
        if kept:
            size = sum(shot.values.nbytes + 2 * ROW_BYTES * len(shot.rows) for shot in kept)
            self._keep(KeptStep(frame.step, [], kept, size))
        self._look_at_frame(frame)

    def _look_at_frame(self, frame: Frame) -> None:
        for shot in sorted(frame.tables, key=_speaks):
            if not is_histogram(shot):
                self._look(frame.step, shot, shot.values, shot.rows)
        self._look_at(frame.step, frame.scalars)

    def _look_at(self, step: int, scalars: dict[str, float]) -> None:
        for name, value in scalars.items():
            if not np.isfinite(value):
                rows = self._last_bad.setdefault(name, np.full(1, _NEVER))
                if rows[0] < step - self._most:
                    self.trip(f"the metric {name} is not finite at step {step}")
                rows[0] = max(rows[0], step)

    def _look(self, step: int, table: SeriesTable | TableSnapshot, values: np.ndarray, rows: np.ndarray) -> None:
        """A value that is not finite is a reason where it is news: of a row that was finite for as long as the ring
        goes back. What is so in every step, as the -inf of a mask, is none. rows: which row each value is of, or
        whether it was measured."""
        is_stats = values.dtype.names is not None
        bad = values["finite"] != values["numel"] if is_stats else ~np.isfinite(values).all(axis=1)
        if rows.dtype == bool:
            bad &= rows
        if not bad.any():
            return
        places = np.flatnonzero(bad)
        found = places if rows.dtype == bool else rows[places]
        known = self._last_bad.get(table.key)
        if known is None or known.size <= found[-1]:
            grown = np.full(2 * int(found[-1]) + 2, _NEVER)
            if known is not None:
                grown[: known.size] = known
            known = self._last_bad[table.key] = grown
        news = known[found] < step - self._most
        known[found] = step
        if news.any():
            desc = table.series[int(places[int(np.argmax(news))])]
            what = f"{desc.name} {desc.slot}".strip()
            kind = "the metric" if table.kind is Kind.SCALAR else f"{table.kind.word} of"
            self.trip(f"{kind} {what} is not finite at step {step}")

    def _keep(self, step: KeptStep) -> None:
        with self._lock:
            self._ring.append(step)
            self._bytes += step.bytes
            while len(self._ring) > self._most or (
                self._bytes + sum(one.bytes for one in self.leaving) > MOST_BYTES and len(self._ring) > 1
            ):
                self._bytes -= self._ring.popleft().bytes
            self._fits = max(1, MOST_BYTES // max(step.bytes, 1))

    # -- what becomes of it --------------------------------------------------------------------------------------

    def trip(self, why: str) -> None:
        """What is kept goes out with the end of the step. The first reason is the one that is said."""
        with self._lock:
            self._why = self._why or why

    def step_ends(self, step: int) -> None:
        """Between steps: begins to send what is kept, where there is a reason, and goes on with it."""
        self._safely(self._step_ends, step)

    def _step_ends(self, step: int) -> None:
        self._step = step
        if self._fits < self._most and not self._is_short_told:
            self._is_short_told = True
            each = self._ring[-1].bytes / 1e6
            self._tell(
                f"the flight recorder holds {self._fits} steps instead of {self._most}: {MOST_BYTES >> 20} MiB is the "
                f"most that it keeps, and a step takes {each:.1f} MB; targets choose what is kept",
                {"steps": self._fits, "bytes": MOST_BYTES},
            )
        asked = self._dispatcher.recorder_asked()
        if asked is not None:
            self.trip(asked or "the dashboard asked for it")
        self._send()

    def close(self, reason: str = "") -> None:
        """The training ends: what is on its way is sent, and all that is kept where it ends with an error."""
        if reason == "error":
            self.trip("the training ended with an error")
        self._safely(self._send, True)

    def let_go(self) -> None:
        """Between steps: its series end. What is on its way goes now, as far as there is room."""
        self._safely(self._let_go)

    def _let_go(self) -> None:
        for _ in range(len(self.leaving)):
            self._send()
        left = len(self.leaving)
        if left and not self._dispatcher.has_worker:
            self.leaving.clear()
            self._tell(f"{left} of the steps that the flight recorder sends are lost: another config came first", {})

    def _send(self, is_last: bool = False) -> None:
        if self._why is not None:
            self._begin()
        if self.leaving:
            self._dispatcher.send_kept([table for table in self._tables() if self.keeps(table)], is_last)

    def _begin(self) -> None:
        with self._lock:
            why, self._why = self._why, None
            steps = list(self._ring)
            self._ring.clear()
            self.leaving.extend(steps)
            self._bytes = 0
        if not steps:
            return
        words = ", ".join(kind.word for kind in sorted(self.kinds))
        first, last = steps[0].number, steps[-1].number
        span = f"step {first}" if first == last else f"steps {first} to {last}"
        count = "" if len(steps) == last - first + 1 else f" ({len(steps)} of them)"
        self._tell(
            f"the flight recorder sends {span}{count} of {words}: {why}",
            {"first": first, "last": last, "steps": len(steps), "why": why},
        )

    def _tell(self, sentence: str, document: dict[str, Any]) -> None:
        log.warning("%s", sentence)
        self._dispatcher.event("log", self._step, sentence, json.dumps(document), "flight_recorder")


def recorder_of(
    config: MonitorConfig, rank: int, dispatcher: Way, tables: Callable[[], list[SeriesTable]]
) -> tuple[FlightRecorder | None, str]:
    """What the config asks for; or why there is none where it asks for one."""
    kept = kept_config(config, rank)
    if kept is None:
        is_asked = bool(config.flight_recorder)
        return None, "flight_recorder: the config sends all that it would keep; nothing is kept" if is_asked else ""
    if not dispatcher.takes_kept:
        return None, "flight_recorder: what it keeps is for the dashboard, and nothing goes there; nothing is kept"
    return FlightRecorder(kept, dispatcher, tables), ""
