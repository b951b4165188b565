# SPDX-License-Identifier: GPL-3.0-or-later
"""What a run says of itself beside its measurements: hyperparameters, tags and notes, texts and images, where it runs,
what it uses, what it prints."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterable
from typing import Any, Callable

from . import environment, images
from .console import log
from .consolecapture import ConsoleCapture
from .plainvalue import Plain, merge
from .systemmetrics import SystemMetrics
from .threads import start_thread

_TICK = 1.0  # seconds between looks of the page's thread
_SAMPLE_SECONDS = 5.0
_CONSOLE_SECONDS = 2.0
_CLOSE_SECONDS = 1.0
_MOST_TEXT = 64 << 10
_MOST_NOTES = 64 << 10
_MOST_TAGS = 64
_LONGEST_TAG = 64
_DOCUMENTS_A_SECOND = 10.0
_BURST = 200.0
_QUICK_SENDS = 16  # of hyperparameters that change; later ones go out with the next tick

Blob = Callable[[str, str, int, bytes], None]
Event = Callable[[str, int, str, str], None]


class RunFacts:
    """What the user says of a run. Thread: the user's, one at a time."""

    def __init__(self) -> None:
        self.hyperparameters: dict[str, Any] = {}
        self.tags: list[str] = []
        self.notes = ""
        self._plain = Plain()

    def add_hyperparameters(self, values: Any) -> str:
        """Merges; a sentence where something of it is left out, else ""."""
        left_out = self._plain.left_out
        plain = self._plain.mapping(values)
        if plain is None:
            return f'hyperparameters() takes a dict, as {{"lr": 1e-3}}, not {type(values).__name__}; it is left out'
        merge(self.hyperparameters, plain)
        lost = self._plain.left_out - left_out
        return f"hyperparameters: {lost} are left out: a run keeps 4000 of them, and 256 KiB" if lost else ""

    def add_tags(self, tags: Iterable[Any]) -> str:
        """Adds what is new; a sentence where something is left out."""
        for tag in [tags] if isinstance(tags, str) else tags:
            text = " ".join(str(tag).split())[:_LONGEST_TAG]
            if text and text not in self.tags:
                if len(self.tags) >= _MOST_TAGS:
                    return f"the tag {text!r} is left out: a run has {_MOST_TAGS} at most"
                self.tags.append(text)
        return ""

    def set_notes(self, text: Any) -> None:
        self.notes = str(text)[:_MOST_NOTES]

    def take(self, other: RunFacts) -> None:
        """What was said before there was a run."""
        merge(self.hyperparameters, other.hyperparameters)
        self.add_tags(other.tags)
        self.notes = other.notes or self.notes


class BeforeTheRun:
    """What the user said before there was a run to say it of, and the process's console. Thread: the user's."""

    def __init__(self) -> None:
        self.facts = RunFacts()
        self.console: ConsoleCapture | None = None

    def capture(self, on: bool) -> list[str]:
        """Listens to the console, or ends that; a sentence for each stream that cannot be listened to."""
        if not on:
            if self.console is not None:
                self.console.end()
            return []
        if self.console is None:
            self.console = ConsoleCapture()
        return [] if self.console.is_on else self.console.begin()

    def hand_over(self, page: RunPage) -> None:
        """A run begins."""
        page.facts.take(self.facts)
        self.facts = RunFacts()
        if self.console is not None and self.console.is_on:
            page.console = self.console


before = BeforeTheRun()


