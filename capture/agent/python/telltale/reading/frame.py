# SPDX-License-Identifier: GPL-3.0-or-later
"""What was read of a run: columns that NumPy, pandas, polars and Arrow take over."""

from __future__ import annotations

import ctypes as c
import html
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Union

import numpy as np
import numpy.typing as npt

from .binding import NativeFrame

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Column = Union["npt.NDArray[Any]", "np.ma.MaskedArray[Any, Any]"]

_TYPES = (np.float32, np.float64, np.uint64, np.int64)  # TR_F32, ...
# What is the same in all rows of a series, as it is in telltale_reader.h, and whether it is a text.
_KEYS = (("rank", False), ("attempt", False), ("kind", True), ("name", True), ("slot", True), ("micro_step", False))


def _array(owner: NativeFrame, address: int | None, count: int, dtype: Any) -> npt.NDArray[Any]:
    """Memory of the library as an array that keeps its owner."""
    if not address or count == 0:
        return np.empty(0, dtype)
    buffer = (c.c_char * (count * np.dtype(dtype).itemsize)).from_address(address)
    buffer._owner = owner
    found: npt.NDArray[Any] = np.frombuffer(buffer, dtype)
    found.flags.writeable = False
    return found


class Frame:
    """A row is what one tensor has at one step: series after series, steps rising.

    Columns: rank, attempt, kind, name, slot, micro_step, step, and one a statistic. Values that are not finite are NaN
    or an infinity, as a readout shows them; the columns `nans`, `posinfs` and `neginfs` count elements. Where a
    statistic was not measured its column is masked (numpy.ma), and null in pandas, polars and Arrow: that is not NaN.
    A histogram's column `hist` is of shape (rows, bins), and `edges` has their bounds.
    """

    def __init__(self, native: NativeFrame) -> None:
        view = native.view
        self._rows = int(view.rows)
        self.damaged = int(view.damaged)
        """Values that are stored and cannot be read; they are not among the rows, or masked."""
        self.series: list[dict[str, Any]] = json.loads(view.series_json or b"[]")
        """What was read, in the order of the rows: a dict a series."""
        self._counts = _array(native, view.counts, int(view.series), np.uint64).astype(np.int64)
        self._columns: dict[str, Column] = {"step": _array(native, view.steps, self._rows, np.int64)}
        self.edges = _array(native, view.edges, int(view.edge_count), np.float64)
        """Of the bins of `hist`."""
        for i in range(view.columns):
            column = view.column[i]
            values: Column = _array(native, column.data, self._rows * column.width, _TYPES[column.type])
            if column.width > 1:
                values = values.reshape(self._rows, column.width)
            if column.missing:
                mask = _array(native, column.missing, self._rows, np.bool_)
                values = np.ma.MaskedArray(values, mask)
            self._columns[column.name.decode()] = values
        self.stats = [name for name in self._columns if name != "step"]
        """Names of the statistics' columns."""

    def __len__(self) -> int:
        return self._rows

    @property
    def columns(self) -> list[str]:
        return [key for key, _ in _KEYS] + list(self._columns)

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __getitem__(self, name: str) -> Column:
        """A column as an array: of its statistic's own type (float64 where a run of another tool has more digits than a
        float32), without a copy."""
        if name not in self._columns:
            for key, is_text in _KEYS:
                if key == name:
                    codes, values = self._coded(key)
                    made = np.array(values, dtype=object if is_text else np.int32)
                    self._columns[name] = made[codes] if len(values) else np.empty(0, made.dtype)
                    break
            else:
                raise KeyError(f"there is no column {name!r}; there are {', '.join(self.columns)}")
        return self._columns[name]

    def to_numpy(self) -> dict[str, Column]:
        """Every column by its name."""
        return {name: self[name] for name in self.columns}

    def to_pandas(self) -> pandas.DataFrame:
        """Texts are categories. Columns that are measured everywhere keep NumPy's types and are not copied."""
        import pandas as pd

        made: dict[str, Any] = {}
        for key, is_text in _KEYS:
            if is_text:
                codes, values = self._coded(key)
                made[key] = pd.Categorical.from_codes(codes, categories=values)
            else:
                made[key] = self[key]
        for name, column in self._columns.items():
            if name not in made:
                made[name] = _for_pandas(column)
        return pd.DataFrame(made, copy=False)

    def to_arrow(self) -> pyarrow.Table:
        """Texts are dictionaries."""
        import pyarrow as pa

        made: dict[str, Any] = {}
        for key, is_text in _KEYS:
            made[key] = self.arrow_texts(key) if is_text else pa.array(self[key])
        for name, column in self._columns.items():
            if name in made:
                continue
            if column.ndim == 2:
                made[name] = pa.FixedSizeListArray.from_arrays(pa.array(column.reshape(-1)), column.shape[1])
            elif isinstance(column, np.ma.MaskedArray):
                made[name] = pa.array(np.asarray(column.data), mask=np.asarray(column.mask))
            else:
                made[name] = pa.array(column)
        return pa.table(made)

    def arrow_texts(self, key: str) -> pyarrow.DictionaryArray:
        """What the series of each row say of themselves."""
        import pyarrow as pa

        codes, values = self._coded(key)
        return pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(values, pa.string()))

    def arrow_numbers(self, key: str) -> pyarrow.Array:
        import pyarrow as pa

        codes, values = self._coded(key)
        return pa.array(np.array(values, np.int32)[codes])

    def to_polars(self) -> polars.DataFrame:
        import polars as pl

        made = pl.from_arrow(self.to_arrow())
        assert isinstance(made, pl.DataFrame)
        return made

    def _coded(self, key: str) -> tuple[npt.NDArray[np.int32], list[Any]]:
        """The rows' values of a key as places in a list of what there is."""
        values: dict[Any, int] = {}
        of_series = np.array([values.setdefault(series[key], len(values)) for series in self.series], np.int32)
        return np.repeat(of_series, self._counts), list(values)

    def __repr__(self) -> str:
        stats = ", ".join(self.stats) or "no values"
        return f"<telltale.Frame: {self._rows} rows of {len(self.series)} series, {stats}>"

    def _repr_html_(self) -> str:
        """The first rows, as a notebook shows them."""
        shown = min(self._rows, 12)
        head = "".join(f"<th>{html.escape(name)}</th>" for name in self.columns)
        lines = []
        for row in range(shown):
            cells = (_cell(self[name], row) for name in self.columns)
            lines.append("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in cells) + "</tr>")
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table>"
            f"<p>{self._rows} rows of {len(self.series)} series</p>"
        )


def _cell(column: Column, row: int) -> str:
    if column.ndim == 2:
        return f"{int(column[row].sum())} in {column.shape[1]} bins"
    value = column[row]
    if value is np.ma.masked:
        return ""
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)


def _for_pandas(column: Column) -> Any:
    """Where something was not measured, a nullable array: there NaN and nothing are two things."""
    import pandas as pd

    if column.ndim == 2:
        return list(column)
    if not isinstance(column, np.ma.MaskedArray):
        return column
    mask = np.asarray(column.mask)
    values = np.array(column.data)
    if values.dtype.kind == "f":
        return pd.arrays.FloatingArray(values, mask.copy())
    return pd.arrays.IntegerArray(values, mask.copy())
