# SPDX-License-Identifier: GPL-3.0-or-later
"""What grad_probe wrote, msprobe's or ours: ranks, steps, parameters."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

from .signfile import ProbeError
from .summaryfile import names_in

_SUMMARY = re.compile(r"grad_summary_(\d+)\.csv")


def numbered(folder: str, word: str) -> dict[int, str]:
    """Folders inside that are called by the word and a number: rank0, and rank_0 as the documents also say it. Raises
    ProbeError."""
    found: dict[int, str] = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                name = re.fullmatch(rf"{word}_?(\d+)", entry.name)
                if name is not None and entry.is_dir():
                    found.setdefault(int(name[1]), entry.path)
    except OSError as error:
        raise ProbeError(f"{folder} cannot be read: {error.strerror or error}") from None
    return dict(sorted(found.items()))


def rank_of(folder: str) -> int:
    """Of a folder that is a rank's by its name; else 0."""
    name = re.fullmatch(r"rank_?(\d+)", os.path.basename(os.path.abspath(folder)))
    return int(name[1]) if name else 0


def summaries_of(path: str) -> dict[int, str]:
    """The summaries of one rank by rising step. Raises ProbeError."""
    try:
        found = {int(name[1]): name[0] for name in map(_SUMMARY.fullmatch, os.listdir(path)) if name}
    except OSError as error:
        raise ProbeError(f"{path} cannot be read: {error.strerror or error}") from None
    return {step: os.path.join(path, name) for step, name in sorted(found.items())}


def sign_files(folder: str) -> dict[str, str]:
    """Of one step by parameter. Raises ProbeError."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".npy") and not name.startswith(".")]
    except OSError as error:
        raise ProbeError(f"{folder} cannot be read: {error.strerror or error}") from None
    return {name[:-4].replace("%2F", "/"): os.path.join(folder, name) for name in sorted(names)}


@dataclass
class RankFolder:
    """Of one rank: the folders of its steps, and the parameters in the order of its first summary that can be read."""

    path: str
    steps: dict[int, str]
    order: list[str]
    problems: list[str] = field(default_factory=list)

    def files(self, step: int) -> dict[str, str]:
        """Files of signs at a step by parameter. Raises ProbeError."""
        return sign_files(self.steps[step])


def open_rank(path: str) -> RankFolder:
    """Raises ProbeError where there is nothing to compare."""
    steps = numbered(path, "step")
    if not steps:
        hint = "; it has ranks inside: compare_distributed() compares them" if numbered(path, "rank") else ""
        raise ProbeError(f"{path} has no folder step0, step1, ... (grad_level L1 and L2 write them){hint}")
    found = RankFolder(path, steps, [])
    for summary in summaries_of(path).values():
        try:
            found.order = names_in(summary)
            return found
        except ProbeError as error:
            found.problems.append(f"{error}; the order of the parameters is that of another step, or of the files")
    return found
