# SPDX-License-Identifier: GPL-3.0-or-later
"""Where in the user's code each module is called from: msprobe's stack_info, taken once."""

from __future__ import annotations

import json
import linecache
import os
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

import torch

from ..agent.hooks import Hook
from ..agent.recorder import Recorder, Report
from .compiled import is_recording

NO_STACK = "Without call stack"
_TORCH = os.path.dirname(torch.__file__) + os.sep  # how torch calls a module says nothing of where it is called
MAX_FRAMES = 200


def call_stack_text(frame: FrameType | None) -> str:
    """The stack from `frame` outwards, innermost first, as msprobe writes it: "File path, line n, in function, \\n code
    \\n" a frame, frames of torch itself and those without source left out."""
    parts: list[str] = []
    while frame is not None and len(parts) < MAX_FRAMES:
        path, line = frame.f_code.co_filename, frame.f_lineno
        code = "" if path.startswith(_TORCH) else linecache.getline(path, line, frame.f_globals).strip()
        if code:
            parts.append(f"File {path}, line {line}, in {frame.f_code.co_name}, \n {code} \n")
        frame = frame.f_back
    return "".join(parts) or NO_STACK


class _StackHook(Hook):
    """Forward hook of one module: takes the stack of its first call."""

    __slots__ = ("_recorder", "_key")

    def __init__(self, recorder: StackRecorder, key: str) -> None:
        self._recorder = recorder
        self._key = key

    def __call__(self, _module: Any, _args: Any, _output: Any) -> None:
        if not is_recording() and self._key not in self._recorder.stacks:
            self._recorder.take(self._key, sys._getframe(2))  # past timed()
        return None


class StackRecorder(Recorder):
    """Takes the call stack of every given module's first forward."""

    def __init__(self, modules: Iterable[tuple[str, torch.nn.Module]], report: Report | None = None) -> None:
        super().__init__(modules, report)
        self.stacks: dict[str, str] = {}  # key -> text, in the order of the first calls

    def _hook(self, key: str, module: torch.nn.Module) -> Any:
        return module.register_forward_hook(_StackHook(self, key))

    @property
    def is_complete(self) -> bool:
        """Every module has run."""
        return len(self.stacks) == len({key for key, _ in self._modules})

    def take(self, key: str, frame: FrameType | None) -> None:
        """Keeps the stack of `frame` for a module; never raises."""
        try:
            self.stacks[key] = call_stack_text(frame)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            self.stacks[key] = NO_STACK
            if self._report is not None:
                self._report("call stacks", error)

    def to_json(self) -> str:
        """{"0:blocks.0": text, ...}"""
        return json.dumps(self.stacks, ensure_ascii=False)
