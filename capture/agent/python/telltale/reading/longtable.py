# SPDX-License-Identifier: GPL-3.0-or-later
"""Telltale's own tables, as tablefile.py writes them, as the lines of `telltale export --to csv`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from .widetable import joined

if TYPE_CHECKING:
    import pyarrow

    from .tablesource import Stream, Table

# Of a line, between its step and its statistic; the last two are not in older files.
_KEYS = {
    "rank": "", "attempt": "", "kind": "", "name": "", "slot": "", "micro_step": "", "chunk": "0", "definition": "",
}  # fmt: skip


def stream_long(stream: Stream, table: Table, stats: list[str]) -> None:
    """A line a value; where a statistic was not measured there is none."""
    about = json.loads((table.schema.metadata or {}).get(b"telltale", b"{}"))
    facts = about.get("facts", {})
    stream.table(
        "telltale", run=str(facts.get("id") or "?"), name=str(facts.get("name") or ""),
        created_ns=int(facts.get("created_ns") or 0),
    )  # fmt: skip
    for what in ("config", "environment", "hyperparameters", "notes", "tags"):
        stream.leave_out(f"the run's {what}, beside the table in the file", bool(about.get("document", {}).get(what)))
    stream.leave_out("records of its log, beside the table in the file", len(about.get("log", [])))
    stream.leave_out("incidents, beside the table in the file", len(about.get("incidents", [])))
    edges = json.loads((table.schema.metadata or {}).get(b"telltale_edges", b"[]"))
    taken = []
    for name in table.schema.names:
        if name in _KEYS or name == "step":
            continue
        if name not in stats or (name == "hist" and len(edges) < 2):
            stream.leave_out(f'column "{name}", which is no statistic', 1)
        else:
            taken.append(name)
    for batch, share in table.batches():
        middles = _middles(batch)
        for name in taken:
            column = batch.column(name)
            if name == "hist":
                _bins(stream, batch, middles, column, edges, share)
            else:
                _lines(stream, batch, middles, name, column, share)


def _lines(
    stream: Stream, batch: pyarrow.RecordBatch, middles: pyarrow.Array, word: str, column: pyarrow.Array, share: float
) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    is_there = pc.is_valid(column)
    if not pc.any(is_there).as_py():
        return
    values = column.filter(is_there)
    if pa.types.is_uint64(values.type) and word == "checksum":
        texts = pa.array([f"{value:016x}" for value in values.to_pylist()], pa.large_string())
    elif pa.types.is_floating(values.type):
        texts = values.cast(pa.float64()).cast(pa.large_string())
    else:
        texts = values.cast(pa.large_string())
    steps = batch.column("step").filter(is_there)
    named = pa.repeat(pa.scalar(_quoted(word), pa.large_string()), len(texts))
    stream.rows(joined([steps, middles.filter(is_there), named, texts], pa), share)


def _bins(
    stream: Stream, batch: pyarrow.RecordBatch, middles: pyarrow.Array, column: pyarrow.Array, edges: list[float],
    share: float,
) -> None:  # fmt: skip
    import pyarrow as pa

    bins = len(edges) - 1
    if not pa.types.is_fixed_size_list(column.type) or column.type.list_size != bins or column.null_count:
        raise ValueError(f"its histograms are not of the {bins} bins that it says")
    counts = np.asarray(column.flatten()).reshape(len(batch), bins)
    for i in range(bins):
        texts = pa.array(counts[:, i], mask=counts[:, i] < 0).cast(pa.large_string())
        word = _quoted(f"hist [{edges[i]!r}, {edges[i + 1]!r})")
        named = pa.repeat(pa.scalar(word, pa.large_string()), len(texts))
        stream.rows(joined([batch.column("step"), middles, named, texts], pa), share)


def _middles(batch: pyarrow.RecordBatch) -> pyarrow.Array:
    """What a row's series is, as cells; rows of one series stand together, so there are few."""
    import pyarrow as pa

    codes, words = [], []
    for name, default in _KEYS.items():
        if name in batch.schema.names:
            coded = batch.column(name)
            coded = coded if pa.types.is_dictionary(coded.type) else coded.dictionary_encode()
            if coded.null_count:
                raise ValueError(f"column {name!r} is empty in {coded.null_count} rows")
            codes.append(np.asarray(coded.indices))
            words.append([_quoted(str(value)) for value in coded.dictionary.to_pylist()])
        else:
            codes.append(np.zeros(len(batch), np.int32))
            words.append([_quoted(default)])
    of_rows = np.stack([np.asarray(one, np.int64) for one in codes])
    is_first = np.concatenate(([True], (of_rows[:, 1:] != of_rows[:, :-1]).any(axis=0))) if len(batch) else np.zeros(0)
    firsts = np.flatnonzero(is_first)
    texts: list[Any] = [",".join(words[key][code] for key, code in enumerate(of_rows[:, row])) for row in firsts]
    places = np.cumsum(is_first) - 1
    return pa.array(texts, pa.large_string()).take(pa.array(places))


def _quoted(text: str) -> str:
    """A line is what ends with a line's end: inside a name that is escaped, as the csv export does."""
    shown = "".join(f"\\u{ord(c):04x}" if ord(c) < 32 or 127 <= ord(c) < 160 else c for c in text)
    return '"' + shown.replace('"', '""') + '"'
