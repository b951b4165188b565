# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

from typing import Callable

LIMIT = 3


class Strikes:
    """Internal errors by what they happened in: told at the first, and at the third that part is switched off.
    Thread: any (a lost increment of a race is harmless)."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._counts: dict[str, int] = {}
        self._tell = tell
        self.total = 0

    def is_off(self, what: str) -> bool:
        return self._counts.get(what, 0) >= LIMIT

    def add(self, what: str, error: BaseException) -> None:
        """Counts one error; never raises."""
        self.total += 1
        count = self._counts[what] = self._counts.get(what, 0) + 1
        try:
            if count == 1:
                self._tell(f"internal error while collecting {what}: {type(error).__name__}: {error}")
            elif count == LIMIT:
                self._tell(f"{what} is switched off after {LIMIT} internal errors; training goes on")
        except Exception:  # noqa: BLE001 - nothing of ours may reach the training loop
            pass
