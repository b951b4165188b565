# SPDX-License-Identifier: GPL-3.0-or-later
"""stack_info and print_struct: what is written once, at the first collected step."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import torch

from .stacks import StackRecorder
from .structure import StructRecorder, module_keys

if TYPE_CHECKING:
    from .engine import Engine


class StopAfterStruct(RuntimeError):
    """print_struct with telltale.stop_after_struct: the config asks for the training to end."""


class StackPart:
    """Takes the call stack of every module's first forward and hands it to the sinks after the first step."""

    def __init__(self, engine: Engine, chunks: list[torch.nn.Module]) -> None:
        self._engine = weakref.ref(engine)
        self._recorder = StackRecorder(module_keys(chunks, engine.config.squash_name), engine.strikes.add)
        self._done = False

    def collect(self, on: bool) -> None:
        """Hooks every module until the stacks are there."""
        if on and not self._done:
            self._recorder.install()
        elif not on:
            self._recorder.remove()

    def before_step(self, sources: list[Any]) -> None:
        """Nothing to read here."""

    def finish_step(self) -> None:
        engine = self._engine()
        if self._done or engine is None:
            return
        self._done = True
        self._recorder.remove()
        engine.dispatcher.blob("stack", "stack_info", engine.step, self._recorder.to_json().encode())

    def close(self) -> None:
        self._recorder.remove()


class StructPart:
    """Records what goes through every module once; written as module_struct.json and sent to the dashboard."""

    def __init__(self, engine: Engine, chunks: list[torch.nn.Module]) -> None:
        self._engine = weakref.ref(engine)
        self._recorder = StructRecorder(module_keys(chunks, engine.config.squash_name), engine.strikes.add)
        self._done = False

    def collect(self, on: bool) -> None:
        if on and not self._done:
            self._recorder.install()
        elif not on:
            self._recorder.remove()

    def before_step(self, sources: list[Any]) -> None:
        """Nothing to read here."""

    def finish_step(self) -> None:
        engine = self._engine()
        if self._done or engine is None:
            return
        self._done = True
        self._recorder.remove()
        text = self._recorder.to_json()
        engine.dispatcher.blob("module_struct", "module_struct", engine.step, text.encode())
        engine.tell("the module structure has been recorded (print_struct); training goes on")
        if engine.config.stop_after_struct:
            engine.stop_because = StopAfterStruct(
                "the module structure has been recorded and the config asks to stop (telltale.stop_after_struct)"
            )

    def close(self) -> None:
        self._recorder.remove()
