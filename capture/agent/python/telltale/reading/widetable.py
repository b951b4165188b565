# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables with a column a metric, as W&B and Trackio write them, as rows of csv."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow

    from .tablesource import Stream, Table

_TEXTS = ("run_name", "_timestamp", "timestamp")  # which the program reads as they are
_EXACT = 1 << 53


@dataclass(frozen=True)
class _Leaf:
    """A column, or a field of a nested one."""

    name: str
    path: tuple[int, ...]
    type: Any


def stream_wide(stream: Stream, table: Table) -> None:
    """Numbers, texts that are numbers, runs and times; of everything else what and how much there is."""
    import pyarrow as pa

    taken: list[_Leaf] = []
    others: list[_Leaf] = []
    for leaf in _leaves(table.schema):
        (taken if _is_taken(leaf) else others).append(leaf)
    runs: dict[Any, None] = {}
    names = [leaf.name for leaf in taken]
    if "run_name" in names and "step" in names:
        for batch, _ in table.batches(["run_name"]):
            runs.update(dict.fromkeys(_texts(batch.column(0)).unique().to_pylist()))
    stream.table("wide", columns=names, runs=["" if run is None else run for run in runs][:2])
    for batch, share in table.batches():
        for leaf in others:
            column = _column(batch, leaf)
            stream.leave_out(f'column "{leaf.name}" ({_type_text(leaf.type)})', len(column) - column.null_count)
        cells = [_cells(stream, _column(batch, leaf), leaf, table.is_of_pandas) for leaf in taken]
        if cells and len(batch):
            stream.rows(joined(cells, pa), share)


def joined(cells: list[pyarrow.Array], pa: Any) -> memoryview:
    """The rows as text, each with its end; null is nothing. One large text is what Arrow makes anyway."""
    import pyarrow.compute as pc

    large = [cell.cast(pa.large_string()) for cell in cells]
    comma, end, nothing = (pa.scalar(text, pa.large_string()) for text in (",", "\n", ""))
    rows = pc.binary_join_element_wise(*large, comma, null_handling="replace")
    rows = pc.binary_join_element_wise(rows, end, nothing)
    return memoryview(rows.buffers()[2])


def _leaves(schema: pyarrow.Schema) -> Iterator[_Leaf]:
    """Nested metrics, {"train": {"loss": 1}}, are called as in csv: train.loss."""
    import pyarrow as pa

    def of(name: str, path: tuple[int, ...], type: Any) -> Iterator[_Leaf]:
        is_media = pa.types.is_struct(type) and type.get_field_index("_type") >= 0  # a histogram, an image, ...
        if not pa.types.is_struct(type) or is_media:
            yield _Leaf(name, path, type)
            return
        for i in range(type.num_fields):
            yield from of(f"{name}.{type.field(i).name}", (*path, i), type.field(i).type)

    for i, field in enumerate(schema):
        is_row_number = field.name.startswith("__index_level_") and pa.types.is_integer(field.type)
        if not is_row_number:
            yield from of(field.name, (i,), field.type)


def _value_type(type: Any) -> Any:
    import pyarrow as pa

    return type.value_type if pa.types.is_dictionary(type) else type


def _is_text(type: Any) -> bool:
    import pyarrow as pa

    of = _value_type(type)
    return bool(pa.types.is_string(of) or pa.types.is_large_string(of) or of == pa.string_view())


def _is_number(type: Any) -> bool:
    import pyarrow as pa

    of = _value_type(type)
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_null)
    return any(test(of) for test in tests)


def _is_taken(leaf: _Leaf) -> bool:
    import pyarrow as pa

    is_time = leaf.name in _TEXTS and pa.types.is_timestamp(leaf.type)
    return _is_number(leaf.type) or _is_text(leaf.type) or is_time


def _type_text(type: Any) -> str:
    import pyarrow as pa

    if pa.types.is_struct(type) and type.get_field_index("_type") >= 0:
        return "a histogram or other media of W&B"
    text = str(type).replace("\n", " ")
    return text if len(text) < 60 else text[:57] + "..."


def _column(batch: pyarrow.RecordBatch, leaf: _Leaf) -> pyarrow.Array:
    import pyarrow.compute as pc

    column = batch.column(leaf.path[0])
    return pc.struct_field(column, list(leaf.path[1:])) if len(leaf.path) > 1 else column


def _texts(column: pyarrow.Array) -> pyarrow.Array:
    import pyarrow as pa

    return column.cast(pa.large_string())


def _cells(stream: Stream, column: pyarrow.Array, leaf: _Leaf, is_of_pandas: bool) -> pyarrow.Array:
    """As texts; what is no number is null then, and said."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_timestamp(column.type):
        return column.cast(pa.timestamp(column.type.unit)).cast(pa.large_string())  # in UTC
    if _is_text(column.type) and leaf.name in _TEXTS:
        quoted = pc.replace_substring(_texts(column), '"', '""')
        mark = pa.scalar('"', pa.large_string())
        return pc.binary_join_element_wise(mark, quoted, mark, pa.scalar("", pa.large_string()))
    if _is_text(column.type):
        column = _numbers(stream, column, leaf)
    if pa.types.is_integer(column.type):
        stream.leave_out(f'digits behind the 53rd bit in column "{leaf.name}"', _inexact(column))
        return _texts(column)
    if pa.types.is_boolean(column.type):
        return column.cast(pa.uint8()).cast(pa.large_string())
    if is_of_pandas and pa.types.is_floating(column.type):
        stream.leave_out("empty cells of files that pandas wrote: there NaN is empty, too", column.null_count)
    return column.cast(pa.float64(), safe=False).cast(pa.large_string())


def _numbers(stream: Stream, column: pyarrow.Array, leaf: _Leaf) -> pyarrow.Array:
    """W&B has "NaN" and "Infinity" as texts; other texts are none of a run's values."""
    import pyarrow as pa

    coded = _texts(column).dictionary_encode()
    numbers = pa.array([_number(text) for text in coded.dictionary.to_pylist()], pa.float64(), from_pandas=False)
    found = numbers.take(coded.indices)
    empty = sum(text == "" for text in coded.dictionary.to_pylist())
    lost = found.null_count - column.null_count
    if empty:
        import pyarrow.compute as pc

        lost -= pc.sum(pc.equal(_texts(column), "")).as_py()
    stream.leave_out(f'column "{leaf.name}": texts that are no numbers', lost)
    return found


def _number(text: str) -> float | None:
    word = text.strip().lower()
    if word in ("true", "false"):
        return float(word == "true")
    try:
        return None if "_" in word else float(word)
    except ValueError:
        return None


def _inexact(column: pyarrow.Array) -> int:
    import pyarrow.compute as pc

    if column.type.bit_width < 64 or len(column) == column.null_count:
        return 0
    ends = pc.min_max(column).as_py()
    if -_EXACT <= ends["min"] and ends["max"] <= _EXACT:
        return 0
    return sum(value is not None and int(float(value)) != value for value in column.to_pylist())
