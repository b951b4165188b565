# SPDX-License-Identifier: GPL-3.0-or-later
"""What parts measure with and write into: tables, the measurer, sinks, and the ways to say something."""

from __future__ import annotations

import itertools
import threading
from typing import Any

from ..config import MonitorConfig
from ..console import log
from ..dispatch import Dispatcher
from ..flightrecorder import FlightRecorder
from ..kinds import Kind, Stat
from ..series import Extra, SeriesTable
from .measurer import AnyMeasurer
from .strikes import Strikes

_STATS: dict[Kind, tuple[Stat, ...]] = {
    Kind.SCALAR: (Stat.VALUE,),
    Kind.ATTENTION: (Stat.ENTROPY, Stat.SOFTMAX_MAX, Stat.MAX_LOGIT),
    Kind.LINEAR: (Stat.STABLE_RANK, Stat.KERNEL_NORM),
    Kind.MG_DIRECTION: (Stat.AGREEMENT,),
}
_generations = itertools.count(1)  # of the whole process: sinks stay when another workbench comes


class Workbench:
    """Thread: the training thread; table(), measure(), measure_together(), tell() and not_observed() any, each writing
    rows of its own."""

    def __init__(self, config: MonitorConfig, measurer: AnyMeasurer, rank: int) -> None:
        self.config = config
        self.measurer = measurer
        self.rank = rank
        self.step = 0
        self.strikes = Strikes(self.tell)
        self.dispatcher = Dispatcher([], self.tell)
        self.recorder: FlightRecorder | None = None
        self._tables: dict[Kind, SeriesTable] = {}
        self._extra: dict[Any, SeriesTable] = {}
        self._generation = next(_generations)
        self._lock = threading.Lock()
        self._told: set[str] = set()

    def tell(self, sentence: str) -> None:
        """Says a sentence once: on the console of the lowest rank that has it, and to the dashboard."""
        if sentence not in self._told:
            self._told.add(sentence)
            self.note(sentence, True)

    def note(self, sentence: str, is_news: bool, rule: str = "") -> None:
        """Sends a sentence to the dashboard, and to the console where it is news. rule: a word that says it to
        programs."""
        if rule == "given_up" and self.recorder is not None:
            self.recorder.trip(sentence)
        if is_news:
            log.warning("rank %d: %s", self.rank, sentence)
        self.dispatcher.event("log", self.step, sentence, rule=rule)

    def not_observed(self, kind: Kind, name: str, why: str) -> None:
        """Reports by name what cannot be read."""
        self.tell(f"not observed: {kind.word} of {name}, because {why}")

    def table(self, kind: Kind) -> SeriesTable:
        """The table of a kind, made at its first series."""
        found = self._tables.get(kind)
        if found is None:
            with self._lock:
                found = self._tables.get(kind)
                if found is None:
                    has_bins = kind.word in self.config.histogram
                    stats = _STATS.get(kind, ())
                    found = SeriesTable(kind, stats, has_bins=has_bins, generation=self._generation)
                    self._tables[kind] = found
        return found

    def extra_table(self, kind: Kind, stats: tuple[Stat, ...] = (), only: Extra = Extra.NONE) -> SeriesTable:
        """A further table of a kind: with other columns, or for sinks that want `only`."""
        stats = stats or _STATS.get(kind, ())
        found = self._extra.get((kind, stats, only))
        if found is None:
            found = SeriesTable(kind, stats, only=only, generation=self._generation)
            self._extra[kind, stats, only] = found
        return found

    def tables(self) -> list[SeriesTable]:
        """Every table, by kind."""
        own = [self._tables[kind] for kind in sorted(self._tables)]
        return own + [table.bins for table in own if table.bins is not None] + list(self._extra.values())

    def known_table(self, kind: Kind) -> SeriesTable | None:
        """The table of a kind that has one."""
        return self._tables.get(kind)

    def forget_tables(self) -> None:
        """Another config begins with none."""
        self._tables, self._extra = {}, {}
        self._generation = next(_generations)

    def measure(self, kind: Kind, tensor: Any, row: int) -> None:
        """Measures into one row; never raises. Thread: any."""
        try:
            if self.strikes.is_off(kind.word):
                return
            table = self._tables[kind]
            why = self.measurer.one(tensor, table, row)
            table.arrived.append(row)
            if why:
                self._refused(table, row, why)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            self.strikes.add(kind.word, error)

    def measure_together(self, kind: Kind, found: list[tuple[int, Any]]) -> None:
        """Measures (row, tensor) of one moment, those on a card in one launch; never raises. Thread: any."""
        try:
            if len(found) < 2 or not getattr(found[0][1], "is_cuda", False):
                for row, tensor in found:
                    self.measure(kind, tensor, row)
                return
            if self.strikes.is_off(kind.word):
                return
            table = self._tables[kind]
            refused = self.measurer.together(found, table)
            table.arrived.extend([row for row, _ in found])
            for row, why in refused:
                self._refused(table, row, why)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            self.strikes.add(kind.word, error)

    def _refused(self, table: SeriesTable, row: int, why: str) -> None:
        desc = table.series[row]
        self.not_observed(table.kind, f"{desc.name} {desc.slot}".rstrip(), why)

    def put_tensor(self, table: SeriesTable, rows: list[int], values: Any) -> None:
        """Values [len(rows), stats] of a table that has stats; those on a device are fetched with the step's others."""
        if getattr(values, "is_cpu", True):
            for row, numbers in zip(rows, values.tolist()):
                table.put(row, *numbers)
        else:
            for row, numbers in zip(rows, values.detach()):
                self.measurer.later(table, row, numbers)
