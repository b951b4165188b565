# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..config import MonitorConfig
from ..native import ConfigWords
from ..series import Extra, Frame, SeriesTable


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
    """One destination. What it is, it declares: `wants`, `has_files` and `is_last` say to the engine and to the
    dispatcher what they need to know of it, so that nobody asks for a sink's class.

    open, write, blob and event are called on the training thread between steps, never inside a hook, and must be quick:
    slow work goes to the sink's own thread. Errors are raised here and counted and told by the caller; they never reach
    the training loop.
    """

    what = "an output"  # in sentences
    wants: Extra = Extra.STABLE_RANK | Extra.CALLS_BY_SITE  # beside what all sinks get
    has_files = False  # measurements go to files, by msprobe's names and once for ranks that share them
    takes_configs = False  # from elsewhere, while it runs
    is_last = False  # closed after the others, who may have a last word for it
    takes_kept = False  # values of steps that are long over, where the flight recorder sends what it has kept

    def open(self, context: RunContext) -> None:
        """Called once before anything else, and again when a live config change takes effect."""

    def leave_out(self, duplicates: frozenset[tuple[int, str]]) -> None:
        """(chunk, name) of the parameters whose reduced gradient another rank keeps: files need it only once."""

    def know(self, table: SeriesTable) -> None:
        """Series of a table whose values come later, in a frame."""

    def write(self, frame: Frame) -> None:
        """Takes one step. The frame is the sink's to keep; it is shared with other sinks and never changed."""

    def write_tables(self, step: int, tables: list[SeriesTable]) -> bool:
        """The quick way for a sink that copies straight out of the tables: return True and write() is not called for
        this step."""
        return False

    def write_kept(self, frame: Frame) -> bool:
        """Takes a step that is long over; False where there is no room now."""
        return True

    def recorder_asked(self) -> str | None:
        """Why somebody wants what is kept, once; None where nobody does."""
        return None

    def write_late(self, step: int, values: dict[str, float]) -> None:
        """Run metrics of a step that has been written already."""
        self.write(Frame(step, [], dict(values)))

    def dropped(self, step: int, samples: int, scalars: int) -> None:
        """What was measured at a step and is lost on its way here."""

    def event(self, kind: str, step: int, text: str, json: str = "{}", rule: str = "") -> None:
        """A sentence worth keeping beside the data ("log", "anomaly", "config", "restart"); rule: that found it."""

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        """A document: "structure", "stack", "config"; of who takes pages also "hyperparameters", "environment", "text",
        "image" and "console", and then this and event() may be called on any thread."""

    def takes_pages(self) -> bool:
        """Whether what a run says of itself beside its measurements has a place here."""
        return False

    def cost(self, inside_ns: int, elapsed_ns: int, steps: int) -> None:
        """What monitoring took of some steps, and how long those were."""

    def thinning(self, every: int, percent: float) -> None:
        """One step in `every` is collected to stay within a budget; 0 = all that the config selects."""

    def config_due(self, step: int) -> tuple[int, str] | None:
        """Between steps: the revision and the JSON of a config that somebody wants in force from `step` on. Where one
        is given, one of the two below answers it."""
        return None

    def config_words(self) -> ConfigWords:
        """For who has no time to call config_due() at every step."""
        return ConfigWords()

    def config_in_force(self, rev: int, step: int, document: str, why: str) -> None:
        """What is in force from `step` on; rev: of what was due, 0 = the training's own."""

    def config_refuse(self, rev: int, step: int, why: str) -> None:
        """What was due cannot be in force."""

    def is_steered(self) -> bool:
        """Whether somebody is there who may offer configs. Thread: any."""
        return False

    def is_config_offered(self, text: str) -> bool:
        """Whether a config that is not due yet says the same. Thread: any."""
        return False

    def counters(self) -> dict[str, int]:
        """What became of the samples; {} where nobody counts them."""
        return {}

    def flush(self, timeout: float) -> bool:
        """Waits for what was taken to be safe; False when it is not."""
        return True

    def close(self, reason: str) -> None:
        """Ends the sink: "finished", "error", "restarting"."""

    def forget(self) -> None:
        """In a forked child: threads and sockets are the parent's."""
