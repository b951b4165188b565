# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that a recorded run holds, a step at a time, as the frames that its training gave to its sinks."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from ...kinds import Form, Kind, Stat
from ...series import STATS, Frame, SeriesDesc, TableSnapshot
from ...sinks.layout import WRITE_ORDER
from ...slots import Role, Slot

_KINDS = {kind.word: kind for kind in Kind}
_STATS = {stat.word: stat for stat in Stat}
_DAMAGED, _MEASURED = 2, 3  # series::CellState: what is damaged, and the first that says that something was measured
_NEG_INF, _POS_INF, _NAN = 5, 6, 7
_ROOT = "(model)"  # what the whole model is called in a run


class RunError(ValueError):
    """The run cannot be read; the message is one sentence."""


@dataclass
class Source:
    """One rank of one attempt."""

    attempt: int
    rank: int
    places: tuple[int, int, int, int]  # dp, tp, pp, ep; -1 = not said
    config: str
    revisions: list[tuple[int, str]]  # from which step on, its text


class RecordedTable(TableSnapshot):
    """Of a table of the six ops, values holds what is sent of a STATS record: no sums."""

    def column(self, op: str) -> np.ndarray:
        values = self.values
        if op == "nans":
            return values["nans"].astype(np.float64)
        found: np.ndarray = values[op].astype(np.float64)
        if op == "zeros":
            return found
        has_pos, has_neg = values["pos_infs"] > 0, values["neg_infs"] > 0
        has_none = values["finite"] == 0
        if op == "norm":
            found = np.where(has_pos | has_neg, np.inf, found)
        elif op == "mean":
            found = np.where(has_pos, np.inf, found)
            found = np.where(has_neg, np.where(has_pos, np.nan, -np.inf), found)
        elif op == "min":
            found = np.where(has_neg, -np.inf, np.where(has_none, np.inf, found))
        else:
            found = np.where(has_pos, np.inf, np.where(has_none, -np.inf, found))
        return np.where(values["nans"] > 0, np.nan, found)


@dataclass
class _Table:
    source: int
    kind: Kind
    stats: tuple[Stat, ...]
    series: list[SeriesDesc]
    keep: np.ndarray  # which of the recorded series these are
    recorded: int
    picked: tuple[bytes, list[SeriesDesc]] = (b"", [])

    def series_of(self, rows: np.ndarray) -> list[SeriesDesc]:
        """Of these rows; the same list as long as they are the same."""
        key = rows.tobytes()
        if key != self.picked[0]:
            self.picked = key, [self.series[i] for i in rows]
        return self.picked[1]


@dataclass
class _Block:
    table: _Table
    first: int
    steps: int
    values: list[np.ndarray] = field(default_factory=list)  # [series, steps] of each stat
    states: list[np.ndarray] = field(default_factory=list)


