# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..config import MonitorConfig
from ..series import Frame

if TYPE_CHECKING:
    from ..series import SeriesTable


@dataclass
class RunContext:
    """What a sink may want to know of the job when it opens."""

    config: MonitorConfig
    rank: int = 0
    world_size: int = 1
    pp_stage: int = 0
    group_mates: list[int] = field(default_factory=lambda: [0])  # global ranks of this rank's pipeline group
    start_step: int = 0
    info: dict[str, Any] = field(default_factory=dict)  # framework, device, parallel coordinates


class Sink:
    """One destination. open, write, blob and event are called on the training thread between steps, never inside a
    hook, and must be quick: slow work goes to the sink's own thread. Errors are raised here and counted and told by the
    caller; they never reach the training loop.
    """

    def open(self, context: RunContext) -> None:
        """Called once before anything else, and again when a live config change takes effect."""

    def leave_out(self, duplicates: frozenset[tuple[int, str]]) -> None:
        """(chunk, name) of the parameters whose reduced gradient another rank keeps: files need it only once."""

    def write(self, frame: Frame) -> None:
        """Takes one step. The frame is the sink's to keep; it is shared with other sinks and never changed."""

    def write_tables(self, step: int, tables: list[SeriesTable]) -> bool:
        """The quick way for a sink that copies straight out of the tables: return True and write() is not called for
        this step."""
        return False

    def event(self, kind: str, step: int, text: str, json: str = "{}") -> None:
        """A sentence worth keeping beside the data ("log", "anomaly", "config", "restart")."""

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        """A document: "structure", "stack", "config"."""

    def flush(self, timeout: float) -> bool:
        """Waits for what was taken to be safe; False when it is not."""
        return True

    def close(self, reason: str) -> None:
        """Ends the sink: "finished", "error", "restarting"."""
