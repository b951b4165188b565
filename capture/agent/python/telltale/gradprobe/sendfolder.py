# SPDX-License-Identifier: GPL-3.0-or-later
"""Brings what grad_probe wrote, msprobe's or ours, to the dashboard as a run: norm, least and largest of every
gradient, its distribution, its signs."""

from __future__ import annotations

import os
import re
import uuid
from typing import Any

import numpy as np

from ..series import SeriesDesc
from .probeconfig import Number, ProbeConfig
from .probefolder import numbered, rank_of, sign_files, summaries_of
from .probestream import ProbeStream
from .signfile import ProbeError, SignFile, open_signs
from .summaryfile import NAME, rows_in

_AT_ONCE = 1 << 20  # elements whose signs are one document
_BEFORE_FLUSH = 1 << 23  # elements whose signs are under way at most
_PATIENCE = 120.0  # seconds
_INTERVAL = re.compile(r"\((-?inf|[^,]+), (inf|[^\])]+)[\])]")


def send_folder(dump_path: str, name: str = "", has_signs: bool = True) -> list[str]:
    """Sends every rank and step to the server of TELLTALE_JOIN; what cannot be read is left out, one sentence each.
    Raises ProbeError where there is nothing to send, ConnectionError where it does not come there."""
    ranks = numbered(dump_path, "rank") or {rank_of(dump_path): dump_path}
    found = {rank: summaries_of(path) for rank, path in ranks.items()}
    if not any(found.values()):
        raise ProbeError(f"{dump_path} has no grad_summary_0.csv, grad_summary_1.csv, ... of grad_probe")
    if not os.environ.get("TELLTALE_JOIN"):
        raise ConnectionError("this needs a dashboard: TELLTALE_JOIN holds its join string")
    run = {"run_id": f"grad-probe-{uuid.uuid4().hex}", "run_name": name or os.path.basename(os.path.abspath(dump_path))}
    notes: list[str] = []
    for rank, summaries in found.items():
        _Sender(ranks[rank], rank, len(ranks), has_signs, run, notes).send(summaries)
    return notes


class _Sender:
    """Of one rank."""

    def __init__(
        self, folder: str, rank: int, world_size: int, has_signs: bool, run: dict[str, str], notes: list[str]
    ) -> None:
        self._rank = rank, max(world_size, rank + 1)
        self._steps = numbered(folder, "step") if has_signs else {}
        self._run = run
        self._notes = notes
        self._stream: ProbeStream | None = None
        self._bounds: tuple[Number, ...] | None = None
        self._waiting = 0

    def send(self, summaries: dict[int, str]) -> None:
        for step in sorted(summaries.keys() | self._steps.keys()):
            rows: list[dict[str, str]] = []
            try:
                rows = rows_in(summaries[step]) if step in summaries else []
            except ProbeError as error:
                self._notes.append(str(error))
            self._send_step(step, summaries.get(step, ""), rows)
        if self._stream is not None and not self._stream.close():
            raise ConnectionError("not everything has come to the dashboard; the spool keeps it (`telltale import`)")

    def _send_step(self, step: int, path: str, rows: list[dict[str, str]]) -> None:
        stream = self._stream_for(rows)
        values: list[tuple[SeriesDesc, list[float]]] = []
        counts: list[tuple[SeriesDesc, list[int]]] = []
        is_alike = _bounds_of(rows) == self._bounds
        if not is_alike and rows:
            self._notes.append(f"{path} has other bounds than the first step; its distributions are left out")
        for row in rows:
            try:
                desc, numbers, shares = _parsed(row)
            except ValueError as error:
                self._notes.append(f"{path}: the line of {row[NAME]} cannot be read: {error}")
                continue
            if numbers:
                values.append((desc, numbers))
            if shares and is_alike:
                counts.append((desc, [round(share * desc.numel) for share in shares]))
        stream.statistics(step, values)
        stream.distributions(step, counts)
        files = sign_files(self._steps[step]) if step in self._steps else {}
        for name in dict.fromkeys([*(row[NAME] for row in rows if row[NAME] in files), *files]):
            self._send_signs(stream, step, name, files[name])
        stream.end_step()
        self._flush_after(stream, len(rows) * 64)

    def _send_signs(self, stream: ProbeStream, step: int, name: str, path: str) -> None:
        try:
            head = open_signs(path)
            signs = _flat(head)
        except (ProbeError, OSError) as error:
            self._notes.append(str(error))
            return
        for first in range(0, max(head.numel, 1), _AT_ONCE):
            part = np.asarray(signs[first : first + _AT_ONCE])
            stream.signs(name, step, head.shape, first, part.size, np.packbits(part, bitorder="little"))
            self._flush_after(stream, part.size)

    def _flush_after(self, stream: ProbeStream, elements: int) -> None:
        """Nothing is lost for coming too fast."""
        self._waiting += elements
        if self._waiting >= _BEFORE_FLUSH:
            self._waiting = 0
            if not stream.flush(_PATIENCE):
                raise ConnectionError("the dashboard does not take what is sent")

    def _stream_for(self, rows: list[dict[str, str]]) -> ProbeStream:
        if self._stream is None:
            self._bounds = _bounds_of(rows)
            config = ProbeConfig(bounds=self._bounds, stream_mib=1 << 20)
            try:
                rank, size = self._rank
                self._stream = ProbeStream(config, rank, size, "grad_probe", self._notes.append, **self._run)
            except (ValueError, RuntimeError) as error:
                raise ConnectionError(str(error)) from None
        return self._stream


def _flat(head: SignFile) -> Any:
    if head.numel == 0:
        return np.zeros(0, np.bool_)
    return np.load(head.path, mmap_mode="r").reshape(-1)


def _bounds_of(rows: list[dict[str, str]]) -> tuple[Number, ...]:
    """Of a summary's first line, whole numbers as such."""
    whole: dict[str, str] = next((row for row in rows if len(row) > 1), {})
    ends = [found[2] for found in map(_INTERVAL.fullmatch, whole) if found]
    return tuple(int(end) if re.fullmatch(r"-?\d+", end) else float(end) for end in ends[:-1])


def _parsed(row: dict[str, str]) -> tuple[SeriesDesc, list[float], list[float]]:
    if len(row) == 1:
        raise ValueError("it has not as many cells as the first line")
    shape = tuple(int(size) for size in row.get("shape", "[]").strip("[]()").split(",") if size.strip())
    desc = SeriesDesc(row[NAME], shape=shape, numel=int(np.prod(shape, dtype=np.int64)))
    if not row.get("norm"):  # an empty gradient
        return desc, [], []
    numbers = [float(row[word]) for word in ("norm", "min", "max")]
    shares = [float(share) for key, share in row.items() if _INTERVAL.fullmatch(key)]
    if not all(0 <= share <= 1 for share in shares):
        raise ValueError("a share of its elements is no number from 0 to 1")
    return desc, numbers, shares
