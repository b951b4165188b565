# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a metric goes: always to the dashboard, and to event files and the log as its format says."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping

from ...rates import DEFINITIONS
from ..runstream import RunStream
from .eventfiles import EventFiles
from .numbers import original
from .settings import BoardSettings
from .tags import Tags
from .tensorvalues import split

BOTH = frozenset({"log", "tensorboard"})
BOARD = frozenset({"tensorboard"})
NOWHERE: frozenset[str] = frozenset()


def job_log() -> Callable[[str], None]:
    """Takes lines for the job's log: MindFormers' own where the job uses it, else that of this package."""
    module = original("tools.logger")
    if module is not None and hasattr(module, "logger"):
        return lambda line: module.logger.info("%s", line)
    own = logging.getLogger("telltale.mindformers")
    own.setLevel(logging.INFO)
    return lambda line: own.info("%s", line)


class Outlet:
    """Thread: training."""

    def __init__(self, stream: RunStream, tags: Tags, folder: str, board: BoardSettings) -> None:
        """folder: of this rank's event files; empty = none are written, and the log takes their place."""
        self.stream = stream
        self.tags = tags
        self.line = job_log()
        self._files = EventFiles(folder, board.tensorboard_queue_size) if folder else None
        self._values: dict[str, float] = {}
        self._board: dict[str, float] = {}
        self._by_samples: dict[str, float] = {}
        self._told: set[str] = set()
        self.place = ""  # "Epoch:[  1/  1], step:[    1/    6]": what a line of the log begins with

    @property
    def has_files(self) -> bool:
        return self._files is not None

    def formats(self, asked: Collection[str]) -> frozenset[str]:
        """What a format comes to here."""
        if "tensorboard" in asked and self._files is None:
            return frozenset({"log"})
        return frozenset(asked)

    def put(self, tag: str, value: float, formats: Collection[str], has_companion: bool = False) -> None:
        """A metric of the step that ends. has_companion: it is also drawn over samples."""
        self._values[tag] = value
        if "tensorboard" in formats:
            self._board[tag] = value
            if has_companion:
                self._by_samples[self.tags.companion(tag)] = value
        if "log" in formats:
            self.say(tag, value)

    def tell_once(self, sentence: str) -> None:
        """To the user and in the run; the same sentence not again."""
        if sentence not in self._told:
            self._told.add(sentence)
            self.stream.tell(sentence)

    def say(self, tag: str, value: object) -> None:
        """A line of the log."""
        self.line(f"{self.place} {tag}: {value}")

    def curves(
        self, step: int, tag: str, values: Mapping[str, float], formats: Collection[str], streamed: Mapping[str, float]
    ) -> None:
        """Several curves of one tag; streamed: what the dashboard gets of them."""
        for name, value in streamed.items():
            self._values[f"{tag}/{name}"] = value
        if "tensorboard" in formats and self._files is not None:
            self._files.curves(step, tag, values)
        if "log" in formats:
            self.say(tag, list(values.values()))

    def late(self, step: int, values: Mapping[str, float], formats: Collection[str]) -> None:
        """Metrics that belong to an earlier step, too."""
        if not values:
            return
        self.stream.log_late(step, self._of_the_run(step, values))
        if "tensorboard" in formats and self._files is not None:
            self._files.scalars(step, values)
        if "log" in formats:
            for tag, value in values.items():
                self.say(tag, value)

    def finish(self, step: int, samples: float, definitions: Mapping[str, str] = DEFINITIONS) -> None:
        """The step is over. samples: that the job has consumed, 0 = not known. definitions: by name."""
        known = {name: definitions[name] for name in self._values if name in definitions}
        self.stream.log(step, self._of_the_run(step, self._values), known, samples)
        if self._files is not None:
            self._files.scalars(step, self._board)
            if samples > 0:
                self._files.scalars(int(samples), self._by_samples)
        self._values, self._board, self._by_samples = {}, {}, {}

    def _of_the_run(self, step: int, values: Mapping[str, float]) -> dict[str, float]:
        """What is left after what is of tensors has gone to the dashboard."""
        if self.stream.takes_tensors:
            left, tables = split(values)
            for table in tables:
                self.stream.log_tensors(step, *table)
            return left
        return split(values, self.stream.kinds_elsewhere)[0]

    def text(self, step: int, name: str, text: str) -> None:
        """To the event files alone."""
        if self._files is not None:
            self._files.text(step, name, text)

    def close(self, reason: str) -> None:
        if self._files is not None:
            self._files.close()
            self._files = None
        self.stream.close(reason)
