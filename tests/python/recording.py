# SPDX-License-Identifier: GPL-3.0-or-later
"""A sink that keeps everything, and helpers to ask it."""

from __future__ import annotations

from typing import Any

import numpy as np
from telltale.kinds import Kind
from telltale.series import Frame, is_histogram
from telltale.sinks import RunContext, Sink


class RecordingSink(Sink):
    """Keeps frames, events and blobs in memory."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.events: list[tuple[str, int, str]] = []
        self.blobs: list[tuple[str, str, int, bytes]] = []
        self.contexts: list[RunContext] = []
        self.closed: list[str] = []

    def open(self, context: RunContext) -> None:
        self.contexts.append(context)

    def write(self, frame: Frame) -> None:
        self.frames.append(frame)

    def event(self, kind: str, step: int, text: str, json: str = "{}", rule: str = "") -> None:
        self.events.append((kind, step, text))

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        self.blobs.append((kind, name, step, data))

    def close(self, reason: str) -> None:
        self.closed.append(reason)

    def sentences(self) -> list[str]:
        """Every event's text."""
        return [text for _, _, text in self.events]

    def steps(self, kind: Kind) -> list[int]:
        """Steps that have something of a kind."""
        return [frame.step for frame in self.frames if any(shot.kind is kind for shot in frame.tables)]

    def names(self, kind: Kind) -> list[str]:
        """ "name slot" of every series seen, in order of appearance."""
        seen: dict[str, None] = {}
        for frame in self.frames:
            for shot in frame.tables:
                if shot.kind is kind:
                    for desc in shot.series:
                        seen[f"{desc.name} {desc.slot}".strip()] = None
        return list(seen)

    def record(self, kind: Kind, name: str, slot: str = "", step: int | None = None, micro: int = -1) -> Any:
        """One STATS record (or row of values) of a series at a step (default: the last), None where there is none."""
        for frame in reversed(self.frames):
            if step is not None and frame.step != step:
                continue
            for shot in frame.tables:
                if shot.kind is not kind or is_histogram(shot):
                    continue
                for i, desc in enumerate(shot.series):
                    if (desc.name, desc.slot.text, desc.micro_step) == (name, slot, micro):
                        return shot.values[i]
            if step is not None:
                return None
        return None

    def histogram(self, kind: Kind, name: str) -> Any:
        """The counts of a histogram at the last step."""
        shots = [shot for shot in self.frames[-1].tables if shot.kind is kind and is_histogram(shot)]
        [counts] = [shot.values[i] for shot in shots for i, desc in enumerate(shot.series) if desc.name == name]
        return counts

    def scalar(self, name: str) -> dict[int, float]:
        """A run metric by step."""
        return {frame.step: frame.scalars[name] for frame in self.frames if name in frame.scalars}


def norm(record: Any) -> float:
    """Root of the sum of squares of a STATS record."""
    return float(np.sqrt(record["sumsq"]))
