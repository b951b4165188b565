# SPDX-License-Identifier: GPL-3.0-or-later
"""Live start and stop through the config file (DYNAMIC_MONITOR=True), msprobe's scenarios without its races."""

from __future__ import annotations

import os
import re
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import configfile

if TYPE_CHECKING:
    from .trainermon import TrainerMon

_ON = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*')
_SOON = 2  # steps: ranks differ by no more than this when one of them ends a collection


def is_wanted() -> bool:
    """Whether the environment asks for dynamic start and stop."""
    return os.environ.get("DYNAMIC_MONITOR", "").strip().lower() == "true"


class ConfigWatch:
    """Looks at the file after every optimizer step; a change takes effect with the next one. Thread: training."""

    def __init__(self, monitor: TrainerMon, path: str, text: str) -> None:
        self._monitor = monitor
        self._path = Path(path)
        self._text = text
        self._stamp = self._look()
        self._writer: threading.Thread | None = None

    def _look(self) -> Any:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def poll(self, _step: int) -> None:
        """After each step: a new config, a stop, or the end of a collection."""
        stamp = self._look()
        if stamp is not None and stamp != self._stamp:
            self._stamp = stamp
            self._changed()
        engine = self._monitor.engine
        if engine is not None and engine.active and engine.collected >= engine.config.collect_times:
            engine.active = False
            if self._monitor.rank == 0:
                self._writer = threading.Thread(target=self._write_back, args=(self._text,), daemon=True)
                self._writer.start()

    def _changed(self) -> None:
        monitor = self._monitor
        engine = monitor.engine
        assert engine is not None
        try:
            text = self._path.read_text("utf-8")
            loaded = configfile.parse(text, str(self._path))
        except (OSError, ValueError) as error:
            engine.tell(f"the changed config is not used, the old one stays in force: {error}")
            return
        errors = [problem for problem in loaded.problems if problem.is_error]
        if errors:
            engine.tell("the changed config is not used, the old one stays in force: " + errors[0].sentence)
            return
        before, self._text = self._text, text
        if not loaded.config.dynamic_on:
            left = engine.config.collect_times - engine.collected
            # Another rank that reached collect_times has written the file; this one ends by itself, at the same step.
            if not (engine.active and 0 < left <= _SOON and text == turned_off(before)):
                engine.active = False
            return
        if loaded.config.collect_times == 0:
            engine.active = False
            return
        loaded.config.start_step = engine.step
        monitor.apply(loaded)
        engine.active = True

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
            engine = self._monitor.engine
            if engine is not None:
                engine.tell(f"cannot write dynamic_on: false to {self._path}: {error.strerror or error}")

    def close(self) -> None:
        """Lets a write that is under way end."""
        if self._writer is not None:
            self._writer.join(2.0)


def turned_off(text: str) -> str:
    """The config's text with "dynamic_on" false, all else as it stands."""
    for match in _ON.finditer(text):
        if match.group(1) == '"dynamic_on"':
            rest = text[match.end() :]
            value = re.match(r"\s*:\s*(true)\b", rest)
            if value:
                return text[: match.end() + value.start(1)] + "false" + text[match.end() + value.end(1) :]
    return text
