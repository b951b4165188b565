# SPDX-License-Identifier: GPL-3.0-or-later
"""msprobe's csv2db (8.2 to 8.3): csv files of its monitor as one SQLite file, monitor_metrics.db, in its tables."""

from __future__ import annotations

import math
import os
import sqlite3
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from ...console import log
from .monitorfolder import DATA_TYPES, Row, check_data_types, check_process_num, files, folders, now, rows

_METRICS = (*DATA_TYPES, "other")
_OPS = ("norm", "min", "max", "zeros", "nans", "mean")
_LEAST_PARTITION, _MOST_PARTITION = 10, 10_000_000
_SCHEMA = """
CREATE TABLE monitoring_targets (target_id INTEGER PRIMARY KEY AUTOINCREMENT, target_name TEXT NOT NULL,
    vpp_stage INTEGER NOT NULL, micro_step INTEGER NOT NULL DEFAULT 0, UNIQUE(target_name, vpp_stage, micro_step));
CREATE TABLE monitoring_metrics (metric_id INTEGER PRIMARY KEY AUTOINCREMENT, metric_name TEXT UNIQUE NOT NULL);
CREATE TABLE metric_stats (metric_id INTEGER NOT NULL, stat_name TEXT NOT NULL, PRIMARY KEY(metric_id, stat_name),
    FOREIGN KEY(metric_id) REFERENCES monitoring_metrics(metric_id)) WITHOUT ROWID;
CREATE TABLE global_stats (stat_name TEXT PRIMARY KEY, stat_value INTEGER NOT NULL) WITHOUT ROWID;
"""


@dataclass
class CSV2DBConfig:
    """What csv2db converts, with msprobe's fields and defaults."""

    monitor_path: str
    time_start: str | None = None
    time_end: str | None = None
    process_num: int = 1
    data_type_list: list[str] | None = None
    step_partition: int = 500
    output_dirpath: str | None = None


def csv2db(config: CSV2DBConfig) -> None:
    """Writes {output_dirpath}/monitor_metrics.db, without one {monitor_path}/{now}-csv2db/monitor_metrics.db. A file of
    that name is replaced when the new one is whole."""
    check_process_num(config.process_num)
    types = check_data_types(config.data_type_list, _METRICS)
    partition: Any = config.step_partition
    if isinstance(partition, bool) or not isinstance(partition, int):
        raise TypeError(f"step_partition must be int, got {type(partition).__name__}")
    if not _LEAST_PARTITION <= partition <= _MOST_PARTITION:
        raise ValueError(f"step_partition must be between {_LEAST_PARTITION} and {_MOST_PARTITION}, got {partition}")
    found = folders(config.monitor_path, config.time_start, config.time_end)
    output = config.output_dirpath
    if output is None:
        output = os.path.join(os.path.expanduser(config.monitor_path), f"{now()}-csv2db")
    output = os.path.expanduser(output)
    work = [
        (rank, data_type, path)
        for data_type in types
        for rank, folder in found.items()
        for path in files(folder, data_type)
    ]
    if not work:
        log.error("there is no csv file of %s in %s", ", ".join(types), config.monitor_path)
        return
    os.makedirs(output, exist_ok=True)
    path = os.path.join(output, "monitor_metrics.db")
    draft = path + ".part"
    if os.path.exists(draft):
        os.remove(draft)
    database = sqlite3.connect(draft, isolation_level=None)
    try:
        writer = _Writer(database, partition)
        if config.process_num == 1:
            for one in work:
                writer.add(one, _read(one))
        else:
            with ProcessPoolExecutor(min(config.process_num, len(work))) as pool:
                for one, read in zip(work, pool.map(_read, work)):
                    writer.add(one, read)
        writer.finish()
    except BaseException:
        database.close()
        os.remove(draft)
        raise
    database.close()
    os.replace(draft, path)
    log.info("output has been saved to: %s", path)


