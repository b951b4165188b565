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
        self._out, self._files = out, files
        self.tables = 0
        self._left: dict[str, int] = {}

    def table(self, form: str, **about: Any) -> None:
        self.tables += 1
        self._say("table", form=form, **about)

    def rows(self, text: bytes | memoryview, share: float) -> None:
        self._say("rows", bytes=len(text), share=(self.tables - 1 + share) / self._files)
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
        opened: Any = pq.ParquetFile(path) if is_parquet else pa.ipc.open_file(pa.memory_map(path))
        self._is_parquet, self._opened = is_parquet, opened
        self.schema: pyarrow.Schema = opened.schema_arrow if is_parquet else opened.schema
        self.is_of_pandas = b"pandas" in (self.schema.metadata or {})

    def batches(self, columns: list[str] | None = None) -> Iterator[tuple[pyarrow.RecordBatch, float]]:
        """Rows, and the share of the file that is read with them; what is in them is checked."""
        most = max(_CELLS_AT_ONCE // max(len(columns or self.schema.names), 1), 1)
        done = 0
        if self._is_parquet:
            for batch in self._opened.iter_batches(most, columns=columns, use_threads=False):
                batch.validate(full=True)
                done += batch.num_rows
                yield batch, done / max(self._opened.metadata.num_rows, 1)
            return
        count = self._opened.num_record_batches
        for i in range(count):
            whole = self._opened.get_batch(i)
            whole.validate(full=True)  # other than Parquet's, its offsets are used as they stand
            for first in range(0, whole.num_rows, most):
                part = whole.slice(first, most)
                yield part.select(columns) if columns else part, (i + (first + len(part)) / len(whole)) / count
