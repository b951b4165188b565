# SPDX-License-Identifier: GPL-3.0-or-later
"""How a thread of the package is started."""

from __future__ import annotations

import signal
import threading
from typing import Callable


def start_thread(run: Callable[[], None], name: str) -> threading.Thread:
    """A running daemon thread that blocks every signal from its first instruction, so that a signal still interrupts
    what the training's own threads wait for. Raises RuntimeError when the system has no thread left. Thread: any."""
    thread = threading.Thread(target=run, name=name, daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        thread.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return thread