class PackedRun:
    """What `telltale show --packed FILE` says of a run. Thread: one."""

    def __init__(self, run: str, program: str = "telltale", data_dir: str = "") -> None:
        """Raises RunError."""
        end, into = os.pipe()
        self._in: IO[bytes] = os.fdopen(end, "rb")
        command = [program, "show", run, "--series", "*", "--packed", f"/dev/fd/{into}"]
        command += ["--data-dir", data_dir] if data_dir else []
        try:
            self._process = subprocess.Popen(
                command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, pass_fds=[into]
            )
        except OSError as error:
            self._in.close()
            raise RunError(
                f"{program} cannot be started ({error.strerror}): put the program telltale on the PATH, or name it "
                "with --program"
            ) from None
        finally:
            os.close(into)
        self.damaged = 0  # values that could not be read
        head = self._line()
        self.sources = [
            Source(
                one["attempt"],
                one["rank"],
                (one["dp"], one["tp"], one["pp"], one["ep"]),
                one["config"],
                [(revision["step"], revision["config"]) for revision in one["revisions"]],
            )
            for one in head["sources"]
        ]
        own_names = {shown: own for own, shown in head["names"].items()}
        own_names.setdefault(_ROOT, own_names.get("", ""))
        self._tables = [_table(one, own_names) for one in head["tables"]]

    def parameters(self, source: int) -> list[tuple[int, str]]:
        """(vpp stage, name) of the parameters, in their order."""
        of_one = [table for table in self._tables if table.source == source and table.kind in _OF_PARAMETERS]
        return list(dict.fromkeys((desc.vpp_stage, desc.name) for table in of_one for desc in table.series))

    def frames(self) -> Iterator[tuple[int, Frame]]:
        """The number of a source, and a step of it: source after source, step after step."""
        for (source, _), blocks in itertools.groupby(self._blocks(), lambda block: (block.table.source, block.first)):
            together = list(blocks)
            for i in range(together[0].steps):
                tables = [shot for shot in (self._shot(block, i) for block in together) if shot is not None]
                if tables:
                    yield source, Frame(together[0].first + i, tables)

    def close(self) -> None:
        self._in.close()
        self._process.kill()
        self._process.communicate()

    def _blocks(self) -> Iterator[_Block]:
        while "end" not in (line := self._line()):
            if "error" in line:
                raise RunError(line["error"])
            table = self._tables[line["table"]]
            block = _Block(table, line["first"], line["steps"])
            shape = table.recorded, block.steps
            for stat in table.stats:
                kind = np.dtype("<f8" if stat.is_whole or stat is Stat.VALUE else "<f4")
                block.values.append(self._array(kind, shape)[table.keep])
                block.states.append(self._array(np.dtype(np.uint8), shape)[table.keep])
            if table.kind in _JUDGED:
                yield block

    def _shot(self, block: _Block, i: int) -> TableSnapshot | None:
        table = block.table
        states = np.stack([states[:, i] for states in block.states])
        self.damaged += int(np.count_nonzero(states == _DAMAGED))
        rows = np.flatnonzero((states >= _MEASURED).any(axis=0))
        if not rows.size:
            return None
        columns = [_restored(values[rows, i], states[k, rows]) for k, values in enumerate(block.values)]
        series = table.series_of(rows)
        if Stat.NORM not in table.stats:
            return TableSnapshot(table.kind, table.stats, series, rows, np.column_stack(columns))
        values = np.zeros(rows.size, STATS)
        for k, (stat, column) in enumerate(zip(table.stats, columns)):
            # Beside non-finite elements the value is that of the finite ones.
            values[stat.member] = column if stat.is_whole else block.values[k][rows, i]
        counts = values["nans"] + values["pos_infs"] + values["neg_infs"]
        for stat, column in zip(table.stats, columns):
            if not stat.is_whole:
                values[stat.member] = np.where(counts == 0, column, values[stat.member])
        values["finite"] = ~((counts > 0) & np.isnan(values["norm"]))
        return RecordedTable(table.kind, (), series, rows, values)

    def _line(self) -> dict[str, Any]:
        text = self._in.readline()
        try:
            line = json.loads(text)
        except ValueError:
            line = None
        if not isinstance(line, dict) or not text.endswith(b"\n"):
            said = self._process.communicate()[1].decode("utf-8", "replace").strip()
            raise RunError(said.splitlines()[-1].removeprefix("telltale: ") if said else "telltale ended unexpectedly")
        return line

    def _array(self, kind: np.dtype[Any], shape: tuple[int, int]) -> np.ndarray:
        size = shape[0] * shape[1] * kind.itemsize
        data = self._in.read(size)
        if len(data) < size:
            raise RunError("telltale ended in the middle of a block")
        return np.frombuffer(data, kind).reshape(shape)


_JUDGED = frozenset(WRITE_ORDER) - {Kind.SCALAR}
_OF_PARAMETERS = (Kind.PARAM_ORIGIN, Kind.PARAM_UPDATED, Kind.GRAD_REDUCED, Kind.EXP_AVG, Kind.GRAD_UNREDUCED)


def _restored(values: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Values as they were measured: what is not finite is in the states."""
    found: np.ndarray = values.astype(np.float64)
    for state, value in ((_NAN, np.nan), (_POS_INF, np.inf), (_NEG_INF, -np.inf)):
        found[states == state] = value
    return found


def _table(head: dict[str, Any], own_names: dict[str, str]) -> _Table:
    kind, stats = _KINDS[head["kind"]], tuple(_STATS[word] for word in head["stats"])
    series = [_series(one, own_names) for one in head["series"]]
    keep = np.arange(len(series))
    if kind is Kind.LINEAR:
        # The run has both definitions of a stable rank, the rules see msprobe's.
        as_msprobe = [i for i, desc in enumerate(series) if not desc.definition.startswith("F^2")]
        keep = np.array(as_msprobe, np.int64) if as_msprobe else keep
    return _Table(head["source"], kind, stats, [series[i] for i in keep], keep, len(series))


def _series(head: dict[str, Any], own_names: dict[str, str]) -> SeriesDesc:
    slot = head["slot"]
    return SeriesDesc(
        own_names.get(head["name"], head["name"]),
        Slot(Role(slot["role"]), slot["number"], slot["head"], slot["expert"], slot["call"], slot["word"]),
        head["chunk"],
        head["micro_step"],
        Form(head["form"]),
        head["definition"],
        numel=head["numel"],
    )
