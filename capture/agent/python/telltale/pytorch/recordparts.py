# SPDX-License-Identifier: GPL-3.0-or-later
"""stack_info and print_struct: what is written once, at the first collected step."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch

from ..agent.clock import Clock
from ..agent.part import Part
from .compiled import compiled_inside
from .stacks import StackRecorder
from .structure import StructRecorder, module_keys


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
            self._recorder.install(compiled_inside(engine.roots) if engine is not None else set())

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

    def __init__(self, engine: Clock, chunks: list[torch.nn.Module]) -> None:
        super().__init__(engine, StackRecorder(module_keys(chunks), engine.strikes.add))

    def _send(self, engine: Clock, data: bytes) -> None:
        engine.dispatcher.blob("stack", "stack_info", engine.step, data)


class StructPart(_RecordPart):
    """What goes through every module once: module_struct.json."""

    def __init__(self, engine: Clock, chunks: list[torch.nn.Module]) -> None:
        super().__init__(engine, StructRecorder(module_keys(chunks), engine.strikes.add))

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
