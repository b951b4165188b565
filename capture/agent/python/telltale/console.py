# SPDX-License-Identifier: GPL-3.0-or-later
"""The logger "telltale", through which everything goes that a user should know. Until the user says otherwise it writes
to standard error; logging.getLogger("telltale") takes other handlers, levels and filters as any logger does."""

from __future__ import annotations

import logging
import sys

log = logging.getLogger("telltale")


class _Console(logging.Handler):
    """Writes to the standard error of the moment, which a program may have replaced since. Thread: any."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except (OSError, ValueError):
            pass  # nobody reads it any more


def _begin() -> None:
    """Gives the logger its handler, unless the user's own was there first."""
    if log.handlers:
        return
    console = _Console()
    console.setFormatter(logging.Formatter("telltale: %(message)s"))
    log.addHandler(console)
    log.propagate = False  # programs give the root logger a handler for standard error too
    if log.level == logging.NOTSET:
        log.setLevel(logging.WARNING)


_begin()
