# SPDX-License-Identifier: GPL-3.0-or-later
"""How the process ends. At exit nobody can ask for the exit code any more, so sys.exit() notes it on its way."""

from __future__ import annotations

import sys
from typing import Any, NoReturn

_exit = sys.exit
_status: list[Any] = []


def _noting(status: Any = None, /) -> NoReturn:
    _status[:] = [status]
    _exit(status)


def watch() -> None:
    """From now on; sys.exit() still raises the same SystemExit."""
    if sys.exit is _exit:
        sys.exit = _noting


def reason() -> str:
    """ "error" after an uncaught exception or sys.exit() with a code that is not 0, else "finished". For atexit."""
    is_code_bad = bool(_status) and _status[0] not in (None, 0)
    is_broken = sys.exc_info()[0] is not None or hasattr(sys, "last_type")
    return "error" if is_code_bad or is_broken else "finished"
