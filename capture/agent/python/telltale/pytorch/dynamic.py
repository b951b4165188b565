# SPDX-License-Identifier: GPL-3.0-or-later
"""Live start and stop through the config file (DYNAMIC_MONITOR=True), msprobe's scenarios without its races."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import configfile
from ..config import LoadedConfig
from ..threads import start_thread
from .engine import Engine

_ON = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
_BETWEEN_LOOKS = 0.1  # seconds
_MOST_ERRORS = 8  # of one config, in one sentence
_SOON = 2  # steps: ranks differ by no more than this when one of them ends a collection


def is_wanted() -> bool:
    """Whether the environment asks for dynamic start and stop."""
    return os.environ.get("DYNAMIC_MONITOR", "").strip().lower() == "true"


def collecting_here(rank: int, module_ranks: list[int]) -> list[int]:
    """The collecting ranks of this rank's node, whose lowest one writes into the node's file: each node may have one of
    its own. Where the launcher does not say which ranks those are, this rank alone."""
    place, count = (os.environ.get(name, "") for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE"))
    if not place.isdecimal() or not count.isdecimal() or int(place) >= int(count):
        place, count = (os.environ.get(f"OMPI_COMM_WORLD_LOCAL_{name}", "") for name in ("RANK", "SIZE"))
    if not place.isdecimal() or not count.isdecimal() or not int(place) < int(count) or int(place) > rank:
        return [rank]
    first = rank - int(place)
    ranks = range(first, first + int(count))
    return [other for other in ranks if not module_ranks or other in module_ranks] or [rank]


class ConfigWatch:
    """A thread looks at the file ten times a second, so that a file system that hangs holds up nobody else; a change
    takes effect with the step after the one in which it was seen. Thread: training, but for what says otherwise."""

    def __init__(self, engine: Engine, apply: Callable[[LoadedConfig], None], path: str, text: str) -> None:
        """apply: puts another config in force from the next step on."""
        self._engine = engine
        self._apply = apply
        self._path = Path(path)
        self._text = text
        self._stamp = self._look()
        self._trouble = ""  # with the file, told last
        # Between the two threads; a deque's append and popleft need no lock.
        self._seen: deque[LoadedConfig | str] = deque()  # a new config, or what is wrong
        self._ended: deque[str] = deque()  # texts whose collection has come to its end
        self._wake = threading.Event()
        self._looks = threading.Condition()
        self._begun = self._done = 0  # looks, under _looks
        self._is_over = False
        self._thread: threading.Thread | None = None
        try:
            self._thread = start_thread(self._run, "telltale-config")
        except RuntimeError as error:
            engine.tell(f"changes of the config file are not seen: {error}")

    def poll(self, _step: int) -> None:
        """After each step: a new config, a stop, or the end of a collection. Touches no file."""
        while self._seen:
            self._changed(self._seen.popleft())
        engine = self._engine
        if engine.active and engine.collected >= engine.config.collect_times:
            self._stop(f"{engine.collected} steps are collected, as collect_times asks")
            if engine.rank == min(collecting_here(engine.rank, engine.config.module_ranks)):
                self._ended.append(self._text)
                self._wake.set()

    def look_now(self, timeout: float = 5.0) -> bool:
        """Waits until the file as it is now has been looked at, so that the step in progress is the last under the old
        config; False when that took too long. Not for the training loop. Thread: any."""
        with self._looks:
            next_look = self._begun + 1
            self._wake.set()
            return self._looks.wait_for(lambda: self._done >= next_look, timeout)

    def close(self) -> None:
        """Lets a write that is under way end."""
        self._is_over = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(2.0)

    def _changed(self, loaded: LoadedConfig | str) -> None:
        engine = self._engine
        if isinstance(loaded, str):
            if loaded != self._trouble:
                engine.note(f"the config that is in force stays so: {loaded}", True)
            self._trouble = loaded
            return
        self._trouble = ""
        before, self._text = self._text, loaded.text
        if not loaded.config.dynamic_on:
            left = engine.config.collect_times - engine.collected
            # Another rank that reached collect_times has written the file; this one ends by itself, at the same step.
            if not (0 < left <= _SOON and loaded.text == turned_off(before)):
                self._stop("dynamic_on is false in the changed config")
            return
        if loaded.config.collect_times == 0:
            self._stop("collect_times is 0 in the changed config")
            return
        loaded.config.start_step = engine.step
        self._apply(loaded)
        engine.active = True

    def _stop(self, why: str) -> None:
        """Ends the collection before the step in progress."""
        engine = self._engine
        if engine.active:
            engine.active = False
            engine.dispatcher.event("config", engine.step, f"nothing is collected from this step on: {why}")

    # -- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        gone = ""
        while True:
            self._wake.clear()
            is_last = self._is_over
            while self._ended:
                self._write_back(self._ended.popleft())
            if is_last:
                return
            with self._looks:
                self._begun += 1
            stamp = self._look()
            if isinstance(stamp, str):
                if stamp != gone:
                    self._seen.append(stamp)
                gone = stamp
            elif stamp != self._stamp:
                self._stamp, gone = stamp, ""
                self._seen.append(self._read())
            with self._looks:
                self._done = self._begun
                self._looks.notify_all()
            self._wake.wait(_BETWEEN_LOOKS)

    def _look(self) -> Any:
        """What changes when the file does, or what is wrong where it cannot be looked at."""
        try:
            found = os.stat(self._path)
        except OSError as error:
            return f"cannot read {self._path}: {error.strerror or error}"
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self) -> LoadedConfig | str:
        """The file's config, or what is wrong with it."""
        try:
            loaded = configfile.load_file(str(self._path))
        except configfile.ConfigError as error:
            return str(error)
        except Exception as error:  # noqa: BLE001 - the next change of the file is looked at all the same
            return f"{type(error).__name__}: {error}"
        errors = [str(problem) for problem in loaded.problems if problem.is_error]
        shown, left = "; ".join(errors[:_MOST_ERRORS]), len(errors) - _MOST_ERRORS
        return f"{self._path}: {shown}" + (f" and {left} more" if left > 0 else "") if errors else loaded

    def _write_back(self, text: str) -> None:
        """Writes dynamic_on: false, atomically and keeping the rest of the text; not over a newer edit."""
        try:
            if self._path.read_text("utf-8") != text:
                return
            mode = os.stat(self._path).st_mode & 0o777
            handle, name = tempfile.mkstemp(dir=self._path.parent, prefix=f".{self._path.name}.")
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as file:
                    file.write(turned_off(text))
                    file.flush()
                    os.fsync(file.fileno())
                os.chmod(name, mode)
                # Once more: the sync takes its time on a busy disk.
                if self._path.read_text("utf-8") != text:
                    os.unlink(name)
                    return
                os.replace(name, self._path)
            except BaseException:
                os.unlink(name)
                raise
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            self._engine.tell(f"cannot write dynamic_on: false to {self._path}: {error.strerror or error}")


def turned_off(text: str) -> str:
    """The config's text with "dynamic_on" false, all else as it stands."""
    for match in _ON.finditer(text):
        if match.group(1) == '"dynamic_on"':
            rest = text[match.end() :]
            value = re.match(r"\s*:\s*(true)\b", rest)
            if value:
                return text[: match.end() + value.start(1)] + "false" + text[match.end() + value.end(1) :]
    return text
