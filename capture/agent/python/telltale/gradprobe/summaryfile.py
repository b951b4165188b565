# SPDX-License-Identifier: GPL-3.0-or-later
"""grad_summary_{step}.csv: what msprobe's code writes, and what its documents say that it does."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from .probeconfig import Number, ProbeConfig
from .signfile import ProbeError
from .tally import Tally

ENCODING = "utf-8-sig"  # with the mark of byte order that msprobe's files begin with
NAME = "param_name"


def head_of(config: ProbeConfig) -> list[str]:
    """The columns. The documents' table of them has capitals, and so has what MindSpore's graph mode writes."""
    own = {"L0": ["MD5"], "L1": [], "L2": [*intervals(config.bounds), "=0"]}[config.grad_level]
    words = [NAME, "max", "min", "norm", "shape"]
    name, *rest = (word.capitalize() for word in words) if config.is_documented else words
    return [name, *own, *rest]


def intervals(bounds: tuple[Number, ...]) -> list[str]:
    """One that is bounded by nothing where there are no bounds; msprobe's has no name there."""
    inner = [f"({a}, {b}]" for a, b in zip(bounds, bounds[1:])]
    return [f"(-inf, {bounds[0]}]", *inner, f"({bounds[-1]}, inf)"] if bounds else ["(-inf, inf)"]


def row_of(name: str, shape: tuple[int, ...], tally: Tally, config: ProbeConfig) -> list[Any]:
    """Values unrounded. Of an empty gradient nothing is the largest."""
    own: list[Any] = []
    if config.grad_level == "L0":
        own = [tally.checksum]
    elif config.grad_level == "L2":
        own = [count / tally.numel if tally.numel else 0 for count in (*tally.counts, tally.zeros)]
    return [name, *own, *(tally.extremes or ("", "", "")), list(shape)]


def csv_bytes(rows: Iterable[list[Any]]) -> bytes:
    """As msprobe's write_csv() does it: lines end as in DOS."""
    out = io.StringIO(newline="")
    csv.writer(out).writerows(rows)
    return out.getvalue().encode(ENCODING, "replace")


def rows_in(path: str) -> list[dict[str, str]]:
    """The lines of a summary by the words of its head in small letters, whichever way that is written; of a line of
    another length only its parameter. Raises ProbeError."""
    try:
        with open(path, encoding=ENCODING, newline="") as file:
            rows = csv.reader(file)
            head = [cell.strip().lower() for cell in next(rows, [])]
            if NAME not in head:
                raise ProbeError(f"{path} is no summary of grad_probe: its first line has no column {NAME}")
            place, length = head.index(NAME), len(head)
            long = (row for row in rows if len(row) > place)
            return [dict(zip(head, row)) if len(row) == length else {NAME: row[place]} for row in long]
    except OSError as error:
        raise ProbeError(f"{path} cannot be read: {error.strerror or error}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ProbeError(f"{path} is no csv text: {error}") from None


def names_in(path: str) -> list[str]:
    """The parameters of a summary, in their order. Raises ProbeError."""
    return [row[NAME] for row in rows_in(path)]
