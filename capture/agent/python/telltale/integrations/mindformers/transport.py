# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators inside a static graph write for the callback: a file a number under {dump_path}/rank_{id}, and
finish_step between two steps. Files come late, so a step is read when its end is there."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

import numpy as np

_FILE = re.compile(r"(local_norm|local_loss)__(.+)_[a-z]+[0-9]+_([0-9]+)\.npy")
_DEVICE = re.compile(r"(device_local_norm|local_loss|finish_step)_[a-z]+[0-9]+_([0-9]+)\.npy")
_MAIN = "lm"


@dataclass
class Written:
    """One step's numbers."""

    step: int
    local_norms: dict[str, float] = field(default_factory=dict)
    device_local_norm: float | None = None
    losses: dict[str, list[float]] = field(default_factory=dict)  # of each micro batch, by which loss


class Transport:
    """Reads a rank's folder. keeps_files: somebody else reads them too and takes them away. Thread: training."""

    def __init__(self, folder: str, first_step: int, keeps_files: bool) -> None:
        self._folder = folder
        self._step = first_step - 1  # the last whose end was seen
        self._last_end = -1
        self._keeps_files = keeps_files
        self._ends: set[int] = set()  # of finish_step files that were counted

    def take(self) -> list[Written]:
        """Steps that are complete and were not taken yet."""
        try:
            names = os.listdir(self._folder)
        except OSError:
            return []
        found: list[tuple[int, str, str, str]] = []  # number, what, of which, file
        for name in names:
            if match := _FILE.fullmatch(name):
                found.append((int(match[3]), match[1], match[2], name))
            elif match := _DEVICE.fullmatch(name):
                found.append((int(match[2]), match[1], _MAIN, name))
        found.sort()
        ends = [number for number, what, _, _ in found if what == "finish_step" and number not in self._ends]
        written = []
        for end in ends:
            self._step += 1
            inside = [one for one in found if self._last_end < one[0] < end]
            written.append(self._read(inside))
            self._last_end = end
            self._ends.add(end)
        if ends and not self._keeps_files:
            self._remove([name for number, _, _, name in found if number <= ends[-1]])
        return written

    def _read(self, files: list[tuple[int, str, str, str]]) -> Written:
        step = Written(self._step)
        for _, what, of, name in files:
            try:
                value = float(np.load(os.path.join(self._folder, name), allow_pickle=False).mean())
            except (OSError, ValueError):
                continue  # half written, or taken away meanwhile
            if what == "local_norm":
                step.local_norms[of] = value
            elif what == "local_loss":
                step.losses.setdefault(of, []).append(value)
            else:
                step.device_local_norm = value
        return step

    def _remove(self, names: list[str]) -> None:
        for name in names:
            try:
                os.remove(os.path.join(self._folder, name))
            except OSError:
                pass  # no longer there
