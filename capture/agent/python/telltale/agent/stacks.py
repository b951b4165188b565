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

from .framework import Framework
from .hooks import Hook
from .recorder import Recorder, Report

NO_STACK = "Without call stack"
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_DEMO = os.path.join(_OWN, "demo") + os.sep  # a training as a user's: its lines are what is to be seen
MAX_FRAMES = 200


def call_stack_text(frame: FrameType | None, leave_out: str) -> str:
    """The stack from `frame` outwards, innermost first, as msprobe writes it: "File path, line n, in function, \\n code
    \\n" a frame, frames of files below `leave_out` (the framework's own: how
    it calls a module says nothing of where it is called) and those without source left out."""
    parts: list[str] = []
    while frame is not None and len(parts) < MAX_FRAMES:
        path, line = frame.f_code.co_filename, frame.f_lineno
        is_own = path.startswith(_OWN) and not path.startswith(_DEMO)
        is_left_out = is_own or path.startswith(leave_out)
        code = "" if is_left_out else linecache.getline(path, line, frame.f_globals).strip()
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
        if not self._recorder.framework.is_recording() and self._key not in self._recorder.stacks:
            self._recorder.take(self._key, sys._getframe(2))  # past timed()
        return None


class StackRecorder(Recorder):
    """Takes the call stack of every given module's first forward."""

    def __init__(
        self, framework: Framework, modules: Iterable[tuple[str, Any]], report: Report | None = None
    ) -> None:
        super().__init__(modules, report)
        self.framework = framework
        self.stacks: dict[str, str] = {}  # key -> text, in the order of the first calls

    def _hook(self, key: str, module: Any) -> Any:
        return self.framework.after_forward(module, _StackHook(self, key))

    @property
    def is_complete(self) -> bool:
        """Every module has run."""
        return len(self.stacks) == len({key for key, _ in self._modules})

    def take(self, key: str, frame: FrameType | None) -> None:
        """Keeps the stack of `frame` for a module; never raises."""
        try:
            self.stacks[key] = call_stack_text(frame, self.framework.folder)
        except Exception as error:  # noqa: BLE001 - nothing may reach the training loop
            self.stacks[key] = NO_STACK
            if self._report is not None:
                self._report("call stacks", error)

    def to_json(self) -> str:
        """{"0:blocks.0": text, ...}"""
        return json.dumps(self.stacks, ensure_ascii=False)
