# SPDX-License-Identifier: GPL-3.0-or-later
"""A run, or a part of one, as a Parquet or an Arrow file.

A row is what one tensor has at one step, with a column a statistic. The schema's metadata holds the run beside its
measurements: key `telltale`, a JSON document with facts, document (config, hyperparameters, environment, tags, notes),
incidents and log. `telltale import` takes the measurements back.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from .frame import Frame

if TYPE_CHECKING:
    import pyarrow

FORMATS = ("parquet", "arrow")


class Run(Protocol):
    """What is asked of an openedrun.Run."""

    @property
    def kinds(self) -> dict[str, list[str]]: ...
    def facts(self) -> dict[str, Any]: ...
    def document(self) -> dict[str, Any]: ...
    def incidents(self) -> list[dict[str, Any]]: ...
    def events(self) -> list[dict[str, Any]]: ...
    def series(self, kind: Any, *, modules: str) -> list[dict[str, Any]]: ...
    @property
    def frame(self) -> Callable[..., Frame]: ...


def write_table(run: Run, path: str | os.PathLike[str], form: str, **selection: Any) -> dict[str, Any]:
    """Writes the file, whole or not at all; {"files", "values", "left_out": [{"what", "count"}]} says what is in it and
    what is not. selection: as of Run.frame()."""
    if form not in FORMATS:
        raise ValueError(f"there is no format {form!r}; choose from {', '.join(FORMATS)}")
    out = Path(path)
    wants_histograms = selection.get("stat") == "hist"
    kinds = selection.pop("kind", None)
    chosen = [kinds] if isinstance(kinds, str) else list(kinds or run.kinds)
    if out.exists():
        raise FileExistsError(f"{out} is there already, and nothing is replaced: name another file")
    handle, draft = tempfile.mkstemp(dir=out.parent, prefix=out.name, suffix=".part")
    os.close(handle)
    written = _Written(draft, form, run)
    try:
        for kind in chosen:
            frame = run.frame(kind, **selection)
            if len(frame) > 0:
                written.add(frame)
        written.finish()
        os.link(draft, out)  # which replaces nothing
    finally:
        os.unlink(draft)
    left_out = []
    if not wants_histograms:
        histograms = sum("bins" in one for one in run.series(chosen, modules=selection.get("modules", "")))
        if histograms:
            what = "histograms, which --stat hist writes into a file of their own"
            left_out.append({"what": what, "count": histograms})
    if written.damaged:
        left_out.append({"what": "values that cannot be read: the file is damaged", "count": written.damaged})
    return {"files": [str(out)], "values": written.values, "left_out": left_out}


class _Written:
    """A file that grows by frames, each of which has some of its columns."""

    def __init__(self, path: str, form: str, run: Run) -> None:
        import pyarrow as pa

        self._path, self._form = path, form
        self._tables: list[pyarrow.Table] = []
        self._pa = pa
        about = {
            "facts": run.facts(), "document": run.document(), "incidents": run.incidents(), "log": run.events(),
        }  # fmt: skip
        self._about = {"telltale": json.dumps(about)}
        self.values = 0
        self.damaged = 0

    def add(self, frame: Frame) -> None:
        table = frame.to_arrow()
        chunks, definitions = frame.arrow_numbers("chunk"), frame.arrow_texts("definition")
        table = table.append_column("chunk", chunks).append_column("definition", definitions)
        if len(frame.edges):
            edges = frame.edges.tolist()
            if self._about.setdefault("telltale_edges", json.dumps(edges)) != json.dumps(edges):
                raise ValueError(
                    "the histograms of this selection do not all have the same bins: choose one kind, or fewer steps"
                )
        self._tables.append(table)
        self.values += sum(len(frame) - table.column(name).null_count for name in frame.stats)
        self.damaged += frame.damaged

    def finish(self) -> None:
        pa = self._pa
        whole = pa.concat_tables(self._tables, promote_options="default") if self._tables else pa.table({})
        whole = whole.unify_dictionaries().replace_schema_metadata(self._about)
        if self._form == "parquet":
            import pyarrow.parquet as pq

            pq.write_table(whole, self._path, compression="zstd", row_group_size=1 << 20)
        else:
            with pa.OSFile(self._path, "wb") as file, pa.ipc.new_file(file, whole.schema) as writer:
                writer.write_table(whole)
