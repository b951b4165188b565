# SPDX-License-Identifier: GPL-3.0-or-later
"""Turns a table of one step into csv lines."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ..config import MonitorConfig
from ..kinds import Kind
from ..series import SeriesDesc, TableSnapshot, is_hashed
from .layout import (
    BY_MODULE,
    CHECKSUM,
    COUNTS,
    METADATA,
    FileKind,
    Names,
    column,
    dtype_text,
    holds_integers,
    ops_of,
    shape_text,
)
from .textfile import cell

_CHUNK = 64  # rows formatted by one call: training threads get the interpreter in between
_WHOLE = 2.0**53  # float64 holds every integer up to here


@dataclass
class _Plan:
    """Lines of one table with holes for step and values, made once for as long as the same series are measured."""

    rows: np.ndarray
    series: list[SeriesDesc]
    columns: list[str]  # of the holes, after the step
    templates: list[str]  # of _CHUNK lines each
    integers: list[int]  # lines whose min and max are integers


def header(files: FileKind, config: MonitorConfig) -> str:
    """A file's first line."""
    names = ["vpp_stage", "name", "step"] + (["micro_step"] if files.has_micro_step else []) + ops_of(files, config)
    return ",".join(map(cell, names)) + "\n"


def rounded(values: np.ndarray, ndigits: int | None) -> np.ndarray:
    """Decimals as pandas' DataFrame.round has them; None leaves the values alone."""
    if ndigits is None:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        return np.round(values, ndigits)


class RowWriter:
    """Formats the rows of one file kind. Numbers: decimals as pandas prints them where the config has `ndigits`, else 9
    significant digits; "nan", "inf" and "-inf" for what is not finite. Thread: one."""

    def __init__(self, kind: Kind, files: FileKind, config: MonitorConfig, names: Names) -> None:
        self._kind = kind
        self._files = files
        self._config = config
        self._names = names
        self._plan: _Plan | None = None
        self.header = header(files, config)

    def lines(self, step: int, table: TableSnapshot, order: np.ndarray) -> str:
        """The lines of the rows `order` of a table."""
        plan = self._plan
        key = table.rows[order]
        series = [table.series[row] for row in order.tolist()]
        if plan is None or not np.array_equal(plan.rows, key) or plan.series != series:
            plan = self._plan = self._make(table, order, key, series)
        cells: list[list[Any]] = [[step] * len(order)]
        cells += [self._cells(table, op, order, plan.integers) for op in plan.columns]
        parts = []
        for i, template in enumerate(plan.templates):
            a = i * _CHUNK
            flat = chain.from_iterable(zip(*(values[a : a + _CHUNK] for values in cells)))
            parts.append(template % tuple(flat))
        return "".join(parts)

    def _cells(self, table: TableSnapshot, op: str, order: np.ndarray, integers: list[int]) -> list[Any]:
        if op == CHECKSUM:
            if table.stats or not is_hashed(table.kind):
                return ["nan"] * len(order)
            return [f"{checksum:016x}" for checksum in table.values[op][order].tolist()]
        values = column(table, op, self._config.eps)
        if values is None:
            return [float("nan")] * len(order)
        picked = values[order]
        if op in COUNTS and bool(np.isfinite(picked).all()):
            counts: list[int] = picked.astype(np.int64).tolist()
            return counts
        cells: list[float] = rounded(picked, self._config.ndigits).tolist()
        if op in ("min", "max") and not table.stats:
            for i in integers:
                if abs(cells[i]) < _WHOLE:
                    cells[i] = int(cells[i])
        return cells

    def _make(self, table: TableSnapshot, order: np.ndarray, key: np.ndarray, series: list[SeriesDesc]) -> _Plan:
        ops = ops_of(self._files, self._config)
        hole = "%.9g" if self._config.ndigits is None else "%r"
        special = {CHECKSUM: "%s", **dict.fromkeys(COUNTS, "%r")}
        holes = [op for op in ops if op not in METADATA]
        lines = []
        for desc in series:
            fixed = {"shape": shape_text(self._kind, desc), "dtype": dtype_text(self._kind, desc)}
            cells = [str(desc.vpp_stage), _literal(self._names.row(self._kind, self._files, desc)), "%d"]
            if self._files.has_micro_step:
                cells.append(str(max(desc.micro_step, 0)))
            cells += [_literal(fixed[op]) if op in fixed else special.get(op, hole) for op in ops]
            lines.append(",".join(cells) + "\n")
        templates = ["".join(lines[i : i + _CHUNK]) for i in range(0, len(lines), _CHUNK)]
        return _Plan(key, series, holes, templates, self._integers(table, order))

    def _integers(self, table: TableSnapshot, order: np.ndarray) -> list[int]:
        """pandas prints a column of integers as such only when nothing else was written with it: a module's rows (of
        activations) or all rows (of everything else)."""
        if self._config.ndigits is None:
            return []
        group = [_group(table, int(row)) for row in order]
        mixed = {g for g, row in zip(group, order) if not holds_integers(table.series[row])}
        return [i for i, g in enumerate(group) if g not in mixed]


def _group(table: TableSnapshot, row: int) -> tuple[int, str]:
    desc = table.series[row]
    return (desc.vpp_stage, desc.name) if table.kind in BY_MODULE else (0, "")


def _literal(text: str) -> str:
    return cell(text).replace("%", "%%")
