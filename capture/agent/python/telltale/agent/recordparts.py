# SPDX-License-Identifier: GPL-3.0-or-later
"""stack_info and print_struct: what is written once, at the first collected step."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from .clock import Clock
from .part import Part
from .stacks import StackRecorder
from .structrecorder import StructRecorder, module_keys


class StopAfterStruct(RuntimeError):
    """print_struct with telltale.stop_after_struct: the config asks for the training to end."""


class _RecordPart(Part, ABC):
    """Hooks every module outside compiled code until the first collected step is over."""

    def __init__(self, engine: Clock, recorder: StackRecorder | StructRecorder) -> None:
        super().__init__(engine)
        self._recorder = recorder
        self._done = False

    def collect(self, on: bool) -> None:
        if not on:
            self._recorder.remove()
        elif not self._done:
            engine = self._engine()
            self._recorder.install(engine.framework.unhookable(engine.roots) if engine is not None else set())

    def finish_step(self) -> None:
        if self._done:
            return
        self._done = True
        self._recorder.remove()
        self._send(self.engine, self._recorder.to_json().encode())

    @abstractmethod
    def _send(self, engine: Clock, data: bytes) -> None:
        """Hands the record to the sinks."""


class StackPart(_RecordPart):
    """The call stack of every module's first forward."""

    def __init__(self, engine: Clock, chunks: list[Any]) -> None:
        framework = engine.framework
        super().__init__(engine, StackRecorder(framework, module_keys(framework, chunks), engine.strikes.add))

    def _send(self, engine: Clock, data: bytes) -> None:
        engine.dispatcher.blob("stack", "stack_info", engine.step, data)


class StructPart(_RecordPart):
    """What goes through every module once: module_struct.json."""

    def __init__(self, engine: Clock, chunks: list[Any]) -> None:
        framework = engine.framework
        super().__init__(engine, StructRecorder(framework, module_keys(framework, chunks), engine.strikes.add))

    def _send(self, engine: Clock, data: bytes) -> None:
        engine.dispatcher.blob("module_struct", "module_struct", engine.step, data)
        if engine.config.stop_after_struct:
            engine.stop_because = StopAfterStruct(
                "the module structure has been recorded and the config asks to stop (telltale.stop_after_struct)"
            )
        else:
            engine.tell(
                "print_struct: the module structure has been recorded and training goes on; "
                '"telltale": {"stop_after_struct": true} ends it there, as msprobe does'
            )
