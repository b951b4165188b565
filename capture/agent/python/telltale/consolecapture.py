# SPDX-License-Identifier: GPL-3.0-or-later
"""What the program writes to its standard output and error, kept beside: telltale.capture_console()."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from typing import Any, Callable

_MOST_WAITING = 20_000  # pieces that nobody has taken yet
_LONGEST_LINE = 2000
LINES_A_SECOND = 500
_BURST = 5000
_STREAMS = (("stdout", "o"), ("stderr", "e"))


class ConsoleCapture:
    """Listens at the write() of sys.stdout and sys.stderr: the streams stay what they are, the program's words reach
    them first and as they were, and an error of this class reaches nobody. What C code writes to the descriptors
    itself is not seen. Thread: any writes, one takes; a forked child writes on and is not heard."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._pieces: deque[tuple[float, str, str]] = deque()
        self._begun = {mark: "" for _, mark in _STREAMS}  # of a line that has no end yet
        self._lost = 0
        self._allowed = float(_BURST)
        self._refilled = time.monotonic()
        self._undo: list[Callable[[], None]] = []
        self.is_on = False

    def begin(self) -> list[str]:
        """Listens from now on; a sentence for each stream that cannot be listened to."""
        troubles = []
        for name, mark in _STREAMS:
            stream = getattr(sys, name)
            try:
                self._listen(stream, mark)
            except (AttributeError, TypeError):
                troubles.append(f"capture_console: sys.{name} ({type(stream).__name__}) cannot be listened to")
        self.is_on = bool(self._undo)
        return troubles

    def end(self) -> None:
        """Gives the streams back their own write()."""
        self.is_on = False
        for undo in self._undo:
            undo()
        self._undo = []

    def take(self, is_last: bool = False) -> bytes:
        """The whole lines since the last time, each `MILLISECONDS o|e TEXT`; b"" when there are none. is_last: with
        lines that have no end."""
        lines: list[str] = []
        moment = time.time()
        while self._pieces:
            moment, mark, text = self._pieces.popleft()
            *whole, rest = (self._begun[mark] + text).split("\n")
            # A progress bar writes over its own line: the last state counts.
            self._begun[mark] = rest.rsplit("\r", 1)[-1][-_LONGEST_LINE * 4 :]
            lines += [_line(moment, mark, one) for one in whole if self._may_keep()]
        if is_last:
            lines += [_line(moment, mark, rest) for mark, rest in self._begun.items() if rest]
            self._begun = dict.fromkeys(self._begun, "")
        if self._lost:
            lines.append(_line(moment, "e", f"telltale: {self._lost} lines are left out here"))
            self._lost = 0
        return "".join(lines).encode("utf-8", "replace")

    def _listen(self, stream: Any, mark: str) -> None:
        write = stream.write
        owned = "write" in vars(stream)

        def heard(text: Any) -> Any:
            result = write(text)
            self._hear(mark, text)
            return result

        def undo() -> None:
            if vars(stream).get("write") is heard:  # else somebody listens behind us
                if owned:
                    stream.write = write
                else:
                    del stream.write

        stream.write = heard
        self._undo.append(undo)

    def _hear(self, mark: str, text: Any) -> None:
        try:
            if not self.is_on or not isinstance(text, str) or not text or os.getpid() != self._pid:
                return
            if len(self._pieces) >= _MOST_WAITING:
                self._lost += text.count("\n")
            else:
                self._pieces.append((time.time(), mark, text if len(text) < 1 << 20 else text[: 1 << 20] + "\n"))
        except Exception:  # noqa: BLE001 - the program's output goes on
            return

    def _may_keep(self) -> bool:
        now = time.monotonic()
        self._allowed = min(float(_BURST), self._allowed + (now - self._refilled) * LINES_A_SECOND)
        self._refilled = now
        if self._allowed < 1:
            self._lost += 1
            return False
        self._allowed -= 1
        return True


def _line(moment: float, mark: str, text: str) -> str:
    shown = text.rstrip("\r").rsplit("\r", 1)[-1]
    cut = shown if len(shown) <= _LONGEST_LINE else shown[:_LONGEST_LINE] + " ..."
    return f"{int(moment * 1000)} {mark} {cut}\n"
