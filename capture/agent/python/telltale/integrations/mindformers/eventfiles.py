# SPDX-License-Identifier: GPL-3.0-or-later
"""A rank's event files as MindSpore Transformers lays them out: one in the rank's folder, and one for each curve of
those that several curves share a tag of."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

import numpy as np

from ...console import log
from ...sinks.tensorboard import event_file
from ...sinks.textfile import GrowingFile
from ...sinks.tfrecord import ScalarRecord, text_record
from ...sinks.worker import FrameWorker, explain

_LONGEST_WAIT = 120.0  # seconds that an event waits for the queue to fill
_CLOSE_SECONDS = 10.0


class EventFiles:
    """Thread: one, but the files belong to a worker: a slow disk delays no step."""

    def __init__(self, folder: str, queue_size: int) -> None:
        self.folder = folder
        self._queue_size = queue_size
        self._worker = FrameWorker("telltale-events")
        self._waiting: list[tuple[str, bytes]] = []
        self._events = 0
        self._since = time.monotonic()
        self._files: dict[str, GrowingFile] = {}
        self._trouble = ""

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Values by tag at one place of the x axis."""
        if values:
            numbers = np.array(list(values.values()), np.float64)
            self._put("", ScalarRecord(list(values)).fill(step, numbers, time.time()), len(values))

    def curves(self, step: int, tag: str, values: Mapping[str, float]) -> None:
        """The curves of one tag, each in a folder of its own."""
        for name, value in values.items():
            data = ScalarRecord([tag]).fill(step, np.array([value], np.float64), time.time())
            self._put(os.path.join(tag, name), data, 1)

    def text(self, step: int, tag: str, text: str) -> None:
        self._put("", text_record(step, tag, text, time.time()), 1)

    def _put(self, place: str, data: bytes, events: int) -> None:
        self._waiting.append((place, data))
        self._events += events
        if self._events > self._queue_size or time.monotonic() - self._since > _LONGEST_WAIT:
            self.send()

    def send(self) -> None:
        """What waits goes to the files."""
        waiting, self._waiting, self._events = self._waiting, [], 0
        self._since = time.monotonic()
        size = sum(len(data) for _, data in waiting)
        if waiting and not self._worker.post(lambda: self._write(waiting), size):
            self._tell("the disk is slower than the training, so steps are missing in them")

    def close(self) -> None:
        self.send()
        self._worker.post(self._end, must=True)
        if not self._worker.close(_CLOSE_SECONDS):
            self._tell("the disk did not answer in time, so the last steps are missing in them")

    def _write(self, waiting: list[tuple[str, bytes]]) -> None:
        together: dict[str, list[bytes]] = {}
        for place, data in waiting:
            together.setdefault(place, []).append(data)
        for place, records in together.items():
            try:
                file = self._files.get(place)
                if file is None:
                    file = self._files[place] = event_file(os.path.join(self.folder, place))
                file.append(b"".join(records))
            except OSError as error:
                self._tell(f"{explain(error)}; later steps are tried")

    def _end(self) -> None:
        for file in self._files.values():
            file.close()

    def _tell(self, sentence: str) -> None:
        if sentence != self._trouble:
            self._trouble = sentence
            log.warning("event files in %s: %s", self.folder, sentence)
