# SPDX-License-Identifier: GPL-3.0-or-later
"""What is written once, whatever the format is: module_struct.json and stack_info.csv."""

from __future__ import annotations

import json
import os
from typing import Callable

from ..series import Extra, Frame, SeriesTable
from .filesink import FileSink
from .rundir import RunDirectory, write_whole
from .textfile import GrowingFile, cell, encoded
from .worker import FrameWorker, explain


class RecordSink(FileSink):
    """Writes the records of print_struct and stack_info in msprobe's places, and says where they are. Thread: blob the
    training thread; the files belong to the worker, which also calls `say`."""

    what = "the output of structure and stacks"
    format = "record"
    wants = Extra.NONE

    def __init__(
        self,
        say: Callable[[str], None],
        worker: FrameWorker | None = None,
        directory: RunDirectory | None = None,
    ) -> None:
        """say: takes a sentence for the user."""
        super().__init__(worker, directory)
        self._say = say
        self._stacks: dict[str, str] = {}

    def write_tables(self, step: int, tables: list[SeriesTable]) -> bool:
        return True

    def write(self, frame: Frame) -> None:
        """Steps are other sinks' affair."""

    def _write(self, frame: Frame) -> None:
        """Never called."""

    def blob(self, kind: str, name: str, step: int, data: bytes) -> None:
        if kind == "module_struct":
            self.worker.post(lambda: self._module_struct(data), len(data), must=True)
        elif kind == "stack":
            self.worker.post(lambda: self._stack(name, data), len(data), must=True)

    def _module_struct(self, data: bytes) -> None:
        path = os.path.join(self.directory.base, "module_struct", f"rank{self.directory.rank}", "module_struct.json")
        try:
            if self._config.squash_name:
                struct = json.loads(data)
                data = json.dumps(
                    {self._names.module_key(key): each for key, each in struct.items()}, indent=2
                ).encode()
            write_whole(path, data)
        except OSError as error:
            self._say(f"print_struct: the model's structure was not written: {explain(error, path)}")
        else:
            self._say(f"print_struct: the model's structure is in {path}")

    def _stack(self, name: str, data: bytes) -> None:
        """Takes the stacks of all modules as one JSON object, or of one module as plain text; a module's first counts,
        and what a file from before holds stays."""
        text = data.decode("utf-8", "replace")
        found = {name: text}
        if text.startswith("{"):
            try:
                found = {self._names.module_key(module): str(stack) for module, stack in json.loads(text).items()}
            except (ValueError, AttributeError):
                pass
        fresh = {module: stack for module, stack in found.items() if module not in self._stacks}
        path = os.path.join(self.directory.path, "stack_info.csv")
        if not self._stacks and os.path.exists(path):
            return
        try:
            self.directory.make()
            file = GrowingFile(path)
            try:
                lines = "" if not file.is_empty else "module_name,stack_info\n"
                lines += "".join(f"{cell(module)},{cell(stack)}\n" for module, stack in fresh.items())
                file.append(encoded(lines))
            finally:
                file.close()
            self._stacks.update(fresh)
        except OSError as error:
            self._say(f"stack_info: the modules' call stacks were not written: {explain(error, path)}")
        else:
            self._say(f"stack_info: the modules' call stacks are in {path}")
