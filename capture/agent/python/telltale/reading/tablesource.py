# SPDX-License-Identifier: GPL-3.0-or-later
"""A Parquet or Arrow file, and what is said of it to `telltale import`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    import pyarrow

_CELLS_AT_ONCE = 1 << 20


class Stream:
    """What is said to who reads."""

    def __init__(self, out: BinaryIO, files: int) -> None:
        self._out, self._files, self._file = out, files, -1
        self._left: dict[str, int] = {}

    def table(self, form: str, **about: Any) -> None:
        self._file += 1
        self._say("table", form=form, **about)

    def rows(self, text: bytes | memoryview, share: float) -> None:
        self._say("rows", bytes=len(text), share=(self._file + share) / self._files)
        self._out.write(text)

    def leave_out(self, what: str, count: int) -> None:
        if count > 0:
            self._left[what] = self._left.get(what, 0) + count

    def damage(self, sentence: str) -> None:
        self._say("damage", sentence=sentence)

    def end(self) -> None:
        for what, count in self._left.items():
            self._say("left out", what=what, count=count)
        self._left.clear()
        self._say("end")

    def done(self) -> None:
        self._say("done")
        self._out.flush()

    def _say(self, message: str, **about: Any) -> None:
        line = json.dumps({"message": message, **about}, ensure_ascii=False, allow_nan=False)
        self._out.write(line.encode("utf-8", "replace") + b"\n")


class Table:
    """A file of either format, by its first bytes."""

    def __init__(self, path: str) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        with open(path, "rb") as file:
            is_parquet = file.read(4) == b"PAR1"
        self._parquet = pq.ParquetFile(path) if is_parquet else None
        self._arrow = None if is_parquet else pa.ipc.open_file(pa.memory_map(path))
        schema = self._arrow.schema if self._parquet is None else self._parquet.schema_arrow
        self.schema: pyarrow.Schema = schema
        self.is_of_pandas = b"pandas" in (self.schema.metadata or {})
        self._rows = self._parquet.metadata.num_rows if self._parquet else None

    def batches(self, columns: list[str] | None = None) -> Iterator[tuple[pyarrow.RecordBatch, float]]:
        """Rows, and the share of the file that is read with them; what is in them is checked."""
        most = max(_CELLS_AT_ONCE // max(len(columns or self.schema.names), 1), 1)
        done = 0
        if self._parquet:
            for batch in self._parquet.iter_batches(most, columns=columns, use_threads=False):
                batch.validate(full=True)
                done += batch.num_rows
                yield batch, done / max(self._rows or 0, 1)
            return
        assert self._arrow is not None
        count = self._arrow.num_record_batches
        for i in range(count):
            whole = self._arrow.get_batch(i)
            whole.validate(full=True)  # other than Parquet's, its offsets are used as they stand
            for first in range(0, whole.num_rows, most):
                part = whole.slice(first, most)
                yield part.select(columns) if columns else part, (i + (first + len(part)) / len(whole)) / count
