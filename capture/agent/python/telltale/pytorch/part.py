# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

from .sources import ParameterSource

if TYPE_CHECKING:
    from .engine import Engine


class Part:
    """Something the engine collects beside parameters and gradients. A part overrides what it needs; nothing here may
    raise. Thread: training."""

    def __init__(self, engine: Engine) -> None:
        self._engine = weakref.ref(engine)

    def collect(self, on: bool) -> None:
        """Collection begins or ends: hooks come and go."""

    def before_step(self, sources: list[ParameterSource]) -> None:
        """The gradients that one optimizer is about to consume are there."""

    def finish_step(self) -> None:
        """A collected step is over; its values are published right after."""

    def close(self) -> None:
        """The config changes or the watch ends."""
        self.collect(False)
