# SPDX-License-Identifier: GPL-3.0-or-later
"""The job's config file: looked at for live start and stop (DYNAMIC_MONITOR=True) and for edits while a dashboard is
there, and written to."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import configfile
from ..config import LoadedConfig, MonitorConfig
from ..threads import start_thread
from ..wholefile import remove_leftovers, replace_text, sync_folder

_OFTEN, _SELDOM = 0.1, 0.5  # seconds between two looks: where DYNAMIC_MONITOR asks for them, and where a dashboard does
_MOST_ERRORS = 8  # of one config, in one sentence


def is_wanted() -> bool:
    """Whether the environment asks for dynamic start and stop."""
    return os.environ.get("DYNAMIC_MONITOR", "").strip().lower() == "true"


def collecting_here(rank: int, module_ranks: list[int]) -> list[int]:
    """The collecting ranks of this rank's node, or all where none collects; the lowest one writes into the node's file:
    each node may have one of its own. Where the launcher does not say which ranks those are, this rank alone."""
    place, count = (os.environ.get(name, "") for name in ("LOCAL_RANK", "LOCAL_WORLD_SIZE"))
    if not place.isdecimal() or not count.isdecimal() or int(place) >= int(count):
        place, count = (os.environ.get(f"OMPI_COMM_WORLD_LOCAL_{name}", "") for name in ("RANK", "SIZE"))
    if not place.isdecimal() or not count.isdecimal() or not int(place) < int(count) or int(place) > rank:
        return [rank]
    first = rank - int(place)
    ranks = range(first, first + int(count))
    return [other for other in ranks if not module_ranks or other in module_ranks] or list(ranks)


def is_writer(rank: int, config: MonitorConfig) -> bool:
    """Whether this rank is the one of its node that writes the file."""
    return rank == min(collecting_here(rank, config.module_ranks))


def between_looks(is_steered: bool) -> float:
    """Seconds, 0 = nobody wants to know of an edit."""
    return _OFTEN if is_wanted() else _SELDOM if is_steered else 0.0


class ConfigFile:
    """A thread looks at the file, where that is wanted, and writes to it, so that a file system that hangs holds up
    nobody else. Thread: training, but for what says otherwise."""

    def __init__(
        self, path: str, is_watched: bool, between_looks: Callable[[], float], tell: Callable[[str], None]
    ) -> None:
        """is_watched: somebody may want to know of edits; between_looks: how long until the next look, 0 = nobody wants
        to know now, asked on any thread."""
        self._path = Path(path)
        self._is_watched = is_watched
        self._between_looks = between_looks
        self._tell = tell
        self._stamp = self._look() if is_watched else None
        # Between the two threads; a deque's append and popleft need no lock.
        self.seen: deque[LoadedConfig | str] = deque()  # a new config, or what is wrong
        # The text that is known, the config to be, and what is to be done once that is on the disk.
        self._to_write: deque[tuple[str, dict[str, Any], Callable[[], None]]] = deque()
        self._written: str | None = None
        self._wake = threading.Event()
        self._looks = threading.Condition()
        self._begun = self._done = 0  # looks, under _looks
        self._is_over = False
        self._thread: threading.Thread | None = None
        if is_watched:
            self._start("changes of the config file are not seen")

    def write(self, known: str, wanted: dict[str, Any], then: Callable[[], None]) -> None:
        """Has the file say what `wanted` says. known: its text as the training knows it; where it is watched, another
        one is a newer edit, which stays. then: called once it is on the disk or will not be. Thread of then: any."""
        self._to_write.append((known, wanted, then))
        if self._thread is None:
            self._start("the config file is not written to")
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

    def _start(self, loss: str) -> None:
        try:
            self._thread = start_thread(self._run, "telltale-config")
        except RuntimeError as error:
            self._tell(f"{loss}: {error}")
            while self._to_write:
                self._to_write.popleft()[2]()

    # -- the thread ----------------------------------------------------------------------------------------------

    def _run(self) -> None:
        remove_leftovers(self._path)
        gone = ""
        while True:
            self._wake.clear()
            is_last = self._is_over
            written = []
            while self._to_write:
                written.append(self._to_write.popleft())
            if written:
                self._write_back(*written[-1][:2])
            for *_, then in written:
                then()
            if is_last:
                return
            with self._looks:
                self._begun += 1
            pause = self._between_looks() if self._is_watched else 0.0
            stamp = self._look() if pause else self._stamp
            if isinstance(stamp, str):
                if stamp != gone:
                    self.seen.append(stamp)
                gone = stamp
            elif stamp != self._stamp:
                self._stamp, gone = stamp, ""
                found = self._read()
                # What was written here is no edit: by now something newer may be in force.
                if isinstance(found, str) or found.text != self._written:
                    self._written = None
                    self.seen.append(found)
            with self._looks:
                self._done = self._begun
                self._looks.notify_all()
            self._wake.wait((pause or _SELDOM) if self._is_watched else None)

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

    def _is_newer(self, text: str, known: str) -> bool:
        return self._is_watched and text not in (known, self._written)

    def _write_back(self, known: str, wanted: dict[str, Any]) -> None:
        """Atomically and keeping the rest of the text; not over a newer edit."""
        remove_leftovers(self._path)
        try:
            before = self._path.read_text("utf-8")
            if self._is_newer(before, known):
                return
            text = configfile.edited(before, wanted)
            if text == before:
                return
            if replace_text(self._path, before, text):
                self._written = text
                sync_folder(self._path)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            self._tell(f"the config in force cannot be written to {self._path}: {why}")