class RunPage:
    """Sends all of it. It has a thread of its own for what takes time or comes without steps; where nobody reads pages
    there is none. Threads: the training's, and that one; `blob` and `event` take calls of both."""

    def __init__(self, version: str, rank: int, tell: Callable[[str], None]) -> None:
        self.facts = RunFacts()
        self.console: ConsoleCapture | None = None
        self._version = version
        self._rank = rank
        self._tell = tell
        self._told: set[str] = set()
        self._blob: Blob | None = None
        self._event: Event | None = None
        self._step: Callable[[], int] = lambda: 0
        self._wants: Callable[[str], bool] = lambda field: False
        self._sample: dict[str, float] = {}
        self._environment: dict[str, Any] = {}
        self._sends = 0
        self._has_news = False
        self._room = _BURST
        self._refilled = time.monotonic()
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._pid = os.getpid()

    # -- the training's thread -----------------------------------------------------------------------------------

    def begin(self, blob: Blob, event: Event, step: Callable[[], int], wants: Callable[[str], bool]) -> None:
        """From now on there is a run. wants: whether the config has a field ("environment", "system_metrics") on."""
        self._blob, self._event, self._step, self._wants = blob, event, step, wants
        self.send_facts()
        if self._thread is None and not self._end.is_set():
            try:
                self._thread = start_thread(self._run, "telltale-page")
            except RuntimeError as error:
                log.warning("what the run uses and prints is not kept: %s", error)

    def send_facts(self) -> None:
        """Everything that was said so far, as to a destination that is new."""
        self.send_hyperparameters()
        self.send_tags()
        self.send_notes()
        if self._environment:
            self._send_document("environment", self._environment)

    def send_hyperparameters(self) -> None:
        """After they have changed. Many changes at once go out together."""
        self._has_news = bool(self.facts.hyperparameters)
        if self._sends < _QUICK_SENDS:
            self._send_news()

    def send_tags(self) -> None:
        if self.facts.tags and self._speaks():
            document = json.dumps({"tags": self.facts.tags}, ensure_ascii=False)
            self._say("tags", f"tags: {', '.join(self.facts.tags)}", document)

    def send_notes(self) -> None:
        if self.facts.notes and self._speaks():
            first = self.facts.notes.strip().split("\n", 1)[0][:200]
            self._say("notes", first, json.dumps({"notes": self.facts.notes}, ensure_ascii=False))

    def text(self, name: Any, text: Any, step: int) -> None:
        """A text of the user's, at a step."""
        data = str(text).encode("utf-8", "replace")
        if len(data) > _MOST_TEXT:
            self._tell_once(f"the text {str(name)[:100]!r} is cut: {_MOST_TEXT >> 10} KiB of one are kept")
            data = data[:_MOST_TEXT].decode("utf-8", "ignore").encode()
        self._logged("text", name, step, data)

    def image(self, name: Any, image: Any, step: int) -> None:
        """A small image of the user's, at a step."""
        try:
            data = images.as_png(image)
        except images.ImageError as error:
            self._tell_once(f"the image {str(name)[:100]!r} is left out: {error}")
        else:
            self._logged("image", name, step, data)

    def sample(self) -> dict[str, float]:
        """What the system was last seen to use, once."""
        sample, self._sample = self._sample, {}
        return sample

    def close(self) -> None:
        """The last words."""
        if os.getpid() != self._pid:
            return
        self._end.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(_CLOSE_SECONDS)
        self._send_news()
        self._send_console(True)
        self._blob = self._event = None

    def forget(self) -> None:
        """In a forked child: the run is the parent's."""
        self._end.set()
        self._blob = self._event = self._thread = None

    # -- either thread -------------------------------------------------------------------------------------------

    def _speaks(self) -> bool:
        """One rank speaks for the run."""
        return self._rank == 0

    def _say(self, kind: str, text: str, document: str) -> None:
        event = self._event
        if event is not None:
            event(kind, self._step(), text, document)

    def _send_document(self, kind: str, document: dict[str, Any]) -> None:
        blob = self._blob
        if blob is not None:
            blob(kind, kind, self._step(), json.dumps(document, ensure_ascii=False).encode("utf-8", "replace"))

    def _send_news(self) -> None:
        if self._has_news and self._blob is not None and self._speaks():
            self._has_news = False
            self._sends += 1
            self._send_document("hyperparameters", dict(self.facts.hyperparameters))

    def _send_console(self, is_last: bool = False) -> None:
        console, blob = self.console, self._blob
        if console is None or blob is None:
            return
        if lines := console.take(is_last):
            blob("console", "console", self._step(), lines)

    def _logged(self, kind: str, name: Any, step: int, data: bytes) -> None:
        now = time.monotonic()
        self._room = min(_BURST, self._room + (now - self._refilled) * _DOCUMENTS_A_SECOND)
        self._refilled = now
        if self._room < 1:
            self._tell_once("more than 10 texts and images a second are logged: those that are too many are left out")
            return
        self._room -= 1
        if self._blob is not None:
            self._blob(kind, str(name), step, data)

    def _tell_once(self, sentence: str) -> None:
        if sentence not in self._told and len(self._told) < 100:
            self._told.add(sentence)
            self._tell(sentence)

    # -- the page's thread ---------------------------------------------------------------------------------------

    def _run(self) -> None:
        system = SystemMetrics()
        next_sample = next_console = 0.0
        while True:
            now = time.monotonic()
            try:
                if self._is_on("environment", "TELLTALE_ENVIRONMENT"):
                    self._look_around()
                if now >= next_sample and self._is_on("system_metrics", "TELLTALE_SYSTEM_METRICS"):
                    next_sample = now + _SAMPLE_SECONDS
                    self._sample = system.read()
                if now >= next_console:
                    next_console = now + _CONSOLE_SECONDS
                    self._send_console()
                self._send_news()
            except Exception as error:  # noqa: BLE001 - a page is not worth a training's trouble
                log.warning("what the run says of itself is not kept any more: %s: %s", type(error).__name__, error)
                return
            if self._end.wait(_TICK):
                return

    def _is_on(self, field: str, variable: str) -> bool:
        return environment.is_wanted(variable, self._wants(field))

    def _look_around(self) -> None:
        """Once, and again when a device has come into use."""
        found = self._environment or environment.read_environment(self._version)
        devices = {} if "gpu" in found else environment.read_devices()
        if not self._environment or devices:
            self._environment = {**found, **devices}
            self._send_document("environment", self._environment)
