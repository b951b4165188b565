# SPDX-License-Identifier: GPL-3.0-or-later
"""GradComparator: msprobe's comparison of the signs of two trainings' gradients, and its rule, applied."""

from __future__ import annotations

import math
import os
import tempfile
from typing import Any

from ..console import log
from .curvepicture import draw_similarities
from .probefolder import numbered
from .runsigns import write_signs
from .signfile import PartFile, ProbeError
from .similarity import SUMMARY, Finding, Similarities, compare_ranks, findings
from .summaryfile import csv_bytes

PICTURES = "similarities_picture"


class GradComparator:
    """Files as msprobe names them; is_documented: pictures by the names that its documents have. Both give what its
    rule of 0.97 and 0.03 finds, which is also said. Raises ProbeError where there is nothing to compare."""

    @classmethod
    def compare_distributed(
        cls, path1: str, path2: str, output_dir: str, *, is_documented: bool = False
    ) -> list[Finding]:
        """Two dump_paths, rank by rank."""
        by_rank, notes = compare_all(path1, path2)
        for rank, found in by_rank.items():
            write(found, output_dir if rank is None else os.path.join(output_dir, f"rank{rank}"), is_documented)
        return _said(by_rank, notes)

    @classmethod
    def compare(cls, path1: str, path2: str, output_dir: str, *, is_documented: bool = False) -> list[Finding]:
        """Two folders of one rank each."""
        found = compare_ranks(os.fspath(path1), os.fspath(path2))
        write(found, output_dir, is_documented)
        return _said({None: found}, found.notes)


def compare_all(path1: str, path2: str) -> tuple[dict[int | None, Similarities], list[str]]:
    """Of two dump_paths each rank, of two folders of one rank each that one (None); and what could not be compared, one
    sentence each. What is no folder is a run whose signs were streamed, by its path or id. Raises ProbeError."""
    with tempfile.TemporaryDirectory(prefix="telltale-signs-") as folder:
        notes: list[str] = []
        places = []
        for place, path in zip("ab", (path1, path2)):
            if os.path.isdir(path) or (os.sep in os.fspath(path) and not os.path.isfile(path)):
                places.append(os.fspath(path))
                continue
            places.append(os.path.join(folder, place))
            notes += [f"{path}: {sentence}" for sentence in write_signs(os.fspath(path), places[-1])]
        by_rank, more = _compare_folders(*places)
        return by_rank, [*notes, *more]


def _compare_folders(path1: str, path2: str) -> tuple[dict[int | None, Similarities], list[str]]:
    ranks = [numbered(path, "rank") for path in (path1, path2)]
    if not any(ranks) and all(numbered(path, "step") for path in (path1, path2)):
        found = compare_ranks(path1, path2)
        return {None: found}, found.notes
    common = sorted(ranks[0].keys() & ranks[1].keys())
    if not common:
        raise ProbeError(f"{path1} and {path2} have no folder rank0, rank1, ... in common")
    by_rank: dict[int | None, Similarities] = {}
    notes = []
    for rank in common:
        try:
            by_rank[rank] = compare_ranks(ranks[0][rank], ranks[1][rank])
            notes += by_rank[rank].notes
        except ProbeError as error:
            notes.append(str(error))
    if not by_rank:
        raise ProbeError(notes[0])
    for i, path in enumerate((path1, path2)):
        notes += [f"only {path} has rank {rank}" for rank in sorted(ranks[i].keys() - ranks[1 - i].keys())]
    return by_rank, notes


def _said(by_rank: dict[int | None, Similarities], notes: list[str]) -> list[Finding]:
    for sentence in notes:
        log.warning("grad_probe: %s", sentence)
    found = findings(by_rank)
    for one in found[:10]:
        log.warning("grad_probe: %s", one.sentence)
    if len(found) > 10:
        log.warning("grad_probe: and %d parameters more", len(found) - 10)
    return found


def write(found: Similarities, folder: str, is_documented: bool = False) -> None:
    """similarities.csv and the pictures. OSError."""
    rows: list[list[Any]] = [["step", *found.steps]]
    rows += [[name, *map(_cell, values)] for name, values in found.parameters.items()]
    rows.append([SUMMARY, *map(_cell, found.total)])
    _put(os.path.join(folder, "similarities.csv"), csv_bytes(rows))
    verdicts = found.verdicts()
    for name, values in found.parameters.items():
        verdict = verdicts.get(name)
        marked = None if verdict is None else verdict.suspicious
        suffix = "" if is_documented else "_similarities"
        picture = draw_similarities(f"{name}_similarities", found.steps, values, marked)
        _put(os.path.join(folder, PICTURES, f"{name.replace('/', '%2F')}{suffix}.png"), picture)
    picture = draw_similarities(f"{SUMMARY}_similarities", found.steps, found.total, None)
    _put(os.path.join(folder, PICTURES, f"{SUMMARY}_similarities.png"), picture)


def _put(path: str, data: bytes) -> None:
    file = PartFile(path)
    try:
        file.append(data)
        file.finish()
    except OSError:
        file.give_up()
        raise


def _cell(value: float) -> Any:
    return "" if math.isnan(value) else value
