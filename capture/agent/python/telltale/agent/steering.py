# SPDX-License-Identifier: GPL-3.0-or-later
"""What is in force while a training runs: another config comes from the dashboard or from the job's config file, and a
collection ends by itself."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Collection
from typing import Any

from .. import configfile
from ..config import LoadedConfig
from .dynamic import ConfigFile, is_writer
from .engine import Engine

_WRITING = 2.0  # seconds that an answer waits for the file
_SOON = 2  # steps: ranks differ by no more than this when one of them ends a collection


class Steering:
    """Asks between steps; with nothing to do it touches no file and takes about a microsecond. Thread: training."""

    def __init__(
        self,
        engine: Engine,
        apply: Callable[[LoadedConfig, bool], str],
        loaded: LoadedConfig,
        file: ConfigFile | None,
        is_switched: bool,
    ) -> None:
        """apply: puts a config in force from the next step on, or says why that cannot be; whether to say so in the
        run. is_switched: the config's dynamic_on counts from the start."""
        self._engine = engine
        self._apply = apply
        self._document = self._applied = loaded.document  # in force; and what of it the hooks are made for
        self._text = loaded.text  # of the file
        self._file = file
        self._is_switched = is_switched
        self._rev = 0  # of the dashboard's that is in force
        self._has_ended = False  # the collection, as collect_times asks
        self._edit: dict[str, Any] | None = None  # of the file, in force before the dashboard has made a revision of it
        self._trouble = ""  # with the file, told last
        # What is to be answered once the file has it, and until when that is waited for.
        self._answer: tuple[int, int, str] | None = None
        self._patience = 0.0
        self._lock = threading.Lock()  # guards the answer
        self._seen: Collection[LoadedConfig | str] = file.seen if file is not None else ()
        self._words = engine.dispatcher.config_words()

    def begin(self, why: str = "the config of the start") -> None:
        """Says what is in force."""
        self._say(0, why)

    def taken_over(self, loaded: LoadedConfig) -> None:
        """The program itself has put another config in force."""
        self._document = self._applied = loaded.document
        self._edit = None
        self._has_ended = False
        self._say(0, "the program that trains changed it")

    def is_quiet(self, step: int) -> bool:
        """In place of poll() while nothing is collected: whether it would find nothing to do before `step`."""
        words = self._words
        if self._seen or words.is_offered.value or self._answer is not None:
            return False
        words.step.value = step
        return True

    def poll(self, _step: int) -> None:
        """After each step."""
        if self._file is not None:
            while self._file.seen:
                self._changed(self._file.seen.popleft())
        engine = self._engine
        if self._answer is not None and time.monotonic() > self._patience:
            self._give_answer()
        due = engine.dispatcher.config_due(engine.step) if self._answer is None else None
        if due is not None:
            self._put_in_force(*due)
        if engine.active and not self._has_ended and engine.collected >= engine.config.collect_times:
            self._end()

    # -- from the dashboard --------------------------------------------------------------------------------------

    def _put_in_force(self, rev: int, text: str) -> None:
        engine = self._engine
        try:
            document = json.loads(text)
            edit, self._edit = self._edit, None
            if document == edit:  # which runs, and whose collection is not begun again
                self._write_and_answer(rev)
                return
            why = self._switch_to(document)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            why = f"{type(error).__name__}: {error}"
        if why:
            engine.dispatcher.config_refuse(rev, engine.step, why)
            return
        self._is_switched, self._has_ended = True, False
        self._document = document
        self._write_and_answer(rev)

    def _write_and_answer(self, rev: int) -> None:
        """A restart after the answer goes on with what was chosen, so the file has it by then."""
        engine = self._engine
        self._rev = rev
        with self._lock:
            self._answer = rev, engine.step, self._running()
        self._patience = time.monotonic() + _WRITING
        if not self._write(lambda: self._give_answer(rev)):
            self._give_answer()

    def _give_answer(self, rev: int = 0) -> None:
        """rev: 0 = whatever is to be answered. A second call finds nothing. Thread: any."""
        with self._lock:
            if self._answer is not None and rev in (0, self._answer[0]):
                answer, self._answer = self._answer, None
                self._engine.dispatcher.config_in_force(*answer, "")

    def _switch_to(self, document: dict[str, Any]) -> str:
        """Whole or not at all; why not, "" when it is in force."""
        engine = self._engine
        was, engine.active = engine.active, bool(document["dynamic_on"])
        if {**self._applied, "dynamic_on": engine.active} == document:
            engine.collected = 0  # the switch alone: series and hooks are what they were
            return ""
        why = self._apply(configfile.of_document(document), False)
        if why:
            engine.active = was
        else:
            self._applied = document
        return why

    # -- from the file -------------------------------------------------------------------------------------------

    def _changed(self, loaded: LoadedConfig | str) -> None:
        engine = self._engine
        if isinstance(loaded, str):
            if loaded != self._trouble:
                engine.note(f"the config that is in force stays so: {loaded}", True)
            self._trouble = loaded
            return
        self._trouble = ""
        self._text = loaded.text
        config = loaded.config
        if not configfile.says(loaded.text, "dynamic_on"):  # then it goes on as before
            config.dynamic_on = loaded.document["dynamic_on"] = engine.active
        if (self._rev and loaded.document == self._document) or engine.dispatcher.is_config_offered(loaded.text):
            return  # what the dashboard wants, written by this rank or by a quicker one
        if self._comes_by_the_dashboard(loaded.document):
            return
        if not (self._is_switched or config.dynamic_on or self._document.get("dynamic_on")):
            # Without DYNAMIC_MONITOR the switch has meant nothing so far: it does once it is touched.
            config.dynamic_on = loaded.document["dynamic_on"] = True
        self._is_switched = True
        if not config.dynamic_on or config.collect_times == 0:
            left = engine.config.collect_times - engine.collected
            # Another rank that reached collect_times has written the file; this one ends by itself, at the same step.
            if 0 < left <= _SOON and loaded.document == {**self._document, "dynamic_on": False}:
                return
            was, self._document, self._edit = self._document, loaded.document, None
            because = "dynamic_on is false" if not config.dynamic_on else "collect_times is 0"
            self._stop(f"{because} in the changed config")
            if was != loaded.document:
                self._say(0, "config.json was edited")
            return
        if not engine.dispatcher.is_steered():  # else it counts as on the ranks that get it by the dashboard
            config.start_step = engine.step
        was_active, engine.active = engine.active, True
        why = self._apply(loaded, True)
        if why:
            engine.active = was_active
            engine.note(f"the config that is in force stays so: {why}", True)
            return
        self._document = self._applied = self._edit = loaded.document
        self._has_ended = False
        self._say(0, "config.json was edited")

    def _comes_by_the_dashboard(self, document: dict[str, Any]) -> bool:
        """It hears of an edit from the rank that writes the file, and offers it to all, but for what it may not change.
        Another rank would take for an edit what is written of a config that it has not been asked for, or no longer."""
        engine = self._engine
        if not engine.dispatcher.is_steered() or is_writer(engine.rank, engine.config):
            return False
        return configfile.local_part(document) == configfile.local_part(self._document)

    # -- by itself -----------------------------------------------------------------------------------------------

    def _end(self) -> None:
        """collect_times is reached."""
        self._has_ended = True
        self._document = {**self._document, "dynamic_on": False}
        if self._is_switched:
            self._stop(f"{self._engine.collected} steps are collected, as collect_times asks")
            self._write()
        self._say(self._rev, "collect_times is reached")

    def _stop(self, why: str) -> None:
        """Ends the collection before the step in progress."""
        engine = self._engine
        if engine.active:
            engine.active = False
            engine.dispatcher.event("config", engine.step, f"nothing is collected from this step on: {why}")

    def _say(self, rev: int, why: str) -> None:
        self._give_answer()  # to what was before
        self._rev = rev
        self._words = self._engine.dispatcher.config_words()
        self._engine.dispatcher.config_in_force(rev, self._engine.step, self._running(), why)

    def _running(self) -> str:
        return json.dumps({**self._document, "dynamic_on": self._engine.active and not self._has_ended})

    def _write(self, then: Callable[[], None] = lambda: None) -> bool:
        """Each node may have a file of its own; one rank writes it. False where it is not this one."""
        engine = self._engine
        if self._file is None or not is_writer(engine.rank, engine.config):
            return False
        self._file.write(self._text, self._document, then)
        return True