def _read(work: tuple[int, str, str]) -> list[Row]:
    found: list[Row] = []
    try:
        found.extend(rows(work[2], _OPS))
    except (OSError, ValueError) as error:
        log.error("csv2db: %s; what stands before it is taken", error)
    return found


class _Writer:
    """The tables as they grow. Thread: one."""

    def __init__(self, database: sqlite3.Connection, partition: int) -> None:
        self._db = database
        self._partition = partition
        self._targets: dict[tuple[str, int, int], int] = {}
        self._metrics: dict[str, int] = {}
        self._columns: dict[str, list[str]] = {}
        self._stats: set[tuple[int, str]] = set()
        self._steps: list[int] = []
        self._max_rank = 0
        database.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + _SCHEMA)
        database.execute("BEGIN")

    def add(self, work: tuple[int, str, str], read: list[Row]) -> None:
        rank, data_type, _ = work
        if not read:
            return
        metric = self._metric(data_type)
        stats = list(read[0].values)
        self._stats.update((metric, stat) for stat in stats)
        self._max_rank = max(self._max_rank, rank)
        by_table: dict[str, list[tuple[Any, ...]]] = {}
        for row in read:
            values = tuple(None if math.isnan(value) else value for value in row.values.values())
            target = self._target(row)
            by_table.setdefault(self._table(metric, row.step, stats), []).append((rank, row.step, target, *values))
        names = "".join(f', "{stat}"' for stat in stats)
        sets = ", ".join(f'"{stat}" = excluded."{stat}"' for stat in stats) or "rank = rank"
        for table, lines in by_table.items():
            marks = ", ".join("?" * len(lines[0]))
            self._db.executemany(
                f"INSERT INTO {table} (rank, step, target_id{names}) VALUES({marks}) "
                f"ON CONFLICT(rank, step, target_id) DO UPDATE SET {sets}",
                lines,
            )
        steps = [row.step for row in read]
        self._steps = [min([*self._steps[:1], *steps]), max([*self._steps[1:], *steps])]

    def finish(self) -> None:
        first, last = self._steps or [0, 0]
        self._db.executemany("INSERT INTO metric_stats VALUES(?, ?)", sorted(self._stats))
        self._db.executemany(
            "INSERT INTO global_stats VALUES(?, ?)",
            [("max_rank", self._max_rank), ("min_step", first), ("max_step", last),
             ("step_partition_size", self._partition)],
        )  # fmt: skip
        self._db.execute("COMMIT")

    def _metric(self, name: str) -> int:
        if name not in self._metrics:
            made = self._db.execute("INSERT INTO monitoring_metrics(metric_name) VALUES(?)", (name,))
            self._metrics[name] = int(made.lastrowid or 0)
        return self._metrics[name]

    def _target(self, row: Row) -> int:
        key = (row.name, row.vpp_stage, row.micro_step or 0)
        if key not in self._targets:
            made = self._db.execute(
                "INSERT INTO monitoring_targets(target_name, vpp_stage, micro_step) VALUES(?, ?, ?)", key
            )
            self._targets[key] = int(made.lastrowid or 0)
        return self._targets[key]

    def _table(self, metric: int, step: int, stats: list[str]) -> str:
        first = step // self._partition * self._partition
        last = first + self._partition - 1
        name = f'"metric_{metric}_step_{first}_{last}"'
        known = self._columns.get(name)
        if known is None:
            known = self._columns[name] = []
            self._db.execute(
                f"CREATE TABLE {name} (rank INTEGER NOT NULL, step INTEGER NOT NULL CHECK(step BETWEEN {first} AND "
                f"{last}), target_id INTEGER NOT NULL, PRIMARY KEY(rank, step, target_id), FOREIGN KEY(target_id) "
                "REFERENCES monitoring_targets(target_id)) WITHOUT ROWID"
            )
        for stat in stats:
            if stat not in known:
                known.append(stat)
                self._db.execute(f'ALTER TABLE {name} ADD COLUMN "{stat}" REAL DEFAULT NULL')
        return name
